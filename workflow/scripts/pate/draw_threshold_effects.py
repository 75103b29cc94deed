"""Draw what the noisy threshold answers and what it costs: PATE's Figure 5."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.labels.votes import read_votes
from private_ensembles.papers.common import style
from private_ensembles.papers.pate.figure_data import (
    answering_cost,
    equal_answers,
    threshold_histogram,
)
from private_ensembles.papers.pate.figures import draw_threshold_effects
from private_ensembles.papers.pate.orders import order_grid

with files.job(snakemake) as job:
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
    files.write_csv(job.output.data, data)
    pairs = equal_answers(counts, settings["figure1"], sigma2, delta, orders)
    files.write_csv(job.output.equal, pairs.assign(task="glyph", synthetic=True))
    source = f"synthetic votes of {settings['teachers']} teachers, δ = {style.format_number(delta)}"
    draw_threshold_effects(data, job.output.png, job.output.pdf, source=source)
