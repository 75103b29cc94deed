"""Mechanisms whose label on two classes follows a table in closed form and is drawn from it."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from private_ensembles.mechanisms.families.base import Mechanism, Parameters
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.noise import secure


class TableMechanism(Mechanism):
    """Noise on counts without an exact sampler of its own: secure labels are coins of the table.

    The majority's label is flipped by an exact coin: both probabilities of the table keep their
    relative error, which the audit behind the noise's scale has granted for one label.
    """

    def further_refusal(self, task: Task) -> str | None:
        """Secure noise is granted for one label of two classes."""
        if task.secure and (task.n_classes != 2 or task.labels > 1):
            return "has no sampler for noise: secure but for one label of two classes"
        return super().further_refusal(task)

    @abstractmethod
    def table(self, n_teachers: int, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label | n of K teachers vote 1], (K + 1, 2)."""

    def many_classes(self, counts: NDArray, parameters: Parameters) -> NDArray[np.float64]:
        """Return Pr[label], (queries, classes), for more than two classes."""
        raise ValueError(f"{self.name}: is for two classes only")

    def draw(
        self, counts: NDArray, parameters: Parameters, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label per query from a seeded stream."""
        raise NotImplementedError

    def distribution(self, counts, parameters, noise=None):
        """The table, or what serves more classes; the same for every source of noise."""
        counts = np.asarray(counts)
        if counts.shape[1] > 2:
            return self.many_classes(counts, parameters)
        return self.table(int(counts[0].sum()), parameters)[counts[:, 1]]

    def sample(self, counts, parameters, noise):
        """By the mechanism's own sampler, or by exact coins."""
        counts = np.asarray(counts)
        if not noise.secure:
            return self.draw(counts, parameters, noise.generator)
        if counts.shape[1] > 2:
            raise ValueError(f"noise = secure: {self.name} draws it for two classes only")
        chances = self.distribution(counts, parameters)
        flip = secure.coins(chances.min(axis=1))
        return (chances.argmax(axis=1) ^ flip).astype(np.int64)
