"""Tabulate the total privacy loss of many labels, as published and as tight as proven."""

from private_ensembles.base import files
from private_ensembles.papers.darrm.tables import privacy_loss

with files.job(snakemake) as job:
    params = job.params
    datasets = [{"name": name, **cost} for name, cost in params.datasets.items()]
    for m, path in zip(params.m.values(), job.output, strict=True):
        table = privacy_loss(
            datasets,
            K=params.K,
            m=m,
            queries=params.queries,
            delta_prime=params.delta_prime,
            **params.search,
        )
        files.write_csv(path, table)
