"""Check double subsampling on all corners where the paper proves i.i.d. pure teachers only."""

from itertools import product

from private_ensembles.base import files
from private_ensembles.papers.darrm.simulations import (
    double_subsampling_allowances,
    double_subsampling_case,
)

with files.job(snakemake) as job:
    grid = job.params.settings
    allowances = double_subsampling_allowances(job.params.K, grid["m_values"])
    points = list(product(allowances, grid["epsilon"], grid["Delta"]))
    rows = [double_subsampling_case(job.params.K, *point) for point in job.track(points, "cases")]
    files.write_csv(job.output[0], rows)
    failed = sum(row["verdict"] != "holds" for row in rows)
    job.log.info("%d cases, %d fail", len(rows), failed)
