"""Laws that are a row of probabilities per count, drawn by a sampler or by exact coins."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    MANY_TEACHERS,
    DominatingPairs,
    dominating_pairs_from_table,
)
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base import secure as secure_noise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import Task

# With very many teachers, labels of at most this probability are merged into one.
_NEGLIGIBLE = 1e-21
# With more votes than this, a table has rows only for the counts that occur.
_MANY_VOTES = 1000


class TableLaw(Law):
    """Noise without an exact sampler of its own: secure labels of two classes are coins."""

    @property
    def draws_exact_bernoulli(self) -> bool:
        """Whether secure labels of two classes are exact coins."""
        return True

    @abstractmethod
    def probabilities(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes), the same for all sources of noise."""

    @abstractmethod
    def draw_seeded(
        self, counts: NDArray, parameters: Parameters, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label per query, (queries,), from a seeded stream."""

    def distribution(self, counts, parameters, *, secure=False):
        counts = np.asarray(counts)
        if counts.shape[1] > 2:
            if self.n_classes == 2:
                raise ValueError(f"counts of {counts.shape[1]} classes: the law is for two only")
            return self.probabilities(counts, parameters)
        K = int(counts[0].sum())
        if K > _MANY_VOTES:
            ones, row_of_query = np.unique(counts[:, 1], return_inverse=True)
            table = self.probabilities(np.stack([K - ones, ones], axis=1), parameters)
            return table[row_of_query.ravel()]
        return self.probabilities(both_counts(K), parameters)[counts[:, 1]]

    def draw(self, counts, parameters, source):
        """Draw by the law's own sampler, or by exact coins."""
        counts = np.asarray(counts)
        if not source.secure:
            return self.draw_seeded(counts, parameters, source.generator)
        if counts.shape[1] > 2:
            raise ValueError(f"noise = secure: drawn for two classes only, not {counts.shape[1]}")
        return draw_bernoulli_labels(self.distribution(counts, parameters))

    def dominating_pairs(self, task, parameters):
        """Return the pairs of the table of two classes."""
        self.require_dominating_pairs(task)
        errors = self.numerical_error(task.ensemble.teachers, 2, parameters)
        return label_dominating_pairs(
            lambda counts: self.probabilities(counts, parameters),
            errors["relative_error"],
            errors["absolute_error"],
            task,
        )


def label_dominating_pairs(
    probabilities: Callable[[NDArray], NDArray],
    relative_error: float,
    absolute_error: float,
    task: Task,
) -> DominatingPairs:
    """Return the dominating pairs of a label of two classes.

    What is negligible takes 2e-9 of delta.

    Args:
        probabilities: Returns Pr[label], (n, 2), of counts (n, 2). With very many teachers only
            counts near a tie are passed to it.
        relative_error: Of its values, as in `dominating_pairs_from_table`.
        absolute_error: Of its values, likewise.
        task: Says how many teachers and labels there are, how many votes move, and what delta is.
    """
    negligible = min(_NEGLIGIBLE, 1e-9 * task.budget.delta / task.wanted.labels)
    table = _tabulate_near_tie(
        probabilities, task.ensemble.teachers, negligible / 2, task.protection.reach
    )
    return dominating_pairs_from_table(
        table,
        relative_error,
        absolute_error,
        negligible=negligible,
        group_size=task.protection.reach,
        rows_left_out=len(table) <= task.ensemble.teachers,
    )


def _tabulate_near_tie(
    probabilities: Callable[[NDArray], NDArray], K: int, negligible: float, group_size: int
) -> NDArray[np.float64]:
    """Return Pr[label] up to a lead beyond which one label is negligible, even after a move.

    If there is no such lead, the table has rows for all counts.
    """
    middle, lead = (K + 1) // 2, max(MANY_TEACHERS // 2, 2 * group_size)
    while lead < middle:
        ones = np.arange(middle - lead, K - middle + lead + 1)
        table = probabilities(np.stack([K - ones, ones], axis=1))
        if max(table[group_size, 1], table[-1 - group_size, 0]) <= negligible:
            return table
        lead *= 2
    return probabilities(both_counts(K))


def draw_bernoulli_labels(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw one label per query as an exact coin from the system's entropy.

    The likelier label is flipped by a coin whose probability is the other one's float, so that the
    label has the law of the table's floats, exactly.

    Args:
        probabilities: (queries, 2) float64, Pr[label].

    Returns:
        (queries,) int64.
    """
    flip = secure_noise.draw_bernoulli(probabilities.min(axis=1))
    return (probabilities.argmax(axis=1) ^ flip).astype(np.int64)
