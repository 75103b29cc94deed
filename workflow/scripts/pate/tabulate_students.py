"""Tabulate what labels cost and what students make of them: PATE's Tables 1 and 2."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.pate.tables import sanitized_privacy, summarise_students

with files.job(snakemake) as job:
    frames = {}
    for name in ("privacy", "labels", "students", "baselines"):
        parts = [pd.read_csv(path) for path in getattr(job.input, name)]
        frames[name] = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    table1 = summarise_students(
        frames["privacy"],
        frames["labels"],
        frames["students"],
        frames["baselines"],
        job.params.tasks,
    )
    files.write_csv(job.output.table1, table1)
    files.write_csv(job.output.table2, sanitized_privacy(frames["privacy"], job.params.tasks))
