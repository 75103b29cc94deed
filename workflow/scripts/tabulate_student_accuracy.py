"""Tabulate what students of bagged teachers achieve at each budget."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.papers.dpbag.tables import student_accuracy, students_by_split

with io.job(snakemake) as job:
    students = pd.concat([pd.read_csv(path) for path in job.input], ignore_index=True)
    io.write_csv(job.output.means, student_accuracy(students))
    io.write_csv(job.output.by_split, students_by_split(students))
