"""Tabulate how many labels each budget buys from bagged teachers."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.dpbag.tables import counts_by_split, label_counts

with files.job(snakemake) as job:
    affordable = pd.read_csv(job.input.affordable)
    tables = zip(job.params.tables, job.output.means, job.output.by_split, strict=True)
    for item, means, by_split in tables:
        counts = pd.concat(map(pd.read_csv, job.input[item]), ignore_index=True)
        files.write_csv(means, label_counts(counts, affordable))
        files.write_csv(by_split, counts_by_split(counts))
