"""Tabulate how many labels a budget buys whatever the votes are."""

from private_ensembles.base import files
from private_ensembles.papers.dpbag.experiment import deltas_of
from private_ensembles.papers.dpbag.tables import affordable_labels

with files.job(snakemake) as job:
    budget = job.params.budget
    table = affordable_labels(
        job.params.shards,
        budget["epsilon"],
        deltas_of(budget),
        noise=budget["noise"],
        order_max=budget["order_max"],
    )
    files.write_csv(job.output[0], table)
