"""Draw what the noisy threshold answers and what it costs: PATE's Figure 5."""

import pandas as pd

from private_ensembles.experiments.pate import answering_cost, order_grid, threshold_histogram
from private_ensembles.jobs import io
from private_ensembles.report import style
from private_ensembles.report.pate_figures import draw_threshold_effects
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    counts = read_votes(job.input.votes[0]).histogram()[: settings["queries"]]
    checks, sigma2 = settings["checks"], settings["sigma2"]
    cost = answering_cost(
        counts,
        checks,
        sigma2,
        settings["scale"],
        settings["delta"],
        order_grid(settings["orders"]),
        settings["points"],
    )
    bins = threshold_histogram(counts, checks, sigma2, settings["order"])
    data = pd.concat([bins, cost], ignore_index=True)
    io.write_csv(job.output.data, data)
    delta = style.number(settings["delta"])
    source = f"synthetic votes of {settings['teachers']} teachers, δ = {delta}"
    draw_threshold_effects(data, job.output.png, job.output.pdf, source=source)
