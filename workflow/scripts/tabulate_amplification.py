"""Tabulate what double subsampling of i.i.d. pure teachers costs (Theorem 4.1)."""

from private_ensembles.jobs import io
from private_ensembles.papers.darrm.simulations import amplification

with io.job(snakemake) as job:
    rows = []
    for shape in job.params.settings:
        rows += amplification(shape["K"], shape["m"], shape["epsilon"])
    io.write_csv(job.output[0], rows)
