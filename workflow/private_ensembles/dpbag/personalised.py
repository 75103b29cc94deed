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

# Queries and records at a time: votes, counts and a buffer of one block stay in a core's cache.
_QUERIES, _RECORDS = 1024, 256


def running_costs(votes, sizes):
    """The largest sum over the queries so far of (k m(x; u))^2, over records u; by number k.

    votes: a BaggedVotes with at least max(sizes) partitions. sizes: the numbers k of (first)
    partitions, each at least 1, increasing. Returns int64 (len(sizes), Q): entry [s, T] is
    max_u sum of queries 0..T of (k m(x; u))^2 with k = sizes[s]; it never decreases along T.

    A partition that leaves a record out has no teacher that could vote differently without it: it
    adds to no n_c(x; u).

    The votes of u's teachers are added up partition by partition, for a block of records and
    queries at a time: k additions of one byte per record and query, and nothing as large as records
    x partitions x queries. Not for release: a function of votes without noise.

    Raises ValueError for sizes out of range.
    """
    sizes = [int(size) for size in sizes]
    if not sizes or sizes != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] > votes.n_partitions:
        raise ValueError(
            f"sizes = {sizes}: must be increasing, from 1 to the {votes.n_partitions} partitions"
        )
    records = votes.shards.shape[1]
    shards, present = teachers_of_records(votes, sizes)
    largest = np.zeros((len(sizes), votes.n_queries), np.int64)
    spent = np.zeros((len(sizes), records), np.int64)
    for start in range(0, votes.n_queries, _QUERIES):
        stop = min(start + _QUERIES, votes.n_queries)
        bits = bits_of_teachers(votes, sizes, start, stop)
        for low in range(0, records, _RECORDS):
            block = slice(low, min(low + _RECORDS, records))
            for place, most in enumerate(
                agreeing(bits, shards[:, block], present[:, block], sizes)
            ):
                squares = np.multiply(most, most, dtype=np.int64)
                np.cumsum(squares, axis=1, out=squares)
                squares += spent[place, block, None]
                spent[place, block] = squares[:, -1]
                view = largest[place, start:stop]
                np.maximum(view, squares.max(axis=0), out=view)
    return largest


def teachers_of_records(votes, sizes):
    """Which teachers saw each record, and how many: shards (k, N), present (len(sizes), N).

    sizes: as in `running_costs`; k: the largest. A partition that leaves a record out points to
    one teacher more than there are, who never votes 1 (`bits_of_teachers`).
    """
    shards = votes.shards[: sizes[-1]]
    present = (shards >= 0).cumsum(axis=0)[np.array(sizes) - 1]
    shards = np.where(shards < 0, votes.n_shards, shards).astype(np.intp)
    return shards, present.astype(_count_type(sizes[-1]))


def bits_of_teachers(votes, sizes, start, stop):
    """Votes of the first sizes[-1] partitions, and of one absent teacher each: (k, n + 1, Q)."""
    kind = _count_type(sizes[-1])
    bits = np.zeros((sizes[-1], votes.n_shards + 1, stop - start), kind)
    for partition in range(sizes[-1]):
        bits[partition, :-1] = votes.votes(partition, start, stop)
    return bits


def agreeing(bits, shards, present, sizes):
    """Yield, for each size k, k m(x; u) of some records and queries: (records, queries).

    bits, shards, present: as `bits_of_teachers` and `teachers_of_records` give them.
    """
    for place, ones in enumerate(_ones(bits, shards, sizes)):
        yield np.maximum(ones, present[place, :, None] - ones)


def _count_type(partitions):
    """Smallest unsigned type that holds a number of votes of one record's teachers."""
    return np.min_scalar_type(partitions)


def _ones(bits, shards, sizes):
    """Yield, for each size, how many of the first `size` teachers of each record vote 1.

    bits: (k, n + 1, queries). shards: (k, records). The array (records, queries) is used again.
    """
    total = np.zeros((shards.shape[1], bits.shape[2]), bits.dtype)
    buffer = np.empty_like(total)
    done = 0
    for size in sizes:
        for partition in range(done, size):
            # mode="clip" spares a copy; the indices are in range.
            np.take(bits[partition], shards[partition], axis=0, out=buffer, mode="clip")
            np.add(total, buffer, out=total)
        done = size
        yield total
