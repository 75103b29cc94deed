"""Audit one NZC label over all histograms: delta by lead and rule for ties."""

from private_ensembles.jobs import io
from private_ensembles.papers.nzc.leads import lead_losses

with io.job(snakemake) as job:
    io.write_csv(job.output[0], lead_losses(job.params.settings, job.params.mechanism))
