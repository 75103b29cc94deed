"""Random forests as teachers: train one on each shard of a table and let it vote."""

import numpy as np

from private_ensembles.base.progress import Meter
from private_ensembles.base.streams import stream


def cast_forest_votes(
    features,
    labels,
    shards,
    queries,
    *,
    n_classes,
    parameters,
    seed,
    path,
    progress=lambda message: None,
):
    """Train one random forest on each shard and let it vote on each query.

    Each teacher has a random stream of its own, so that none depends on how many there are; it sees
    its shard and nothing else. A shard with one class makes a teacher that always votes for it.
    Training is not private and the votes carry no noise: they are not for release.

    Args:
        features: float32 (N, d).
        labels: uint8 (N,), below n_classes.
        shards: Rows of indices into the records, one row per teacher.
        queries: float32 (Q, d).
        n_classes: The number of classes.
        parameters: Keywords of scikit-learn's RandomForestClassifier (n_estimators, max_features,
            ...).
        seed, path: The address of the random streams.
        progress: Called with a message about every five seconds.

    Returns:
        Unsigned integers (Q, teachers).

    Raises:
        ValueError: scikit-learn refuses the parameters.
    """
    from sklearn.ensemble import RandomForestClassifier  # late: a second of import

    votes = np.empty((len(queries), len(shards)), np.min_scalar_type(n_classes - 1))
    meter = Meter(len(shards), "forests", say=progress, log=progress)
    for i, shard in enumerate(shards):
        state = int(stream(seed, *path, "forest", i).generate_state(1)[0])
        # A forest has one thread, as everywhere: parallelism is across jobs.
        try:
            forest = RandomForestClassifier(**parameters, random_state=state, n_jobs=1)
            forest.fit(features[shard], labels[shard])
        except (TypeError, ValueError) as error:
            line = " ".join(str(error).split())
            raise ValueError(f"forest {i + 1} of {len(shards)}: {line}") from None
        votes[:, i] = forest.predict(queries)
        meter.advance()
    meter.finish()
    return votes
