"""Compare students that ask for their labels in rounds: one session, or a budget cut up."""

from private_ensembles.figures.active_learning import draw
from private_ensembles.jobs import io
from private_ensembles.papers.active_learning import study

with io.job(snakemake) as job:
    settings = job.params.settings
    meter = job.meter(settings["seeds"], "splits of the images")
    table = study(settings, job.params.delta, job.params.seed, meter)
    meter.finish()
    io.write_csv(job.output.table, table)
    draw(table, job.output.png, job.output.pdf)
