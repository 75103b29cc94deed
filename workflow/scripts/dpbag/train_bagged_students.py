"""Train students on the labels of bagged teachers that a budget buys, and test them."""

import pandas as pd

from private_ensembles.base import files
from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.dpbag.experiment import add_facts, split_thirds
from private_ensembles.papers.dpbag.students import train_students
from private_ensembles.training.data.tabular import read_records

with files.job(snakemake) as job:
    options = job.params
    records = read_records(job.input.dataset)
    costs = {parameters_of(path)["n"]: path for path in job.input.costs}
    accounts = {}
    for path in job.input.counts:
        n = parameters_of(path)["n"]
        rows = pd.read_csv(path).to_dict("records")
        accounts[n] = rows, files.read_npz(costs[n], required=("k", "ones"))
    meter = job.meter(sum(len(arrays["k"]) for _, arrays in accounts.values()), "pairs (n, k)")
    rows = train_students(
        split_thirds(records, options.scaling, options.seed, options.repeat),
        options.model,
        options.training,
        options.settings,
        accounts,
        options.seed,
        path=("dpbag", records.name, options.repeat, options.model),
        progress=lambda line: meter.advance(),
    )
    meter.finish()
    facts = {"dataset": records.name, "stand_in": records.stand_in, "model": options.model}
    files.write_csv(job.output[0], add_facts(rows, **facts, seed=options.repeat))
