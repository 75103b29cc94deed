"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles import io, published, published_nzc, published_pate
from private_ensembles.datasets.images import read_dataset

with io.job(snakemake) as job:
    printed = published.read_published(published.FOLDER.glob("*.csv"))
    tables = {(p.parts[-3], p.stem): pd.read_csv(p) for p in map(Path, job.input.tables)}
    sizes = {
        data.name: (len(data.train_labels), len(data.test_labels))
        for data in map(read_dataset, job.input.datasets)
        if not data.stand_in
    }
    teachers = pd.read_csv(job.input.teachers[0]) if job.input.teachers else None
    of = {
        paper: {item: table for (owner, item), table in tables.items() if owner == paper}
        for paper in ("darrm", "pate", "nzc")
    }
    darrm = published.reproduced_numbers(of["darrm"], teachers, sizes)
    pate, pate_notes = published_pate.reproduced_numbers(of["pate"])
    nzc, nzc_notes = published_nzc.reproduced_numbers(of["nzc"], job.params.nzc)
    table = published.compare(
        printed,
        darrm | pate | nzc,
        data=job.params.data,
        explanations=published.EXPLANATIONS | published_pate.EXPLANATIONS,
        notes=pate_notes | nzc_notes,
        remarks=published_pate.REMARKS,
        reasons=published_pate.reasons(printed, job.params.tasks, job.params.data)
        | published_nzc.reasons(printed, job.params.nzc, job.params.data),
    )
    io.write_csv(job.output[0], table)
    job.progress("%s", ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items()))
