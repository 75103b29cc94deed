"""Account for the labels of one task as the experiment of its paper does."""

from importlib import import_module

from private_ensembles.experiments.inputs import read_inputs
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    experiment = import_module(f"private_ensembles.experiments.{job.params.paper}")
    rows = experiment.account_votes(
        read_inputs(job.input),
        job.params.settings,
        name=job.params.name,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    io.write_csv(job.output[0], rows)
