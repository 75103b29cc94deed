"""Draw students, privacy costs and consensus of one task: PATE's Figure 1."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.labels.votes import read_votes
from private_ensembles.papers.common import style
from private_ensembles.papers.pate.figure_data import students_figure
from private_ensembles.papers.pate.figures import draw_students

with files.job(snakemake) as job:
    settings = job.params.settings
    votes = read_votes(job.input.votes)
    data = students_figure(
        votes.histogram()[: settings["pool"]],
        files.read_npz(job.input.labels),
        pd.concat([pd.read_csv(path) for path in job.input.histories], ignore_index=True),
        settings,
    )
    files.write_csv(job.output.data, data)
    delta = style.format_number(settings["delta"])
    source = f"{style.label(job.params.task)}, {votes.n_teachers} teachers, δ = {delta}"
    draw_students(data, job.output.png, job.output.pdf, source=source)
