"""Draw the ledger: claimed against exact epsilon."""

import pandas as pd

from private_ensembles import io
from private_ensembles.report.ledger_figure import draw_ledger

with io.job(snakemake) as job:
    draw_ledger(pd.read_csv(job.input[0]), job.output.png, job.output.pdf)
