"""Write and draw the ledger: what every mechanism claims, what is proven, what is true."""

import json
from pathlib import Path

from private_ensembles.base import files
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.compare.reproduced import select_claims
from private_ensembles.papers.ledger.figure import draw_ledger
from private_ensembles.papers.ledger.ledger import calibrate_budget, ledger
from private_ensembles.papers.ledger.totals import totals

PUBLISHED = ("pate_table1.csv", "dpbag_table6.csv")

with files.job(snakemake) as job:
    settings = job.params.settings
    gammas = {
        name: json.loads(Path(path).read_text())["gamma"]
        for name, path in job.params.gammas.items()
    }
    printed = read_published([FOLDER / name for name in PUBLISHED])
    published = select_claims(printed, settings["pate"])
    table = ledger(settings, gammas, published)
    files.write_csv(job.output.ledger, table)
    draw_ledger(table, job.output.png, job.output.pdf)
    verdicts = table["verdict"].value_counts()
    job.report_progress("%s", ", ".join(f"{count} {name}" for name, count in verdicts.items()))
    chosen = {
        name: calibrate_budget(budget, gammas[name]) for name, budget in settings["budgets"].items()
    }
    files.write_csv(job.output.totals, totals(chosen, **settings["totals"]))
