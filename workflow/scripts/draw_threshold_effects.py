"""Draw what the noisy threshold answers and what it costs: PATE's Figure 5."""

import pandas as pd

from private_ensembles.figures import style
from private_ensembles.figures.pate import draw_threshold_effects
from private_ensembles.jobs import io
from private_ensembles.papers.pate.figures import (
    answering_cost,
    equal_answers,
    threshold_histogram,
)
from private_ensembles.papers.pate.orders import order_grid
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    counts = read_votes(job.input.votes[0]).histogram()[: settings["queries"]]
    checks = settings["checks"]
    sigma2 = settings["sigma2"]
    delta = settings["delta"]
    orders = order_grid(settings["orders"])
    cost = answering_cost(
        counts, checks, sigma2, settings["scale"], delta, orders, settings["points"]
    )
    bins = threshold_histogram(counts, checks, sigma2, settings["order"])
    data = pd.concat([bins, cost], ignore_index=True)
    io.write_csv(job.output.data, data)
    pairs = equal_answers(counts, settings["figure1"], sigma2, delta, orders)
    io.write_csv(job.output.equal, pairs.assign(task="glyph", synthetic=True))
    source = f"synthetic votes of {settings['teachers']} teachers, δ = {style.number(delta)}"
    draw_threshold_effects(data, job.output.png, job.output.pdf, source=source)
