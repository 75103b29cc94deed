"""Release labels as the experiment of one paper does, and count how often they are right."""

from importlib import import_module

from private_ensembles.experiments.inputs import read_inputs
from private_ensembles.jobs import io

with io.job(snakemake) as job:
    experiment = import_module(f"private_ensembles.experiments.{job.params.paper}")
    rows, arrays = experiment.release_labels(
        read_inputs(job.input),
        job.params.settings,
        name=job.params.name,
        seed=job.params.seed,
        noise=job.params.noise,
    )
    io.write_csv(job.output.table, rows)
    io.write_npz(job.output.labels, **arrays)
    job.log.info("%d releases", len(rows))
