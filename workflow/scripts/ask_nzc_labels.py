"""Ask LNMax and NZC for labels, and account for what is claimed and what is true."""

from private_ensembles.experiments.nzc import account, ask
from private_ensembles.jobs import io
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    pool = slice(settings["pool"])
    caches = [read_votes(job.input.many), read_votes(job.input.few)]
    counts = {
        size: cache.histogram()[pool]
        for size, cache in zip((settings["K"], settings["few"]), caches, strict=True)
    }
    given = counts, caches[0].labels[pool], settings
    address = {"task": job.params.task, "seed": job.params.seed}
    rows, arrays = ask(*given, **address)
    io.write_csv(job.output.table, rows)
    io.write_npz(job.output.labels, **arrays)
    io.write_csv(job.output.privacy, account(*given, **address))
