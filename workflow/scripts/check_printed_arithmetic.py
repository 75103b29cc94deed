"""Recompute PATE's printed numbers from its printed numbers."""

from private_ensembles import io
from private_ensembles.printed_arithmetic import arithmetic
from private_ensembles.published import FOLDER, read_published

with io.job(snakemake) as job:
    io.write_csv(job.output[0], arithmetic(read_published(FOLDER.glob("pate_*.csv"))))
