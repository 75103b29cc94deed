"""Count the labels of bagged teachers whose intercept is free, as in the rewrite of April 2020."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.papers.dpbag.experiment import add_facts, split_thirds
from private_ensembles.training.data.tabular import read_records
from studies.intercept.free_intercept import count_labels, summarise_counts

with files.job(snakemake) as job:
    options = job.params
    records = read_records(job.input.dataset)
    study = options.study
    meter = job.meter(len(study["seeds"]) * max(study["k"]), "partitions")
    rows = []
    for repeat in study["seeds"]:
        counted = count_labels(
            split_thirds(records, options.scaling, options.seed, repeat),
            study["training"],
            options.budget,
            n=study["n"],
            sizes=study["k"],
            seed=options.seed,
            path=("dpbag", records.name, repeat),
            progress=lambda done, total: meter.advance(),
        )
        facts = {"dataset": records.name, "stand_in": records.stand_in, "seed": repeat}
        rows += add_facts(counted, **facts)
    meter.finish()
    files.write_csv(job.output[0], summarise_counts(pd.DataFrame(rows)))
