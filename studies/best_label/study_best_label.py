"""Compare the best label with the others: by budget, for several labels, at wrong profiles."""

from private_ensembles.base import files
from studies.best_label.comparison import compare
from studies.best_label.figure import draw_best_label

with files.job(snakemake) as job:
    params = job.params
    points = len(params.settings["epsilons"]) + len(set(params.settings["labels"]) - {1})
    meter = job.meter(points, "budgets and numbers of labels")
    table = compare(params.settings, mechanisms=params.mechanisms, delta=params.delta, meter=meter)
    meter.finish()
    files.write_csv(job.output.table, table)
    draw_best_label(table, job.output.png, job.output.pdf)
