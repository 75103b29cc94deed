"""Tabulate students of two rounds beside students of one at the same total."""

import pandas as pd

from private_ensembles.experiments.interactive_students import summary
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    found = pd.concat([pd.read_csv(path) for path in job.input], ignore_index=True)
    io.write_csv(job.output[0], summary(found, job.params.tasks))
