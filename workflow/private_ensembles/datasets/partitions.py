"""Cut a data set into shards several times over: the bags of DPBag."""

import numpy as np

from private_ensembles.datasets.shards import permutation_shards
from private_ensembles.noise.streams import generator


def draw_partitions(n_records, n_shards, partitions, seed, *path):
    """Shards of the partitions numbered `partitions`, int64 (len(partitions), n_shards, size).

    Each partition is a random permutation cut into equal pieces (`permutation_shards`), drawn from
    its own stream at `path` and its number: the first 10 of 100 partitions are the 10 that a run
    with 10 has. In each, n_records % n_shards records are left out.

    Raises ValueError unless 1 <= n_shards <= n_records and there is a partition, none negative.
    """
    numbers = list(partitions)
    if not numbers or min(numbers) < 0:
        raise ValueError(f"partitions = {numbers}: must be at least one number, none negative")
    return np.stack(
        [
            permutation_shards(n_records, n_shards, generator(seed, *path, n_shards, number))
            for number in numbers
        ]
    )


def shard_of_record(shards, n_records):
    """Which shard of each partition holds each record, int32 (partitions, n_records); -1: none.

    shards: int (partitions, n_shards, size), in each partition no record twice.

    Raises ValueError for an index outside 0..n_records-1 or a record twice in one partition.
    """
    shards = np.asarray(shards)
    partitions, n_shards, size = shards.shape
    if shards.min() < 0 or shards.max() >= n_records:
        raise ValueError(f"shards: must be indices of the {n_records} records")
    shard = np.full((partitions, n_records), -1, np.int32)
    flat = shards.reshape(partitions, -1)
    number = np.broadcast_to(np.repeat(np.arange(n_shards, dtype=np.int32), size), flat.shape)
    np.put_along_axis(shard, flat, number, axis=1)
    if (shard >= 0).sum() != flat.size:
        raise ValueError("shards: must hold no record twice in one partition")
    return shard
