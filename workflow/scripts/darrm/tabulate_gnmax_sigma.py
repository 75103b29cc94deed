"""Tabulate GNMax's noise for the paper's data sets, the published search beside tighter ones."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.darrm.tables import gnmax_sigmas

with files.job(snakemake) as job:
    settings = [
        {"name": name, "m": job.params.m, **cost} for name, cost in job.params.datasets.items()
    ]
    searches = {}
    for path in job.input:
        budget = parameters_of(path)
        searches[budget["epsilon"], budget["delta"]] = pd.read_csv(path)
    files.write_csv(job.output[0], gnmax_sigmas(settings, searches))
