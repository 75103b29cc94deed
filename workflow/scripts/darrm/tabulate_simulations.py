"""Tabulate Figure 6's parameters (Table 3), and what double subsampling costs (Theorem 4.1)."""

from private_ensembles.base import files
from private_ensembles.papers.darrm.simulations import amplification, composition_parameters

with files.job(snakemake) as job:
    for path in job.output.composition:
        common = dict(job.params.composition)
        numbers = common.pop("subsamples")
        rows = [composition_parameters(subsamples=number, **common) for number in numbers]
        files.write_csv(path, rows)
    for path in job.output.amplification:
        rows = []
        for shape in job.params.amplification:
            rows += amplification(shape["K"], shape["m"], shape["epsilon"])
        files.write_csv(path, rows)
