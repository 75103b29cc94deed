"""Fetch a file of the authors' votes, verified against git's hash in the configuration."""

import os

from private_ensembles.base import files
from private_ensembles.training.data.download import RetryPolicy, fetch
from studies.authors_votes.inputs import known_file

with files.job(snakemake) as job:
    path = job.wildcards.votes
    known = known_file(path, **job.params.known)
    source = fetch(
        known,
        job.output[0],
        job.config["data_mirror"],
        final_path=os.path.abspath(path),
        retry_policy=RetryPolicy(timeout=job.config["download_timeout"]),
        log=job.report_progress,
    )
    job.log.info("%s came from %s, %s as expected", known, source, known.checksum)
