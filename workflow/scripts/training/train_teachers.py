"""Train an ensemble or a slice of it, each teacher on its own shard; both kinds have the same."""

from private_ensembles.base import files
from private_ensembles.base.streams import generator
from private_ensembles.training.checkpoint import checkpoint_for_output
from private_ensembles.training.data.images import read_labelled_images
from private_ensembles.training.data.shards import cut_shards
from private_ensembles.training.teachers.device import choose_device
from private_ensembles.training.teachers.ensemble import train_ensemble
from private_ensembles.training.teachers.ensemble_file import save_ensemble
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.slices import slice_members
from private_ensembles.training.teachers.sources import Randomness

with files.job(snakemake) as job:
    options = job.params
    K, seed, repeat = options.K, options.seed, options.training_seed
    dataset = read_labelled_images(job.input.dataset)
    device = choose_device(options.device, job.threads)
    images, labels = dataset.train_images, dataset.train_labels
    training = dict(options.settings)
    assignment = training.pop("shards", "permutation")
    shard_generator = generator(seed, dataset.name, "shards", K, repeat)
    shards = cut_shards(assignment, images, labels, K, shard_generator)
    facts = {
        "dataset": dataset.provenance,
        "kind": options.kind,
        "K": K,
        "seed": seed,
        "noise": options.noise,
        "backend": options.backend,
        "shards": {"assignment": assignment, "size": len(labels) // K},
        "training": training,
        "training_seed": repeat,
    }
    if options.slice:
        facts["slice"] = options.slice
    teachers = train_ensemble(
        options.kind,
        ShardedRecords(images, labels, shards, dataset.pixel_max, dataset.n_classes),
        training,
        Randomness(seed, (dataset.name, repeat), options.noise),
        members=slice_members(K, options.slice),
        backend=options.backend,
        device=device,
        checkpoint=checkpoint_for_output(snakemake.output[0], job, device, facts),
        progress=job.report_progress,
    )
    facts = files.provenance("torch", "opacus", "numpy", device=str(device), **facts)
    save_ensemble(job.output[0], teachers, facts)
