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

import numpy as np

# Queries at a time: the votes of all records' teachers on them stay in a core's cache.
_QUERIES = 64
# Votes that half a byte counts.
_FULL = 15


def running_costs(votes, sizes):
    """The largest sum over the queries so far of (k m(x; u))^2, over records u; by number k.

    votes: a BaggedVotes with at least max(sizes) partitions. sizes: the numbers k of (first)
    partitions, each at least 1, increasing. Returns int64 (len(sizes), Q): entry [s, T] is
    max_u sum of queries 0..T of (k m(x; u))^2 with k = sizes[s]; it never decreases along T.

    A partition that leaves a record out has no teacher that could vote differently without it: it
    adds to no n_c(x; u). Not for release: a function of votes without noise.

    Raises ValueError for sizes out of range.
    """
    running = RunningCosts(votes, sizes)
    for start, place, most in count_agreeing_votes(votes, sizes):
        running.charge(start, place, most)
    return running.largest


class RunningCosts:
    """What `running_costs` returns (`largest`), from what `agreeing` yields."""

    def __init__(self, votes, sizes):
        self.sizes = sizes
        self.largest = np.zeros((len(sizes), votes.n_queries), np.int64)
        self._spent = np.zeros((len(sizes), votes.shards.shape[1]), np.int64)

    def charge(self, start, size_index, agreeing_votes):
        """Charge the queries from start on, with sizes[place] partitions: most (records, queries).

        Few records can be the maximum. Say that v has spent most before these queries, and that u
        has spent d less. A query costs u at most k^2, which is v's cost and what v is short of k^2;
        if v is short of no more than d over all these queries, u is never ahead of v.
        """
        spent, queries, k = self._spent[size_index], agreeing_votes.shape[1], self.sizes[size_index]
        # A type in which sums of these whole numbers are exact.
        squares = agreeing_votes.astype(np.float32 if queries * k**2 <= 1 << 24 else np.float64)
        costs = np.einsum("uq,uq->u", squares, squares).astype(np.int64)
        first = spent.argmax()
        ahead = spent + (queries * k**2 - costs[first]) > spent[first]
        ahead[first] = True
        running = (
            np.cumsum(np.square(agreeing_votes[ahead], dtype=np.int64), axis=1) + spent[ahead, None]
        )
        self.largest[size_index, start : start + queries] = running.max(axis=0)
        spent += costs


def count_agreeing_votes(votes, sizes):
    """Yield (start, place, k m(x; u)) of some queries x from start on, (records, queries).

    votes, sizes: as `running_costs` takes them; k = sizes[place]. An array is used again.

    The votes of u's teachers are added up partition by partition, for a block of queries at a time:
    k additions of half a byte per record and query, and nothing as large as records x partitions x
    queries.
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
        for place, ones in enumerate(_count_ones(halves, shards, sizes, kind)):
            most = present[place] - ones
            yield start, place, np.maximum(ones, most, out=most)[:, :queries]


def _pack_half_bytes(votes, k, start, queries):
    """Votes of the first k partitions, and of one absent teacher each: (k, n + 1, queries / 2).

    Half a byte a vote: of a query of the first half of them, and of one of the second.
    """
    width = -(-queries // 2)
    cast = votes.unpack_votes(slice(k), start, start + queries)
    halves = np.zeros((k, votes.n_shards + 1, width), np.uint8)
    halves[:, :-1, : queries - width] = cast[:, :, width:] << 4
    halves[:, :-1] |= cast[:, :, :width]
    return halves


def _count_ones(halves, shards, sizes, kind):
    """Yield, for each size, how many of the first `size` teachers of each record vote 1.

    halves: of `_halves`. shards: (k, records). The array (records, queries) is used again.
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
