"""Tabulate what labels cost and what students make of them: PATE's Tables 1 and 2."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.papers.pate.tables import sanitized_privacy, students

with io.job(snakemake) as job:
    frames = {
        name: pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
        if (paths := getattr(job.input, name))
        else pd.DataFrame()
        for name in ("privacy", "labels", "students", "baselines")
    }
    tasks = job.params.tasks
    io.write_csv(job.output.table1, students(*frames.values(), tasks))
    io.write_csv(job.output.table2, sanitized_privacy(frames["privacy"], tasks))
