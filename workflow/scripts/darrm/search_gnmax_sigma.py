"""Find the noise that GNMax needs at one (epsilon, delta), by every method."""

from private_ensembles.base import files
from private_ensembles.labels.gnmax import sigma_quantities

with files.job(snakemake) as job:
    point = job.params.point
    rows = sigma_quantities(
        point["epsilon"], point["delta"], n_teachers=point["K"], **job.params.search
    )
    files.write_csv(job.output[0], rows)
    for row in rows:
        job.log.info("%(quantity)s = %(value)s", row)
