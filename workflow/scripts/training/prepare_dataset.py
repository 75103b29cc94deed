"""Read, check and split one data set into the private training part and the public queries."""

from private_ensembles.base import files
from private_ensembles.training.data.archive import write_dataset
from private_ensembles.training.data.prepare import prepare_dataset

with files.job(snakemake) as job:
    name = job.wildcards.dataset
    dataset = prepare_dataset(
        name,
        job.params.settings,
        {role: str(path) for role, path in job.input.items()},
        sha256=job.params.sha256,
        stand_in=job.params.stand_in,
        seed=job.params.seed,
    )
    write_dataset(job.output[0], dataset)
    job.log.info("%s: %s", name, dataset.provenance)
