"""Fetch one file of a data set, verified against the sha256 in the configuration."""

import os

from private_ensembles.base import files
from private_ensembles.training.data.download import KnownFile, RetryPolicy, fetch

with files.job(snakemake) as job:
    dataset, file = job.wildcards.dataset, job.wildcards.file
    # These come from the configuration, not from params: a changed address is no reason to
    # download again.
    mirror = job.config["data_mirror"]
    urls = job.config["datasets"][dataset]["files"][file]["urls"]
    final_path = os.path.abspath(os.path.join("data", "raw", dataset, file))
    known = KnownFile(dataset, file, job.params.sha256, urls)
    source = fetch(
        known,
        job.output[0],
        mirror,
        final_path=final_path,
        retry_policy=RetryPolicy(timeout=job.config["download_timeout"]),
        log=job.report_progress,
    )
    job.log.info("%s came from %s, sha256 as expected", known, source)
