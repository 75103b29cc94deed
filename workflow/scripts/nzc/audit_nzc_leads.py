"""Audit one NZC label over all histograms: delta by lead and rule for ties."""

from private_ensembles.base import files
from private_ensembles.papers.nzc.leads import lead_losses

with files.job(snakemake) as job:
    files.write_csv(job.output[0], lead_losses(job.params.settings, job.params.mechanism))
