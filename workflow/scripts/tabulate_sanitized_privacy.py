"""Tabulate privacy costs before and after sanitising: PATE's Table 2."""

import pandas as pd

from private_ensembles.experiments.pate_tables import sanitized_privacy
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    privacy = pd.concat([pd.read_csv(path) for path in job.input], ignore_index=True)
    io.write_csv(job.output[0], sanitized_privacy(privacy, job.params.tasks))
