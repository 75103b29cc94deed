"""Laws that are a row of probabilities per count: drawn by their own sampler, or by exact coins."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive.families import (
    MANY_TEACHERS,
    Covered,
    Family,
    Pairs,
    of_table,
)
from private_ensembles.audit.histograms import both_counts
from private_ensembles.mechanisms.laws.law import Law
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise import secure as secure_noise
from private_ensembles.pate.histograms import Merged, of_two
from private_ensembles.pate.products import MANY_CLASSES

# Of very many teachers, labels of at most this probability count as one.
_NEGLIGIBLE = 1e-21
# Histograms of which an adversary against more than two classes is known to choose.
_MOST_PLAYED = 128
# Of so many votes they are too far apart to have one near a tie among them, which tells most: those
# near a tie are added, and the grid may be this much finer, as time is not what such tasks lack.
_MANY_VOTES, _FINER = 1000, 2.0
# What a probability of merged counts may be off by, beside its relative error.
MERGED_ERROR = 1e-15


class TableLaw(Law):
    """Noise without an exact sampler of its own: secure labels of two classes are coins.

    A law whose `cover` is known for any number of classes sets `pairs_of_many`.
    """

    coins = True

    @abstractmethod
    def chances(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes), the same for all noise."""

    @abstractmethod
    def draw_seeded(
        self, counts: NDArray, parameters: Parameters, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label per query from a seeded stream."""

    def merged_chances(
        self, merged: Merged, wanted: NDArray[np.bool_], parameters: Parameters
    ) -> NDArray[np.float64]:
        """Return Pr[label] of the pairs of merged counts that are wanted, within MERGED_ERROR.

        Laws of any number of classes whose pairs are known have it: for very many classes.
        """
        raise ValueError(f"n_classes = {merged.n_classes}: the law is for few classes only")

    def cover(self, task: Task, parameters: Parameters) -> Pairs:
        """Return pairs whose mixtures dominate all that moved votes do to one label."""
        raise ValueError(f"n_classes = {task.n_classes}: no pairs of neighbours are known")

    def distribution(self, counts, parameters, secure=False):
        counts = np.asarray(counts)
        if counts.shape[1] > 2:
            if self.n_classes == 2:
                raise ValueError(f"counts of {counts.shape[1]} classes: the law is for two only")
            return self.chances(counts, parameters)
        K = int(counts[0].sum())
        if K > _MANY_VOTES:  # of those that there are
            ones, of = np.unique(counts[:, 1], return_inverse=True)
            return self.chances(np.stack([K - ones, ones], axis=1), parameters)[of.ravel()]
        return self.chances(both_counts(K), parameters)[counts[:, 1]]

    def draw(self, counts, parameters, source):
        """Draw by the law's own sampler, or by exact coins."""
        counts = np.asarray(counts)
        if not source.secure:
            return self.draw_seeded(counts, parameters, source.generator)
        if counts.shape[1] > 2:
            raise ValueError(f"noise = secure: drawn for two classes only, not {counts.shape[1]}")
        return draw_coins(self.distribution(counts, parameters))

    def pairs(self, task, parameters):
        """Return the table of two classes; for more, what dominates, and votes for two alone.

        Raises ValueError for more than two classes if no pairs are known of so many votes moved.
        """
        self.require_pairs(task)
        K, C, moves = task.votes_in_all, task.n_classes, task.moved
        errors = self.error(K, C, parameters)
        error, spare = errors["relative_error"], errors["absolute_error"]
        if C == 2:
            return two_class_pairs(
                lambda counts: self.chances(counts, parameters), error, spare, task
            )
        moved = np.unique(np.linspace(moves, K, _MOST_PLAYED).astype(np.int64))
        if K > _MANY_VOTES:  # near a tie each number counts
            tie = (K + moves - 1) // 2 + np.arange(-_MOST_PLAYED // 4, _MOST_PLAYED // 4)
            moved = np.union1d(moved[::2], np.clip(tie, moves, K))
        if C >= MANY_CLASSES:  # all others are alike: together they are one outcome
            spare += C * MERGED_ERROR
            before, after = (
                self._of_two(votes, task, parameters) for votes in (moved, moved - moves)
            )
        else:
            counts = np.zeros((2, moved.size, C), dtype=np.int64)
            counts[0, :, 0], counts[1, :, 0] = moved, moved - moves
            counts[:, :, 1] = K - counts[:, :, 0]
            before, after = (self.chances(some, parameters) for some in counts)
        played = Pairs(before, after, error, spare)
        finer = _FINER if K > _MANY_VOTES else 1.0
        by_cover = C >= MANY_CLASSES
        return Covered(self.cover(task, parameters), played, by_cover=by_cover, finer=finer)

    def _of_two(self, votes: NDArray, task: Task, parameters: Parameters) -> NDArray[np.float64]:
        """Pr[a], Pr[b] and Pr[another] where a has these votes and b all others, (votes, 3)."""
        merged = of_two(votes, task.votes_in_all - votes, task.n_classes)
        wanted = np.ones(len(merged.gap), dtype=bool)
        chances = self.merged_chances(merged, wanted, parameters)
        return (chances * merged.multiplicity)[merged.home]


def two_class_pairs(
    chances: Callable[[NDArray], NDArray], error: float, spare: float, task: Task
) -> Family:
    """Return the family of a label of two classes; what is negligible takes 2e-9 of delta.

    chances: Pr[label] of counts (n, 2), (n, 2), which is asked for the votes near a tie alone where
    there are very many. error, spare: of it, as in `of_table`.
    """
    negligible = min(_NEGLIGIBLE, 1e-9 * task.delta / task.labels)
    table = _near_a_tie(chances, task.votes_in_all, negligible / 2, task.moved)
    rest = len(table) <= task.votes_in_all
    return of_table(table, error, spare, negligible=negligible, moved=task.moved, rest=rest)


def _near_a_tie(
    chances: Callable[[NDArray], NDArray], K: int, least: float, moved: int
) -> NDArray[np.float64]:
    """Pr[label] up to a lead beyond which, and after a move, one has at most the least."""
    middle, lead = (K + 1) // 2, max(MANY_TEACHERS // 2, 2 * moved)
    while lead < middle:
        ones = np.arange(middle - lead, K - middle + lead + 1)
        table = chances(np.stack([K - ones, ones], axis=1))
        if max(table[moved, 1], table[-1 - moved, 0]) <= least:
            return table
        lead *= 2
    return chances(both_counts(K))


def draw_coins(chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw one label per row of Pr[label], (queries, 2), by coins from the system's entropy.

    The likelier label is flipped by a coin whose probability is the other one's float, so that the
    label has the law of the table's floats, exactly.
    """
    flip = secure_noise.coins(chances.min(axis=1))
    return (chances.argmax(axis=1) ^ flip).astype(np.int64)
