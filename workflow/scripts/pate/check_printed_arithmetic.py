"""Recompute PATE's printed numbers from its printed numbers, and claims made in passing."""

from private_ensembles.base import files
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.pate.arithmetic import recompute_printed_numbers, small_print

with files.job(snakemake) as job:
    files.write_csv(
        job.output.arithmetic, recompute_printed_numbers(read_published(FOLDER.glob("pate_*.csv")))
    )
    files.write_csv(job.output.small_print, small_print())
