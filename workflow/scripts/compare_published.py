"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles.datasets.images import read_dataset
from private_ensembles.jobs import io
from private_ensembles.published import comparison, darrm, dpbag, nzc, pate

with io.job(snakemake) as job:
    printed = comparison.read_published(comparison.FOLDER.glob("*.csv"))
    tables = {"darrm": {}, "pate": {}, "dpbag": {}, "nzc": {}}
    for path in map(Path, job.input.tables):
        tables[path.parts[-3]][path.stem] = pd.read_csv(path)
    numbers = comparison.reproduced_numbers(
        tables["darrm"],
        pd.read_csv(job.input.teachers[0]) if job.input.teachers else None,
        comparison.sizes(read_dataset(path) for path in job.input.datasets),
    )
    tasks = job.params.tasks
    more, notes = pate.reproduced_numbers(tables["pate"], pate.altered(tasks))
    bagged = dpbag.of_run(tables["dpbag"], job.input.records, job.params.deltas)
    queried, nzc_notes = nzc.reproduced_numbers(tables["nzc"], job.params.nzc)
    notes |= darrm.notes(numbers, job.params.darrm)
    explained = comparison, pate, dpbag
    table = comparison.compare(
        printed,
        numbers | more | bagged | queried,
        data=job.params.data,
        explanations={k: v for paper in explained for k, v in paper.EXPLANATIONS.items()},
        notes=notes | dpbag.notes(bagged, job.params.dpbag) | nzc_notes,
        remarks=pate.REMARKS | dpbag.remarks(printed),
        reasons=pate.reasons(printed, list(tasks), job.params.data)
        | dpbag.reasons(printed)
        | nzc.reasons(printed, job.params.nzc, job.params.data),
    )
    io.write_csv(job.output[0], table)
    job.progress("%s", ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items()))
