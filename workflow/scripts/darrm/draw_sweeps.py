"""Gather the sweeps into tables, and draw what optimising gamma is worth."""

import json
from pathlib import Path

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.darrm.sweep_figures import draw_noiseless, draw_sweeps

with files.job(snakemake) as job:
    points = [json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input.points]
    data = pd.DataFrame([row for point in points for row in point["rows"]]).drop(columns="gamma")
    noiseless = pd.DataFrame([row for point in points for row in point["noiseless"]])
    cases = pd.concat(map(pd.read_csv, job.input.double_subsampling), ignore_index=True)
    files.write_csv(job.output.data, data)
    files.write_csv(job.output.noiseless, noiseless)
    files.write_csv(job.output.double_subsampling, cases)
    draw_sweeps(data, job.output.png, job.output.pdf)
    draw_noiseless(noiseless, job.output.noiseless_png, job.output.noiseless_pdf)
    verdicts = cases["verdict"].value_counts().to_dict()
    job.report_progress("double subsampling, proven or not: %s", verdicts)
