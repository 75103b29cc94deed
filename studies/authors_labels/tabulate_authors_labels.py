"""Tabulate students of the labels that PATE's authors released."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.training.data.released import read_released_labels
from studies.authors_labels.tables import summarise_authors_labels

with files.job(snakemake) as job:
    released = {task: read_released_labels(path) for task, path in job.params.released.items()}
    truth = {
        task: files.read_npz(path, required=("test_labels",))["test_labels"]
        for task, path in job.params.datasets.items()
    }
    labels = {task: (part.test_labels, part.train_queries) for task, part in released.items()}
    students = pd.concat([pd.read_csv(path) for path in job.input.students], ignore_index=True)
    files.write_csv(job.output[0], summarise_authors_labels(labels, truth, students))
