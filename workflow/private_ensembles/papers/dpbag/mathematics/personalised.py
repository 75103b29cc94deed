"""What each label costs each training record: DPBag's personalised accounting, for all at once.

Teacher T_ij is trained on shard j of partition i, and record u is in shard j(i, u). With
n_c(x; u) = |{i : T_{i, j(i, u)}(x) = c}| / k and m(x; u) = max_c n_c(x; u), the label of x adds

    alpha_l(x; u) = 2 lambda^2 m(x; u)^2 l (l + 1)

to the l-th moment of record u. Why: without u, or with another record in its place, only u's own k
teachers vote differently. For two classes no count then moves by more than m(x; u) (from n_c(x; u)
down to 0, or by the others up), so that the label is 2 lambda m(x; u)-DP between these two data
sets, and the moment of a pure eps-DP mechanism is at most eps^2 l (l + 1) / 2.

All orders, noise scales and budgets need only sum_x m(x; u)^2. This is computed in integers: k m is
the larger of two numbers of votes.

For more than two classes max_c n_c(x; u) is not a bound (the votes of u's teachers may all go to a
class that had few of them: 1 - min_c n_c(x; u) would be), so there are two classes here.
"""

from typing import NamedTuple

import numpy as np

# So many queries at a time: the votes of all records' teachers on them stay in a core's cache.
_QUERIES = 64
# Half a byte counts at most this many votes.
_FULL = 15


class AgreeingVotes(NamedTuple):
    """How many of each record's teachers agree on some queries.

    Attributes:
        start: the first of these queries.
        size_index: which of `sizes` is the number of partitions k.
        votes: k m(x; u), (records, queries) int.
    """

    start: int
    size_index: int
    votes: np.ndarray


def running_costs(votes, sizes):
    """Return the largest sum over the queries so far of (k m(x; u))^2, over records u; by number k.

    A partition that leaves a record out has no teacher that could vote differently without it: it
    adds to no n_c(x; u). Not for release: a function of votes without noise.

    Args:
        votes: BaggedVotes with at least max(sizes) partitions.
        sizes: the numbers k of (first) partitions, each at least 1, increasing.

    Returns:
        (len(sizes), queries) int64: entry [s, T] is the largest over u of the sum over queries 0..T
        of (k m(x; u))^2 with k = sizes[s]; it never decreases along T.

    Raises:
        ValueError: sizes are out of range.
    """
    running = RunningCosts(votes, sizes)
    for start, size_index, agreeing_votes in count_agreeing_votes(votes, sizes):
        running.charge(start, size_index, agreeing_votes)
    return running.largest


class RunningCosts:
    """What `running_costs` returns (`largest`), from what `count_agreeing_votes` yields."""

    def __init__(self, votes, sizes):
        self.sizes = sizes
        self.largest = np.zeros((len(sizes), votes.n_queries), np.int64)
        self._spent = np.zeros((len(sizes), votes.shards.shape[1]), np.int64)

    def charge(self, start, size_index, agreeing_votes):
        """Charge the queries from start on.

        Few records can be the maximum. Say that v has spent most before these queries, and that u
        has spent d less. A query costs u at most k^2, which is v's cost and what v is short of k^2;
        if v is short of no more than d over all these queries, u is never ahead of v.

        Args:
            start: the first of these queries.
            size_index: which of `sizes` is the number of partitions k.
            agreeing_votes: k m(x; u), (records, queries) int.
        """
        spent, queries, k = self._spent[size_index], agreeing_votes.shape[1], self.sizes[size_index]
        # Sums of these whole numbers are exact in the chosen type.
        squares = agreeing_votes.astype(np.float32 if queries * k**2 <= 1 << 24 else np.float64)
        costs = np.einsum("uq,uq->u", squares, squares).astype(np.int64)
        leader = spent.argmax()
        can_lead = spent + (queries * k**2 - costs[leader]) > spent[leader]
        can_lead[leader] = True
        running = (
            np.cumsum(np.square(agreeing_votes[can_lead], dtype=np.int64), axis=1)
            + spent[can_lead, None]
        )
        self.largest[size_index, start : start + queries] = running.max(axis=0)
        spent += costs


def count_agreeing_votes(votes, sizes):
    """Yield how many of each record's teachers agree, block by block of queries, for each size.

    The votes of u's teachers are added up partition by partition, for a block of queries at a time:
    k additions of half a byte per record and query, and nothing as large as records x partitions x
    queries.

    Args:
        votes, sizes: as `running_costs` takes them.

    Yields:
        AgreeingVotes, whose array is used again.

    Raises:
        ValueError: sizes are out of range.
    """
    if not sizes or sizes != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] > votes.n_partitions:
        raise ValueError(
            f"sizes = {sizes}: must be increasing, from 1 to the {votes.n_partitions} partitions"
        )
    shards = votes.shards[: sizes[-1]]
    kind = np.min_scalar_type(sizes[-1])
    present = (shards >= 0).cumsum(axis=0)[np.array(sizes) - 1].astype(kind)[:, :, None]
    # A partition that leaves a record out points to one teacher more, who never votes 1.
    shards = np.where(shards < 0, votes.n_shards, shards).astype(np.intp)
    for start in range(0, votes.n_queries, _QUERIES):
        queries = min(_QUERIES, votes.n_queries - start)
        halves = _pack_half_bytes(votes, sizes[-1], start, queries)
        for size_index, ones in enumerate(_count_ones(halves, shards, sizes, kind)):
            zeros = present[size_index] - ones
            agreeing = np.maximum(ones, zeros, out=zeros)[:, :queries]
            yield AgreeingVotes(start, size_index, agreeing)


def _pack_half_bytes(votes, k, start, queries):
    """Return votes of the first k partitions, and of one absent teacher each.

    The result is (k, n + 1, queries / 2). A byte holds two votes: on a query of the first half of
    them, and on one of the second.
    """
    width = -(-queries // 2)
    cast = votes.unpack_votes(slice(k), start, start + queries)
    halves = np.zeros((k, votes.n_shards + 1, width), np.uint8)
    halves[:, :-1, : queries - width] = cast[:, :, width:] << 4
    halves[:, :-1] |= cast[:, :, :width]
    return halves


def _count_ones(halves, shards, sizes, kind):
    """Yield, for each size, how many of the first `size` teachers of each record vote 1.

    halves: of `_pack_half_bytes`. shards: (k, records). The array (records, queries) is used again.
    """
    width = halves.shape[2]
    total = np.zeros((shards.shape[1], 2 * width), kind)
    part, buffer = np.empty((2, len(total), width), np.uint8)
    done = 0
    for size in sizes:
        for first in range(done, size, _FULL):
            for partition in range(first, min(first + _FULL, size)):
                out = part if partition == first else buffer
                # mode="clip" spares a copy; the indices are in range.
                np.take(halves[partition], shards[partition], axis=0, out=out, mode="clip")
                if partition > first:
                    np.add(part, buffer, out=part)
            total[:, :width] += part & _FULL
            total[:, width:] += part >> 4
        done = size
        yield total
