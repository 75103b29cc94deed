"""Tabulate what one private teacher of each data set costs, and refuse claims below what holds."""

from private_ensembles.jobs import io
from private_ensembles.teachers.accounting import account_ensemble

with io.job(snakemake) as job:
    rows = []
    for name, settings in job.params.datasets.items():
        rows += account_ensemble(
            name,
            n_train=settings["n_train"],
            K=job.params.K,
            training=settings["private_teachers"],
            epsilon=settings["epsilon"],
            Delta=settings["Delta"],
            stand_in=settings["stand_in"],
        )
    io.write_csv(job.output[0], rows)
