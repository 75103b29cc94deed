"""Train all teachers of one ensemble, each on its own shard."""

from private_ensembles import io
from private_ensembles.datasets.images import read_dataset
from private_ensembles.datasets.shards import permutation_shards
from private_ensembles.randomness import generator
from private_ensembles.teachers.ensemble import choose_device, save_ensemble, train_ensemble

with io.job(snakemake) as job:
    kind, K, seed, repeat = (job.params[k] for k in ("kind", "K", "seed", "training_seed"))
    dataset = read_dataset(job.input.dataset)
    device = choose_device(job.params.device, job.threads)
    images, labels = dataset.train_images, dataset.train_labels
    # The same shards for private and plain teachers: they differ in how they train only.
    shards = permutation_shards(len(labels), K, generator(seed, dataset.name, "shards", K, repeat))
    shape = {"pixel_max": dataset.pixel_max, "n_classes": dataset.n_classes}
    facts = {"dataset": dataset.provenance, "kind": kind, "K": K, "seed": seed}
    facts |= {"training_seed": repeat, "training": dict(job.params.settings)}
    facts |= {"noise": job.params.noise}
    facts["shards"] = {"assignment": "permutation", "size": len(shards[0])}
    teachers = train_ensemble(
        *(kind, images, labels, shards),
        **shape,
        parameters=job.params.settings,
        seed=seed,
        path=(dataset.name, repeat),
        device=device,
        noise=job.params.noise,
        progress=job.progress,
    )
    facts = io.provenance("torch", "opacus", "numpy", device=str(device), **facts)
    save_ensemble(job.output[0], teachers, facts)
