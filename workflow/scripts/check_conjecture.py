"""Compare the conjecture of DPBag's supplement with exact moments on small ensembles."""

from private_ensembles.dpbag.conjecture import study
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    settings = job.params.settings
    rows = study(
        settings["noise"], settings["teachers"], settings["partitions"], settings["orders"]
    )
    io.write_csv(job.output[0], rows)
    job.log.info("%d violations", sum(row["violations"] for row in rows))
