"""Cut a data set into disjoint shards, one per teacher; DPBag does so several times over.

Which assignment is used decides which adjacency a claim may speak of (docs/privacy.md, "Where a
claim holds"). Replacing one record changes one shard under either. Adding or removing one changes
one shard only if no other record moves, which a permutation does not give and a keyed hash of the
record does.
"""

import hashlib

import numpy as np

from private_ensembles.base import checks, streams


def permutation_shards(n_records, n_shards, generator):
    """Cut a random permutation of the records into equal shards, as the papers do.

    Privacy claims that rest on disjoint shards hold for replace-one neighbours.

    Args:
        n_records: The number of records.
        n_shards: The number of shards.
        generator: numpy.random.Generator.

    Returns:
        Indices, int64 (n_shards, n_records // n_shards), no record twice. The remainder of
        n_records % n_shards records is left out.

    Raises:
        ValueError: Not 1 <= n_shards <= n_records.
    """
    _check_shards(n_records, n_shards)
    size = n_records // n_shards
    order = generator.permutation(n_records)[: size * n_shards]
    return np.ascontiguousarray(order.reshape(n_shards, size), dtype=np.int64)


def keyed_hash_shards(records, n_shards, key):
    """Assign each record by a keyed hash of its own content: no record ever moves another.

    BLAKE2b stands for a random function: for records that are distinct, the shards are independent
    and uniform (equal records share a shard). Shard sizes vary and are private, so sample rates and
    step counts must be public constants, not taken from them.

    Args:
        records: A uint8 (N, ...) array, or a sequence of bytes objects; include the label in the
            record.
        n_shards: The number of shards.
        key: 1 to 64 bytes, drawn independently of the data.

    Returns:
        The shard of each record, int64 (N,), in [0, n_shards).

    Raises:
        ValueError: The key is empty or too long, or the records are not bytes.
    """
    if not 1 <= len(key) <= 64:
        raise ValueError(f"key of {len(key)} bytes: must have 1 to 64")
    checks.check_integer(n_shards=n_shards, at_least=1)
    if isinstance(records, np.ndarray):
        if records.dtype != np.uint8 or records.ndim < 1:
            raise ValueError(f"records of type {records.dtype}: must be uint8 (N, ...) or bytes")
        records = [record.tobytes() for record in records]
    # Records are hashed one by one: there is no vectorised BLAKE2b, and 12,000 of them take 20 ms.
    shards = [
        int.from_bytes(hashlib.blake2b(record, digest_size=16, key=key).digest(), "big") % n_shards
        for record in records
    ]
    return np.array(shards, dtype=np.int64)


def cut_shards(assignment, images, labels, n_shards, generator):
    """Cut records into disjoint shards.

    Args:
        assignment: `permutation` gives shards of equal size for replace-one claims. `keyed_hash`
            gives shards of unequal and private size, perhaps empty ones, for claims about adding or
            removing a record: its content and label decide where it goes.
        images: uint8 (N, ...).
        labels: uint8 (N,).
        n_shards: The number of shards.
        generator: numpy.random.Generator, which draws the permutation or the key.

    Returns:
        A list of index arrays, int64, one per shard, no record twice.

    Raises:
        ValueError: The assignment is another, or as `permutation_shards` and `keyed_hash_shards`.
    """
    if assignment == "permutation":
        return list(permutation_shards(len(labels), n_shards, generator))
    if assignment != "keyed_hash":
        raise ValueError(f"shards = {assignment!r}: must be permutation or keyed_hash")
    _check_shards(len(labels), n_shards)
    records = np.column_stack([images.reshape(len(labels), -1), labels])
    owners = keyed_hash_shards(records, n_shards, generator.bytes(32))
    return [np.flatnonzero(owners == shard) for shard in range(n_shards)]


def draw_partitions(n_records, n_shards, partitions, seed, *path):
    """Draw the shards of the partitions with these numbers.

    Each partition is a random permutation cut into equal shards (`permutation_shards`), drawn from
    its own stream at `path` and its number: the first 10 of 100 partitions are the 10 that a run
    with 10 has. In each, n_records % n_shards records are left out.

    Args:
        n_records: The number of records.
        n_shards: The number of shards of a partition.
        partitions: The numbers of the partitions.
        seed, *path: The address of the streams.

    Returns:
        Indices, int64 (len(partitions), n_shards, size).

    Raises:
        ValueError: Not 1 <= n_shards <= n_records, no partition, or a negative number.
    """
    numbers = list(partitions)
    if not numbers or min(numbers) < 0:
        raise ValueError(f"partitions = {numbers}: must be at least one number, none negative")
    sources = [streams.generator(seed, *path, n_shards, number) for number in numbers]
    return np.stack([permutation_shards(n_records, n_shards, source) for source in sources])


def shard_of_record(shards, n_records):
    """Return which shard of each partition holds each record.

    Args:
        shards: int (partitions, n_shards, size), in each partition no record twice.
        n_records: The number of records.

    Returns:
        int32 (partitions, n_records); -1 where no shard holds the record.

    Raises:
        ValueError: An index is outside 0..n_records-1, or a record is twice in one partition.
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


def _check_shards(n_records, n_shards):
    if not 1 <= n_shards <= n_records:
        raise ValueError(
            f"n_shards = {n_shards}: must be at least 1 and at most the {n_records} records"
        )
