"""Summarise the accuracy of released labels over draws and training seeds."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.darrm.accuracies import accuracy_by_training, label_accuracy

with files.job(snakemake) as job:
    tables = zip(job.params.m, job.output.means, job.output.by_training, strict=True)
    for item, means, by_training in tables:
        labels = pd.concat(map(pd.read_csv, job.input[item]), ignore_index=True)
        files.write_csv(means, label_accuracy(labels))
        files.write_csv(by_training, accuracy_by_training(labels))
