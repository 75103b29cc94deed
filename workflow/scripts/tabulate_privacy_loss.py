"""Tabulate the total privacy loss of many labels, as published and as tight as proven."""

from private_ensembles.jobs import io
from private_ensembles.papers.darrm.tables import privacy_loss

with io.job(snakemake) as job:
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
        io.write_csv(path, table)
