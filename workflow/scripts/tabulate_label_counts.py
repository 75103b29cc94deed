"""Tabulate how many labels each budget buys from bagged teachers."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.papers.dpbag.tables import counts_by_split, label_counts

with io.job(snakemake) as job:
    counts = pd.concat([pd.read_csv(path) for path in job.input.counts], ignore_index=True)
    io.write_csv(job.output.means, label_counts(counts, pd.read_csv(job.input.affordable)))
    io.write_csv(job.output.by_split, counts_by_split(counts))
