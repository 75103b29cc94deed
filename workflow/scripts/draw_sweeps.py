"""Gather the sweeps into tables, and draw what optimising gamma is worth."""

import json
from pathlib import Path

import pandas as pd

from private_ensembles.figures.sweeps import draw_noiseless, draw_sweeps
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    points = [json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input.points]
    data = pd.DataFrame([row for point in points for row in point["rows"]]).drop(columns="gamma")
    noiseless = pd.DataFrame([row for point in points for row in point["noiseless"]])
    cases = pd.concat(map(pd.read_csv, job.input.double_subsampling), ignore_index=True)
    io.write_csv(job.output.data, data)
    io.write_csv(job.output.noiseless, noiseless)
    io.write_csv(job.output.double_subsampling, cases)
    draw_sweeps(data, job.output.png, job.output.pdf)
    draw_noiseless(noiseless, job.output.noiseless_png, job.output.noiseless_pdf)
    verdicts = cases["verdict"].value_counts().to_dict()
    job.progress("double subsampling, proven or not: %s", verdicts)
