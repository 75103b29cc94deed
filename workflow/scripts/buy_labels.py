"""Ask the aggregators of one task for labels, once: what its students learn from."""

from private_ensembles.experiments.pate import buy_labels
from private_ensembles.jobs import io
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    votes, settings = read_votes(job.input.votes), job.params.settings
    pool = slice(settings["pool"])
    rows, arrays = buy_labels(
        votes.histogram()[pool],
        votes.labels[pool],
        settings,
        task=job.params.task,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    io.write_csv(job.output.table, rows)
    io.write_npz(job.output.labels, **arrays)
    for row in rows:
        job.log.info("%(aggregator)s: %(answered)d of %(asked)d answered", row)
