"""Compare Laplace and Gaussian noise, and sizes of the ensemble: PATE's Figure 4."""

from private_ensembles.base import files
from private_ensembles.labels.votes import read_votes
from private_ensembles.papers.common import style
from private_ensembles.papers.pate.experiment import noise_comparison
from private_ensembles.papers.pate.figures import draw_noise_comparison
from private_ensembles.papers.pate.orders import order_grid

with files.job(snakemake) as job:
    settings = job.params.settings
    ensembles = []
    queries = slice(settings["queries"])
    for path in job.input.votes:
        votes = read_votes(path)
        counts = votes.histogram()[queries]
        ensembles.append((votes.n_teachers, counts, votes.labels[queries]))
        job.log.info("%d teachers: %d queries", votes.n_teachers, len(counts))
    data = noise_comparison(
        ensembles,
        settings,
        settings["laplace_teachers"],
        settings["delta"],
        order_grid(settings["orders"]),
    )
    files.write_csv(job.output.data, data)
    delta = style.format_number(settings["delta"])
    source = f"synthetic votes, {settings['queries']} queries, δ = {delta}"
    draw_noise_comparison(data, job.output.png, job.output.pdf, source=source)
