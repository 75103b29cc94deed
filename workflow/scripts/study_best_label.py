"""Compare the best label with the others: by budget, for several labels, at wrong profiles."""

from private_ensembles.figures.best_label import draw_best_label
from private_ensembles.jobs import io
from private_ensembles.planner.best_label import compare

with io.job(snakemake) as job:
    settings = job.params.settings
    chosen = settings["best_label"]
    points = len(chosen["epsilons"]) + len(set(chosen["labels"]) - {1})
    meter = job.meter(points, "budgets and numbers of labels")
    table = compare(settings, meter)
    meter.finish()
    io.write_csv(job.output.table, table)
    draw_best_label(table, job.output.png, job.output.pdf)
