"""Draw the shapes of noise functions gamma, their errors, and the assignments that cost most."""

import json
from pathlib import Path

from private_ensembles.figures import darrm as figures
from private_ensembles.jobs import io
from private_ensembles.papers.darrm.figures import feasible_region, gamma_shapes

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
    solution = next(iter(solutions.values()))
    setting = figures.setting(solution)
    figures.draw_gamma_shapes(data, job.output.png, job.output.pdf, setting=setting)
    region = feasible_region(solutions.values())
    io.write_csv(job.output.region_data, region)
    figures.draw_feasible_region(region, job.output.region, job.output.region_pdf, setting=setting)
