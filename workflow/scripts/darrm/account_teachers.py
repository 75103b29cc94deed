"""Tabulate what one private teacher of each data set costs, and refuse claims below what holds."""

from private_ensembles.base import files
from private_ensembles.training.teachers.accounting import account_ensemble

with files.job(snakemake) as job:
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
    files.write_csv(job.output[0], rows)
