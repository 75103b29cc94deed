"""Tabulate what students of bagged teachers achieve at each budget."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.dpbag.tables import student_accuracy, students_by_split

with files.job(snakemake) as job:
    tables = zip(job.params.tables, job.output.means, job.output.by_split, strict=True)
    for item, means, by_split in tables:
        students = pd.concat(map(pd.read_csv, job.input[item]), ignore_index=True)
        files.write_csv(means, student_accuracy(students))
        files.write_csv(by_split, students_by_split(students))
