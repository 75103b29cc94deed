"""Compare the paper's Monte-Carlo objectives with the closed form (DaRRM, Appendix C.2)."""

import pandas as pd

from private_ensembles.figures.objectives import draw_objectives
from private_ensembles.jobs import io
from private_ensembles.papers.darrm.objective_study import study_objectives

with io.job(snakemake) as job:
    common = {**job.params.settings, "seed": job.params.seed, "solver": job.params.solver}
    ensembles = common.pop("K")
    data = pd.concat(
        [study_objectives(K, **common) for K in job.track(ensembles, "ensembles")],
        ignore_index=True,
    )
    io.write_csv(job.output.data, data)
    draw_objectives(data, job.output.png, job.output.pdf)
