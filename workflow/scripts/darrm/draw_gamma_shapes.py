"""Draw the shapes of noise functions gamma, their errors, and the assignments that cost most."""

import json
from pathlib import Path

from private_ensembles.base import files
from private_ensembles.papers.darrm import figures
from private_ensembles.papers.darrm.figure_data import feasible_region, gamma_shapes

with files.job(snakemake) as job:
    out = job.output
    for index, (name, settings) in enumerate(job.params.settings.items()):
        solutions = [json.loads(Path(path).read_text("utf-8")) for path in job.input[name]]
        data = gamma_shapes(
            solutions,
            job.params.prior,
            subsamples=settings.get("subsamples"),
            delta_prime=settings.get("delta_prime"),
        )
        files.write_csv(out.data[index], data)
        setting = figures.describe_setting(solutions[0])
        figures.draw_gamma_shapes(data, out.png[index], out.pdf[index], setting=setting)
        region = feasible_region(solutions)
        files.write_csv(out.region_data[index], region)
        paths = out.region[index], out.region_pdf[index]
        figures.draw_feasible_region(region, *paths, setting=setting)
