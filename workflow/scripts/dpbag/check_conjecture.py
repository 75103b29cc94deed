"""Compare the conjecture of DPBag's supplement with exact moments on small ensembles."""

from private_ensembles.base import files
from private_ensembles.papers.dpbag.mathematics.conjecture import compare_with_exact_moments

with files.job(snakemake) as job:
    settings = job.params.settings
    rows = compare_with_exact_moments(
        settings["noise"], settings["teachers"], settings["partitions"], settings["orders"]
    )
    files.write_csv(job.output[0], rows)
    job.log.info("%d violations", sum(row["violations"] for row in rows))
