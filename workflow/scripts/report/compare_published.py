"""Compare every printed number with ours."""

from pathlib import Path

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.compare import dataset_sizes
from private_ensembles.papers.compare.comparison import compare, compare_relations
from private_ensembles.papers.compare.printed import FOLDER, read_published

with files.job(snakemake) as job:
    params, settings = job.params, job.params.settings
    tables = {
        paper: {
            "sizes": pd.DataFrame(
                [*map(dataset_sizes.count_dataset, counted), *params.sizes[paper]]
            )
        }
        for paper, counted in params.datasets.items()
    }
    for file in [*job.input.tables, *job.input.others]:
        path = Path(file)
        paper = path.parts[-3]
        tables[paper][path.stem] = pd.read_csv(path)
    printed = read_published(FOLDER.glob("*.csv"))
    numbers = compare(printed, tables, settings, data=params.data)
    relations = compare_relations(printed, tables, settings, data=params.data)
    table = pd.concat([numbers, relations], ignore_index=True)
    files.write_csv(job.output[0], table)
    statuses = table["status"].value_counts()
    counted = [f"{number} {status.replace('_', ' ')}" for status, number in statuses.items()]
    job.report_progress("%s", ", ".join(counted))
