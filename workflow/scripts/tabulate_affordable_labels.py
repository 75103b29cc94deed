"""Tabulate how many labels a budget buys whatever the votes are."""

from private_ensembles.jobs import io
from private_ensembles.papers.dpbag.experiment import deltas_of
from private_ensembles.papers.dpbag.tables import affordable_labels

with io.job(snakemake) as job:
    budget = job.params.budget
    arguments = job.params.shards, budget["epsilon"], deltas_of(budget)
    options = {name: budget[name] for name in ("noise", "order_max")}
    io.write_csv(job.output[0], affordable_labels(*arguments, **options))
