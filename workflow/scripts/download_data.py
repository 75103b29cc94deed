"""Fetch one file of a data set, verified against the sha256 in the configuration."""

import os

from private_ensembles.datasets.download import fetch
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    dataset, file = job.wildcards.dataset, job.wildcards.file
    # Read here and not from params: a changed address is no reason to download again.
    mirror = job.config["data_mirror"]
    urls = job.config["datasets"][dataset]["files"][file]["urls"]
    place = os.path.abspath(os.path.join("data", "raw", dataset, file))
    source = fetch(
        *(job.output[0], urls, job.params.sha256, mirror),
        dataset=dataset,
        file=file,
        place=place,
        timeout=job.config["download_timeout"],
        log=job.progress,
    )
    job.log.info("%s/%s came from %s, sha256 as expected", dataset, file, source)
