"""Tabulate the parameters of Figure 6 by general composition (Table 3)."""

from private_ensembles.darrm.simulations import composition_parameters
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    settings = dict(job.params.settings)
    rows = [composition_parameters(subsamples=M, **settings) for M in settings.pop("subsamples")]
    io.write_csv(job.output[0], rows)
