"""Draw where the teachers' probabilities may lie, and where the certificates put them."""

import json
from pathlib import Path

from private_ensembles.experiments.darrm_figures import feasible_region
from private_ensembles.jobs import io
from private_ensembles.report.darrm_figures import draw_feasible_region

with io.job(snakemake) as job:
    solutions = (json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input)
    data = feasible_region(solutions)
    io.write_csv(job.output.data, data)
    draw_feasible_region(data, job.output.png, job.output.pdf)
