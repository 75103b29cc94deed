"""Recompute PATE's printed numbers from its printed numbers, and claims made in passing."""

from private_ensembles.jobs import io
from private_ensembles.published.arithmetic import arithmetic, small_print
from private_ensembles.published.printed import FOLDER, read_published

with io.job(snakemake) as job:
    io.write_csv(job.output.arithmetic, arithmetic(read_published(FOLDER.glob("pate_*.csv"))))
    io.write_csv(job.output.small_print, small_print())
