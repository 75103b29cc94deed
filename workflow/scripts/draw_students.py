"""Draw students, privacy costs and consensus of one task: PATE's Figure 1."""

import pandas as pd

from private_ensembles.figures import style
from private_ensembles.figures.pate import draw_students
from private_ensembles.jobs import io
from private_ensembles.papers.pate.figures import students_figure
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    votes = read_votes(job.input.votes)
    data = students_figure(
        votes.histogram()[: settings["pool"]],
        io.read_npz(job.input.labels),
        pd.concat([pd.read_csv(path) for path in job.input.histories], ignore_index=True),
        settings,
    )
    io.write_csv(job.output.data, data)
    delta = style.number(settings["delta"])
    source = f"{style.label(job.params.task)}, {votes.n_teachers} teachers, δ = {delta}"
    draw_students(data, job.output.png, job.output.pdf, source=source)
