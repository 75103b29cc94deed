"""Compare noise laws at equal totals, each by the account of the labels that it releases."""

import pandas as pd

from private_ensembles.base import files
from studies.many_labels.figure import draw_many_labels
from studies.many_labels.noise_laws import compare_noise_laws

with files.job(snakemake) as job:
    params = job.params
    meter = job.meter(len(params.settings["labels"]), "numbers of labels")
    table = compare_noise_laws(
        params.settings,
        mechanisms=params.mechanisms,
        delta=params.delta,
        noise=params.noise,
        meter=meter,
    )
    meter.finish()
    files.write_csv(job.output.table, table)
    votes = None
    if job.input.equal_budget:
        (path,) = job.input.equal_budget
        votes = pd.read_csv(path)
    draw_many_labels(table, votes, job.output.png, job.output.pdf)
