"""Tabulate students, labels and privacy of NZC and LNMax: NZC's Tables 1 and 2."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.nzc.tables import label_accuracy, summarise_students

with files.job(snakemake) as job:
    frames = {
        name: pd.concat(map(pd.read_csv, getattr(job.input, name)), ignore_index=True)
        for name in ("privacy", "labels", "students")
    }
    files.write_csv(job.output.students, summarise_students(**frames, tasks=job.params.tasks))
    files.write_csv(job.output.labels, label_accuracy(frames["privacy"], job.params.tasks))
