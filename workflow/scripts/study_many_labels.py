"""Compare noise laws at equal totals, each by the account of the labels that it releases."""

import pandas as pd

from private_ensembles.figures.planner import draw_many_labels
from private_ensembles.jobs import io
from private_ensembles.planner.studies import many_labels

with io.job(snakemake) as job:
    settings = job.params.settings
    meter = job.meter(len(settings["many_labels"]["labels"]), "numbers of labels")
    table = many_labels(settings, meter, noise=job.params.noise)
    meter.finish()
    io.write_csv(job.output.table, table)
    votes = None
    if job.input.equal_budget:
        (path,) = job.input.equal_budget
        votes = pd.read_csv(path)
    draw_many_labels(table, votes, job.output.png, job.output.pdf)
