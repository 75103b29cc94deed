"""Summarise the accuracy of released labels over draws and training seeds."""

import pandas as pd

from private_ensembles.jobs import io
from private_ensembles.papers.darrm.accuracies import accuracy_by_training, label_accuracy

with io.job(snakemake) as job:
    labels = pd.concat(map(pd.read_csv, job.input), ignore_index=True)
    io.write_csv(job.output.means, label_accuracy(labels))
    io.write_csv(job.output.by_training, accuracy_by_training(labels))
