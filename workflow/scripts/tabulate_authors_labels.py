"""Tabulate students of the labels that PATE's authors released."""

import pandas as pd

from private_ensembles.datasets.released import read_released_labels
from private_ensembles.jobs import io
from private_ensembles.papers.pate.authors_labels import authors_labels

with io.job(snakemake) as job:
    released = {task: read_released_labels(path) for task, path in job.params.released.items()}
    truth = {
        task: io.read_npz(path, required=("test_labels",))["test_labels"]
        for task, path in job.params.datasets.items()
    }
    table = authors_labels(
        {task: (labels.test_labels, labels.train_queries) for task, labels in released.items()},
        truth,
        pd.concat([pd.read_csv(path) for path in job.input.students], ignore_index=True),
    )
    io.write_csv(job.output[0], table)
