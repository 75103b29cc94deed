"""Find the noise that GNMax needs at one (epsilon, delta), by every method."""

from private_ensembles.jobs import io
from private_ensembles.pate.gnmax import sigma_quantities

with io.job(snakemake) as job:
    point = job.params.point
    rows = sigma_quantities(
        point["epsilon"], point["delta"], n_teachers=point["K"], **job.params.search
    )
    io.write_csv(job.output[0], rows)
    for row in rows:
        job.log.info("%(quantity)s = %(value)s", row)
