"""Laws that are a row of probabilities per count: drawn by their own sampler, or by exact coins."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.labels_together.families import MANY_TEACHERS, Family, of_table
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base import secure as secure_noise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Task

# Of very many teachers, labels of at most this probability count as one.
_NEGLIGIBLE = 1e-21
# Of so many votes a table has rows for those that there are alone.
_MANY_VOTES = 1000


class TableLaw(Law):
    """Noise without an exact sampler of its own: secure labels of two classes are coins."""

    coins = True

    @abstractmethod
    def chances(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes), the same for all noise."""

    @abstractmethod
    def draw_seeded(
        self, counts: NDArray, parameters: Parameters, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label per query from a seeded stream."""

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
        """Return the table of two classes."""
        self.require_pairs(task)
        errors = self.error(task.ensemble.teachers, 2, parameters)
        return two_class_pairs(
            lambda counts: self.chances(counts, parameters),
            errors["relative_error"],
            errors["absolute_error"],
            task,
        )


def two_class_pairs(
    chances: Callable[[NDArray], NDArray], error: float, spare: float, task: Task
) -> Family:
    """Return the family of a label of two classes; what is negligible takes 2e-9 of delta.

    chances: Pr[label] of counts (n, 2), (n, 2), which is asked for the votes near a tie alone where
    there are very many. error, spare: of it, as in `of_table`.
    """
    negligible = min(_NEGLIGIBLE, 1e-9 * task.budget.delta / task.wanted.labels)
    table = _near_a_tie(chances, task.ensemble.teachers, negligible / 2, task.protection.reach)
    rest = len(table) <= task.ensemble.teachers
    return of_table(
        table, error, spare, negligible=negligible, moved=task.protection.reach, rest=rest
    )


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
