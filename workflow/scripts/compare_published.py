"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles import io, published, published_pate
from private_ensembles.datasets.images import read_dataset

with io.job(snakemake) as job:
    printed = published.read_published(published.FOLDER.glob("*.csv"))
    tables = {(p.parts[-3], p.stem): pd.read_csv(p) for p in map(Path, job.input.tables)}
    datasets = [read_dataset(path) for path in job.input.datasets]
    numbers = published.reproduced_numbers(
        {item: table for (paper, item), table in tables.items() if paper == "darrm"},
        pd.read_csv(job.input.teachers[0]) if job.input.teachers else None,
        {
            data.name: (len(data.train_labels), len(data.test_labels))
            for data in datasets
            if not data.stand_in
        },
    )
    more, notes = published_pate.reproduced_numbers(
        {item: table for (paper, item), table in tables.items() if paper == "pate"}
    )
    table = published.compare(
        printed,
        numbers | more,
        data=job.params.data,
        explanations=published.EXPLANATIONS | published_pate.EXPLANATIONS,
        notes=notes,
        remarks=published_pate.REMARKS,
        reasons=published_pate.reasons(printed, job.params.tasks, job.params.data),
    )
    io.write_csv(job.output[0], table)
    job.progress("%s", ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items()))
