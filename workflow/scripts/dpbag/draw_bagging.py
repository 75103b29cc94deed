"""Draw the labels that budgets buy from bagged teachers, and their students, over epsilon."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.dpbag.figures import draw_labels, draw_students

with files.job(snakemake) as job:
    counts = pd.concat([pd.read_csv(path) for path in job.input.counts], ignore_index=True)
    students = pd.concat([pd.read_csv(path) for path in job.input.students], ignore_index=True)
    out = job.output
    draw_labels(counts, job.params.delta, out.labels, out.labels_pdf)
    draw_students(students, job.params.delta, out.students, out.students_pdf)
