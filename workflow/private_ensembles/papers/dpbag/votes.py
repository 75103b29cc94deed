"""What bagged teachers voted: one bit per teacher and query, and which teacher saw which record.

A file holds consecutive partitions, so that thousands of teachers are trained a few partitions a
job. Not for release: votes carry no noise.
"""

import json
from dataclasses import dataclass, field

import numpy as np

from private_ensembles.base import checks, files


@dataclass(frozen=True)
class BaggedVotes:
    """Two-class votes of k partitions of the records into n shards, one teacher a shard.

    Attributes:
        bits: (k, n, ceil(queries / 8)) uint8, the votes as `np.packbits` packs them.
        shards: (k, records) int, the shard that holds each record in each partition, -1 if a
            partition leaves the record out.
        n_queries: number of queries.
        first: the number of the first partition.
        provenance: what the votes were made of, JSON-able.
    """

    bits: np.ndarray
    shards: np.ndarray
    n_queries: int
    first: int = 0
    provenance: dict = field(default_factory=dict)

    def __post_init__(self):
        """Raise ValueError for anything but what the class promises."""
        bits, shards = self.bits, self.shards
        if bits.dtype != np.uint8 or bits.ndim != 3 or 0 in bits.shape:
            raise ValueError(f"bits is {bits.dtype} {bits.shape}: must be uint8 (k, n, bytes)")
        if self.n_queries < 1 or bits.shape[2] != -(-self.n_queries // 8):
            raise ValueError(
                f"n_queries = {self.n_queries}: must be what {bits.shape[2]} bytes a teacher hold"
            )
        if shards.dtype.kind != "i" or shards.ndim != 2 or shards.shape[:1] != bits.shape[:1]:
            raise ValueError(
                f"shards is {shards.dtype} {shards.shape}: must be int ({len(bits)}, records)"
            )
        if shards.size == 0 or shards.min() < -1 or shards.max() >= bits.shape[1]:
            raise ValueError(f"shards: must be -1 to {bits.shape[1] - 1}, of at least one record")
        checks.check_integer(first=self.first, at_least=0)

    @property
    def n_partitions(self):
        """Number of partitions k."""
        return self.bits.shape[0]

    @property
    def n_shards(self):
        """Number of shards n, and of teachers, in each partition."""
        return self.bits.shape[1]

    def unpack_votes(self, partition, start=0, stop=None):
        """Return the votes of one partition on queries start..stop-1, (n, stop - start) uint8.

        A slice of k partitions gives (k, n, stop - start).
        """
        stop = self.n_queries if stop is None else stop
        packed = self.bits[partition, :, start // 8 : -(-stop // 8)]
        # They are unpacked as one list, since NumPy takes longer for many short ones.
        votes = np.unpackbits(np.ravel(packed)).reshape(*packed.shape[:-1], -1)
        return votes[..., start % 8 : start % 8 + stop - start]

    def count_ones(self):
        """Return how many teachers of each partition vote 1, (k, queries) int64."""
        kind = np.min_scalar_type(self.n_shards)
        ones = [self.unpack_votes(i).sum(axis=0, dtype=kind) for i in range(self.n_partitions)]
        return np.stack(ones).astype(np.int64)


def pack_votes(votes):
    """Pack votes (..., queries), each 0 or 1, into bits (..., ceil(queries / 8)) uint8.

    Raises:
        ValueError: a vote is not 0 or 1, or there is none.
    """
    votes = np.asarray(votes)
    if votes.dtype.kind not in "iub" or votes.size == 0 or votes.min() < 0 or votes.max() > 1:
        raise ValueError("votes: must be 0 or 1, at least one")
    return np.packbits(votes.astype(np.uint8), axis=-1)


def join_partitions(parts):
    """Join the BaggedVotes of consecutive partitions into one.

    Raises:
        ValueError: the parts do not fit together, or there is none.
    """
    parts = sorted(parts, key=lambda part: part.first)
    if not parts:
        raise ValueError("parts: must be at least one")
    expected = parts[0].first
    for part in parts:
        if part.first != expected:
            raise ValueError(f"partition {expected}: must be there, and once")
        if part.n_queries != parts[0].n_queries:
            raise ValueError("parts: must have the same queries")
        expected += part.n_partitions
    try:
        bits = np.concatenate([part.bits for part in parts])
        shards = np.concatenate([part.shards for part in parts])
    except ValueError:
        raise ValueError("parts: must have the same shards, queries and records") from None
    first = parts[0]
    return BaggedVotes(bits, shards, first.n_queries, first.first, first.provenance)


def write_votes(path, votes):
    """Write BaggedVotes as npz; equal contents give equal bytes."""
    files.write_npz(
        path,
        bits=votes.bits,
        shards=votes.shards.astype(np.min_scalar_type(-votes.n_shards)),
        n_queries=np.array(votes.n_queries, np.int64),
        first=np.array(votes.first, np.int64),
        provenance=np.array(json.dumps(votes.provenance, sort_keys=True)),
    )


def read_votes(path):
    """Read the BaggedVotes at `path`.

    Raises:
        ValueError: the file does not hold any. The message names it and what is wrong.
    """
    arrays = files.read_npz(path, ("bits", "shards", "n_queries", "first", "provenance"))
    try:
        numbers = [arrays[name] for name in ("n_queries", "first")]
        if any(number.shape or number.dtype.kind not in "iu" for number in numbers):
            raise ValueError("n_queries, first: must be one integer each")
        provenance = json.loads(str(arrays["provenance"]))
        return BaggedVotes(arrays["bits"], arrays["shards"], *map(int, numbers), provenance)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
