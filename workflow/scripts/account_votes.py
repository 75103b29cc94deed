"""Account for the labels of one task: data-dependent, sanitised and data-independent costs."""

from private_ensembles.experiments.pate import account
from private_ensembles.jobs import io
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    votes, pool = read_votes(job.input.votes), slice(settings["pool"])
    rows = account(
        votes.histogram()[pool],
        votes.labels[pool],
        settings,
        task=job.params.task,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    io.write_csv(job.output[0], rows)
