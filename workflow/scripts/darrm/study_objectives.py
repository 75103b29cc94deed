"""Compare the paper's Monte-Carlo objectives with the closed form (DaRRM, Appendix C.2)."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.darrm.monte_carlo import study_objectives
from private_ensembles.papers.darrm.objectives_figure import draw_objectives

with files.job(snakemake) as job:
    settings = dict(job.params.settings)
    parts = []
    for K in job.track(settings.pop("K"), "ensembles"):
        part = study_objectives(K, **settings, seed=job.params.seed, solver=job.params.solver)
        parts.append(part)
    data = pd.concat(parts, ignore_index=True)
    files.write_csv(job.output.data, data)
    draw_objectives(data, job.output.png, job.output.pdf)
