"""Release labels as the experiment of one paper does, and count how often they are right."""

from importlib import import_module

from private_ensembles.base import files
from private_ensembles.papers.common.inputs import read_inputs

with files.job(snakemake) as job:
    experiment = import_module(f"private_ensembles.papers.{job.params.paper}.experiment")
    rows, arrays = experiment.release_labels(
        read_inputs(job.input),
        job.params.settings,
        name=job.params.name,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    files.write_csv(job.output.table, rows)
    files.write_npz(job.output.labels, **arrays)
    job.log.info("%d releases", len(rows))
