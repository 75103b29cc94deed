"""Release labels under every mechanism and measure how often they are right."""

import csv
import json
from pathlib import Path

from private_ensembles.experiments.darrm import budget_of, parameters, run
from private_ensembles.jobs import io
from private_ensembles.votes.cache import read_votes

with io.job(snakemake) as job:
    settings = job.params.settings
    with open(job.input.sigma, newline="") as file:
        sigma = {row["quantity"]: float(row["value"]) for row in csv.DictReader(file)}
    gamma = json.loads(Path(job.input.gamma).read_text())["gamma"]
    votes = {
        "private": [read_votes(path) for path in job.input.private_votes],
        "plain": [read_votes(path) for path in job.input.plain_votes],
    }
    rows, arrays = run(
        job.params.dataset,
        settings,
        votes,
        parameters(budget_of(settings, job.params.noise), gamma, sigma),
        job.params.seed,
        job.params.noise,
    )
    io.write_csv(job.output.table, rows)
    io.write_npz(job.output.labels, **arrays)
    job.log.info("%d releases", len(rows))
