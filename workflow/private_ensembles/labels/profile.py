"""Votes of an ensemble that does not exist, drawn from a stated profile of its teachers' consensus.

They take the place of votes that are private (PATE's Glyph: 5,000 teachers, 150 classes), to show
what costs and computations are like at that size, and of an ensemble that is planned but not yet
trained. Nothing computed from them is a claim about real data.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks
from private_ensembles.labels.ballots import deal_absent_ballots

# So many probabilities are drawn at a time, to bound memory.
_AT_ONCE = 1 << 20
# With more than _MANY classes and a confusion up to _FEW, only the classes with a share above
# _NOTHING are drawn.
_MANY, _FEW, _NOTHING = 10_000, 20.0, 2.0**-60


@dataclass(frozen=True)
class ConsensusProfile:
    """How an ensemble tends to vote, whatever its number of teachers.

    A query is easy with probability easy_share. A teacher votes for its true class with probability
    s, drawn once per query from Beta(*easy) or Beta(*hard), and for another class with
    probabilities (1 - s) times a draw of Dirichlet(confusion / (n_classes - 1), ...). Given these
    the teachers are independent. So the plurality is right if s exceeds the share of the strongest
    wrong class, the more surely the larger the consensus is. True classes have geometrically
    falling frequencies.

    Attributes:
        n_classes: How many classes there are.
        easy_share: The share of easy queries.
        easy: Two positive numbers, of the Beta distribution on easy queries.
        hard: Two positive numbers, of the Beta distribution on hard queries.
        confusion: The smaller it is, the fewer classes a query is taken for.
        imbalance: How often the first class occurs for each time that the last does.
        mislabelled: The share of the queries that carries another label than the true class, any
            with the same probability; teachers vote for the true class all the same.
        commonest: The frequency of the first class, if it is known; all others are then equally
            common.
        absent_share: How likely a ballot is missing, each by itself and whatever the query.

    Raises:
        ValueError: For a field out of range, which it names.
    """

    n_classes: int
    easy_share: float
    easy: tuple[float, float]
    hard: tuple[float, float]
    confusion: float
    imbalance: float = 1.0
    mislabelled: float = 0.0
    commonest: float | None = None
    absent_share: float = 0.0

    def __post_init__(self) -> None:
        checks.check_integer(n_classes=self.n_classes, at_least=2)
        checks.check_probability(easy_share=self.easy_share, mislabelled=self.mislabelled)
        checks.check_probability(absent_share=self.absent_share, one=False)
        checks.check_finite(confusion=self.confusion, above=0)
        checks.check_finite(imbalance=self.imbalance, at_least=1)
        for field in ("easy", "hard"):
            pair = tuple(getattr(self, field))
            if len(pair) != 2 or not all(0 < value < np.inf for value in pair):
                raise ValueError(f"{field} = {pair}: must be two positive numbers")
            object.__setattr__(self, field, pair)
        if self.commonest is None:
            return
        if self.imbalance != 1 or not 1 / self.n_classes <= self.commonest < 1:
            least = f"at least 1 / {self.n_classes} and below 1, beside imbalance = 1"
            raise ValueError(f"commonest = {self.commonest}: must be {least}")

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """How frequent each class is, float64 (n_classes,), the commonest first."""
        if self.commonest is not None:
            others = (1 - self.commonest) / (self.n_classes - 1)
            return np.array([self.commonest, *[others] * (self.n_classes - 1)])
        frequencies = np.geomspace(self.imbalance, 1, self.n_classes)
        return frequencies / frequencies.sum()


def synthetic_queries(
    profile: ConsensusProfile, n_queries: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what the teachers think of each query, and the queries' labels.

    Args:
        profile: How the teachers agree.
        n_queries: >= 1.
        generator: Draws the queries.

    Returns:
        (n_queries, n_classes) float64, how likely a teacher votes for each class, rows of which add
        up to 1; and (n_queries,) int64, what a data set would call the truth.

    Raises:
        ValueError: Unless n_queries >= 1.
    """
    probabilities = np.empty((n_queries, profile.n_classes))

    def keep(rows: slice, row_probabilities: NDArray[np.float64]) -> None:
        probabilities[rows] = row_probabilities

    return probabilities, _draw_queries(profile, n_queries, generator, keep)


def _draw_queries(
    profile: ConsensusProfile,
    n_queries: int,
    generator: np.random.Generator,
    take: Callable[[slice, NDArray[np.float64]], None],
) -> NDArray[np.int64]:
    """Return labels, (queries,), and pass each slice of queries and probabilities to `take`."""
    checks.check_integer(n_queries=n_queries, at_least=1)
    C = profile.n_classes
    true = generator.choice(C, size=n_queries, p=profile.frequencies)
    easy = generator.random(n_queries) < profile.easy_share
    correct = np.where(
        easy, generator.beta(*profile.easy, n_queries), generator.beta(*profile.hard, n_queries)
    )
    size = max(1, _AT_ONCE // C)
    for first in range(0, n_queries, size):
        rows = slice(first, min(first + size, n_queries))
        wrong = _draw_dirichlet(C - 1, profile.confusion, rows.stop - first, generator)
        wrong *= 1 - correct[rows, None]
        probabilities = np.empty((len(wrong), C))
        # Wrong classes follow the true one in cyclic order.
        for row, (label, share, others) in enumerate(
            zip(true[rows], correct[rows], wrong, strict=True)
        ):
            probabilities[row, label] = share
            probabilities[row, label + 1 :] = others[: C - 1 - label]
            probabilities[row, :label] = others[C - 1 - label :]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        take(rows, probabilities)
    other = (true + generator.integers(1, C, n_queries)) % C
    labels = np.where(generator.random(n_queries) < profile.mislabelled, other, true)
    return labels.astype(np.int64)


def _draw_dirichlet(
    number: int, total: float, size: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return draws of Dirichlet(total / number, ...) of that many classes, (size, number).

    If very many classes share out a small total, few have a share. These are drawn by the
    size-biased order (Pitman 1996, section 2): the k-th class, any of those left, takes a share
    Beta(1 + a, a (number - k)) of what is left, a = total / number. It ends where less is left than
    a float beside 1 holds.
    """
    a = total / number
    if number < _MANY or total > _FEW:
        return generator.dirichlet(np.full(number, a), size)
    drawn = np.zeros((size, number))
    for row in drawn:
        rest, k = 1.0, 0
        while rest > _NOTHING:
            index = generator.integers(number)
            if row[index]:
                continue
            k += 1
            share = generator.beta(1 + a, a * (number - k))
            row[index] = rest * share
            rest *= 1 - share
    return drawn


def synthetic_counts(
    profile: ConsensusProfile,
    n_teachers: int,
    n_queries: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return vote counts of a synthetic ensemble, and the queries' labels.

    Ballots that are missing are dealt out to the classes (`ballots.deal_absent_ballots`). The
    queries and their labels come from one child of `generator` and the votes from another, so that
    generators in equal states give ensembles of any number of teachers the same queries. Memory:
    about 8 bytes per query and class.

    Args:
        profile: How the teachers agree.
        n_teachers: >= 1.
        n_queries: >= 1.
        generator: Draws queries and votes.

    Returns:
        (n_queries, n_classes) int64, each row of which adds up to n_teachers; and (n_queries,)
        int64.

    Raises:
        ValueError: Unless n_teachers and n_queries are integers >= 1.

    >>> import numpy as np
    >>> profile = ConsensusProfile(3, easy_share=0.8, easy=(20, 2), hard=(2, 2), confusion=1.0)
    >>> counts, labels = synthetic_counts(profile, 50, 4, np.random.default_rng(0))
    >>> counts.sum(axis=1).tolist(), labels.shape
    ([50, 50, 50, 50], (4,))
    """
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    queries, votes = generator.spawn(2)
    share = profile.absent_share
    checks.check_integer(n_queries=n_queries, at_least=1)
    cast = votes.binomial(n_teachers, 1 - share, n_queries) if share else None
    counts = np.empty((n_queries, profile.n_classes), dtype=np.int64)

    def count(rows: slice, probabilities: NDArray[np.float64]) -> None:
        present = n_teachers if cast is None else cast[rows]
        if profile.n_classes <= _MANY:
            counts[rows] = votes.multinomial(present, probabilities)
            return
        counts[rows] = 0
        cast_by = np.broadcast_to(present, len(probabilities))
        for row, n, p in zip(counts[rows], cast_by, probabilities, strict=True):
            nonzero = np.flatnonzero(p)  # few classes have any
            row[nonzero] = votes.multinomial(n, p[nonzero])

    labels = _draw_queries(profile, n_queries, queries, count)
    return (deal_absent_ballots(counts, n_teachers) if share else counts), labels
