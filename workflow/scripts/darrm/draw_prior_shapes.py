"""Draw noise functions optimised for two priors and their errors (Figure 9)."""

import json
from pathlib import Path

from private_ensembles.base import files
from private_ensembles.papers.darrm import figures
from private_ensembles.papers.darrm.figure_data import prior_shapes

with files.job(snakemake) as job:
    solutions = {
        name: [json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input[name]]
        for name in ("U", "P")
    }
    data = prior_shapes(solutions, job.params.actual)
    files.write_csv(job.output.data, data)
    setting = figures.describe_setting(solutions["U"][0])
    figures.draw_prior_shapes(data, job.output.png, job.output.pdf, setting=setting)
