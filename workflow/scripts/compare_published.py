"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles import io, published, published_darrm, published_nzc, published_pate
from private_ensembles.datasets.images import read_dataset
from private_ensembles.report import dpbag_published

with io.job(snakemake) as job:
    printed = published.read_published(published.FOLDER.glob("*.csv"))
    tables = {"darrm": {}, "pate": {}, "dpbag": {}, "nzc": {}}
    for path in map(Path, job.input.tables):
        tables[path.parts[-3]][path.stem] = pd.read_csv(path)
    numbers = published.reproduced_numbers(
        tables["darrm"],
        pd.read_csv(job.input.teachers[0]) if job.input.teachers else None,
        published.sizes(read_dataset(path) for path in job.input.datasets),
    )
    tasks = job.params.tasks
    more, notes = published_pate.reproduced_numbers(tables["pate"], published_pate.altered(tasks))
    bagged = dpbag_published.of_run(tables["dpbag"], job.input.records, job.params.deltas)
    nzc, nzc_notes = published_nzc.reproduced_numbers(tables["nzc"], job.params.nzc)
    notes |= published_darrm.notes(numbers, job.params.darrm)
    explained = published, published_pate, dpbag_published
    table = published.compare(
        printed,
        numbers | more | bagged | nzc,
        data=job.params.data,
        explanations={k: v for paper in explained for k, v in paper.EXPLANATIONS.items()},
        notes=notes | dpbag_published.notes(bagged, job.params.dpbag) | nzc_notes,
        remarks=published_pate.REMARKS | dpbag_published.remarks(printed),
        reasons=published_pate.reasons(printed, list(tasks), job.params.data)
        | dpbag_published.reasons(printed)
        | published_nzc.reasons(printed, job.params.nzc, job.params.data),
    )
    io.write_csv(job.output[0], table)
    job.progress("%s", ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items()))
