"""Mechanisms whose label on two classes follows a table in closed form and is drawn from it."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import sixty_digits
from private_ensembles.mechanisms.families.base import Mechanism, Parameters
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.noise import secure as exact
from private_ensembles.noise.sources import Seeded


class TableMechanism(Mechanism):
    """Noise on counts without an exact sampler of its own: secure labels are coins of the table.

    The likelier label is flipped by an exact coin, whose probability is the other one's float in
    the table. One label of a budget is audited as these floats have it, in sixty digits.
    """

    def further_refusal(self, task: Task) -> str | None:
        """Grant secure noise for one label of two classes only."""
        if task.secure and (reason := self.coin_refusal(task.labels, task.n_classes)):
            return reason
        return super().further_refusal(task)

    def secure_refusal(self, parameters, n_classes):
        """Refuse parameters for the same reason as a task."""
        found = super().secure_refusal(parameters, n_classes)
        return found or self.coin_refusal(parameters.labels, n_classes)

    @staticmethod
    def coin_refusal(labels: int, n_classes: int) -> str | None:
        """Return why coins of the table prove nothing of that many labels and classes, or None."""
        if n_classes == 2 and labels == 1:
            return None
        return "has no sampler for noise: secure beyond one label of two classes"

    def calibrate(self, task, **free):
        """Calibrate as every mechanism does, and prove it of the coins."""
        return self.proven_of_coins(super().calibrate(task, **free), task)

    def proven_of_coins(self, found: Parameters, task: Task) -> Parameters:
        """Return the parameters; one secure label of two classes is proven of the coins themselves.

        Raises ValueError if they cost more than delta: for parameters that another job found, or
        if rounding takes more than delta leaves.
        """
        if task.secure and found.labels == 1 and task.n_classes == 2:
            spent = coins_delta(self.table(task.n_teachers, found), task.epsilon)
            if spent > Decimal(task.delta):
                raise ValueError(f"delta = {task.delta}: coins of {self.name} cost {spent:.17g}")
        return found

    @abstractmethod
    def table(self, n_teachers: int, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label | n of K teachers vote 1], (K + 1, 2)."""

    def many_classes(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes), for more than two classes."""
        raise ValueError(f"{self.name}: is for two classes only")

    @abstractmethod
    def draw(self, counts: NDArray, parameters: Parameters, noise: Seeded) -> NDArray[np.int64]:
        """Draw one label per query from a seeded stream."""

    def distribution(self, counts, parameters, secure=False):
        """Return the table, or what serves more classes; it is the same for all noise."""
        counts = np.asarray(counts)
        if counts.shape[1] > 2:
            return self.many_classes(counts, parameters)
        return self.table(int(counts[0].sum()), parameters)[counts[:, 1]]

    def sample(self, counts, parameters, noise):
        """Draw by the mechanism's own sampler, or by exact coins."""
        counts = np.asarray(counts)
        if not noise.secure:
            return self.draw(counts, parameters, noise)
        if counts.shape[1] > 2:
            raise ValueError(f"noise = secure: {self.name} draws it for two classes only")
        chances = self.distribution(counts, parameters)
        flip = exact.coins(chances.min(axis=1))
        return (chances.argmax(axis=1) ^ flip).astype(np.int64)


def coins_delta(table: NDArray[np.float64], epsilon: float) -> Decimal:
    """Return the delta of one label drawn by coins, to some fifty digits.

    table: (K + 1, 2), of which a coin has the smaller float of each row as its probability.
    Neighbours are rows next to each other, in both orders. As e^epsilon >= 1, at most one of the
    two labels is likelier than the neighbour allows.
    """
    least, likelier = table.min(axis=1), table.argmax(axis=1)
    # Equal rows next to each other tell nothing: of a million teachers, nearly all.
    other = np.append(True, (np.diff(least) != 0) | (np.diff(likelier) != 0))
    with sixty_digits():
        growth = Decimal(epsilon).exp()
        ones = [
            1 - Decimal(chance) if one else Decimal(chance)
            for chance, one in zip(least[other].tolist(), likelier[other].tolist(), strict=True)
        ]
        pairs = [*itertools.pairwise(ones), *itertools.pairwise(ones[::-1])]
        excesses = [one for p, q in pairs for one in (p - growth * q, 1 - p - growth * (1 - q))]
        return max(Decimal(0), *excesses)
