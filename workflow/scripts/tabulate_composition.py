"""Tabulate the parameters of Figure 6 by general composition (Table 3)."""

from private_ensembles.jobs import io
from private_ensembles.papers.darrm.simulations import composition_parameters

with io.job(snakemake) as job:
    settings = dict(job.params.settings)
    rows = [composition_parameters(subsamples=M, **settings) for M in settings.pop("subsamples")]
    io.write_csv(job.output[0], rows)
