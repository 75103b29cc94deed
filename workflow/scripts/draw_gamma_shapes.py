"""Draw the shapes of the noise functions gamma and their errors (Figures 2, 6, 7 and 8)."""

import json
from pathlib import Path

from private_ensembles.experiments.darrm_figures import gamma_shapes
from private_ensembles.jobs import io
from private_ensembles.report.darrm_figures import draw_gamma_shapes

with io.job(snakemake) as job:
    solutions = [json.loads(Path(path).read_text(encoding="utf-8")) for path in job.input]
    composed = {key: job.params.settings.get(key) for key in ("subsamples", "delta_prime")}
    data = gamma_shapes(solutions, job.params.prior, **composed)
    io.write_csv(job.output.data, data)
    draw_gamma_shapes(data, job.output.png, job.output.pdf)
