"""Compare mechanisms on the same votes at the same total budget."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.votes.cache import read_votes
from studies.equal_budget.comparison import compare

with io.job(snakemake) as job:
    parts = []
    for task, settings in job.params.tasks.items():
        votes = read_votes(job.params.votes[task])
        pool = slice(settings["pool"])
        comparisons = compare(
            votes.histogram()[pool],
            votes.labels[pool],
            settings,
            task=task,
            seed=job.params.seed,
            noise=job.params.noise,
        )
        for column in ("synthetic", "stand_in"):
            comparisons.insert(1, column, settings[column])
        parts.append(comparisons)
        job.progress("%s: %d comparisons", task, len(comparisons))
    io.write_csv(job.output[0], pd.concat(parts, ignore_index=True))
