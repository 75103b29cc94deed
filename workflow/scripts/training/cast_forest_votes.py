"""Train one random forest on each shard of a table, and let it vote once on every test record."""

from private_ensembles.base import files
from private_ensembles.base.streams import generator
from private_ensembles.labels.votes import Votes, write_votes
from private_ensembles.training.data.shards import permutation_shards
from private_ensembles.training.data.tabular import read_records
from private_ensembles.training.teachers.forest import cast_forest_votes

with files.job(snakemake) as job:
    K = job.params.K
    seed = job.params.seed
    repeat = job.params.training_seed
    data = read_records(job.input.dataset)
    labels = data.train_labels
    shards = permutation_shards(len(labels), K, generator(seed, data.name, "shards", K, repeat))
    votes = cast_forest_votes(
        data.train_features,
        labels,
        shards,
        data.test_features,
        n_classes=data.n_classes,
        parameters=job.params.settings,
        seed=seed,
        path=(data.name, repeat),
        progress=job.report_progress,
    )
    facts = files.provenance(
        "scikit-learn",
        "numpy",
        dataset=data.provenance,
        kind="forest",
        K=K,
        seed=seed,
        training_seed=repeat,
        training=dict(job.params.settings),
        shards={"assignment": "permutation", "size": len(shards[0])},
        queries="all test records, in order",
        release="not for release: no noise",
    )
    write_votes(job.output[0], Votes(data.n_classes, data.test_labels, votes, provenance=facts))
    right = votes == data.test_labels[:, None]
    job.log.info("mean accuracy of a teacher (not for release): %.4f", right.mean())
