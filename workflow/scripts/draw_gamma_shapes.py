"""Draw the shapes of the noise functions gamma and their errors (Figures 2, 6, 7 and 8)."""

import json
from pathlib import Path

from private_ensembles.experiments.darrm_figures import gamma_shapes
from private_ensembles.jobs import io
from private_ensembles.report.darrm_figures import draw_gamma_shapes

with io.job(snakemake) as job:
    solutions = {
        int(name.removeprefix("drawn_")): json.loads(Path(path).read_text(encoding="utf-8"))
        for name, path in job.input.items()
    }
    data = gamma_shapes(
        solutions.values(),
        job.params.prior,
        subsamples=list(solutions),
        delta_prime=job.params.settings.get("delta_prime"),
    )
    io.write_csv(job.output.data, data)
    one = next(iter(solutions.values()))
    setting = f"K = {one['K']}, ε = {one['epsilon']:g}, Δ = {one['Delta']:g}"
    draw_gamma_shapes(data, job.output.png, job.output.pdf, setting=setting)
