"""Tabulate students, labels and privacy of NZC and LNMax: NZC's Tables 1 and 2."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.papers.nzc.tables import label_accuracy, students

with io.job(snakemake) as job:
    frames = {
        name: pd.concat(map(pd.read_csv, getattr(job.input, name)), ignore_index=True)
        for name in ("privacy", "labels", "students")
    }
    io.write_csv(job.output.students, students(**frames, tasks=job.params.tasks))
    io.write_csv(job.output.labels, label_accuracy(frames["privacy"], job.params.tasks))
