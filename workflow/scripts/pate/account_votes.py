"""Account for the labels of one task as the experiment of its paper does."""

from importlib import import_module

from private_ensembles.base import files
from private_ensembles.papers.common.inputs import read_inputs

with files.job(snakemake) as job:
    experiment = import_module(f"private_ensembles.papers.{job.params.paper}.experiment")
    rows = experiment.account_votes(
        read_inputs(job.input),
        job.params.settings,
        name=job.params.name,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    files.write_csv(job.output[0], rows)
