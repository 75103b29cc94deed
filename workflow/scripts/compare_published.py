"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles import io, published
from private_ensembles.datasets.images import read_dataset

with io.job(snakemake) as job:
    datasets = [read_dataset(path) for path in job.input.datasets]
    sizes = {
        data.name: (len(data.train_labels), len(data.test_labels))
        for data in datasets
        if not data.stand_in
    }
    reproduced = published.reproduced_numbers(
        {Path(path).stem: pd.read_csv(path) for path in job.input.tables},
        pd.read_csv(job.input.teachers),
        sizes,
    )
    printed = published.read_published(published.FOLDER.glob("*.csv"))
    table = published.compare(printed, reproduced, data=job.params.data)
    io.write_csv(job.output[0], table)
    job.progress("%s", ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items()))
