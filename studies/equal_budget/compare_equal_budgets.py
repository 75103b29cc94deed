"""Compare mechanisms on the same votes at the same total budget."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.labels.votes import read_votes
from studies.equal_budget.comparison import compare

with files.job(snakemake) as job:
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
        job.report_progress("%s: %d comparisons", task, len(comparisons))
    files.write_csv(job.output[0], pd.concat(parts, ignore_index=True))
