"""What the catalogue says about one mechanism, and how a table of probabilities becomes that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.divergence import delta_curve, worst_pair
from private_ensembles.audit.histograms import two_class_pairs

_NEXT = 1 + 1e-6


@dataclass(frozen=True)
class ConfidentNoise:
    """PATE's aggregators, in votes: LNMax's scale; T, sigma1 and sigma2 of the confident ones.

    score: what the student of Interactive-GNMax gives class 1 on the query at hand (public).
    """

    scale: float
    threshold: float
    sigma1: float
    sigma2: float
    score: float


@dataclass(frozen=True)
class BaggingNoise:
    """DPBag's: n_shards shards in each of k partitions (1: SAA), lambda = rate per averaged vote.

    share: m(x; u), the larger share of the record's k teachers that agree; 1 serves every record.
    """

    n_shards: int
    k: int
    rate: float
    share: float = 1.0


@dataclass(frozen=True)
class Setting:
    """K teachers, two classes; one label may cost (epsilon, delta).

    teacher_epsilon, teacher_Delta: what one private teacher costs (add_remove); gamma: by name,
    DaRRM's noise functions, private at (epsilon, delta_gamma).
    """

    K: int
    epsilon: float
    delta: float
    teacher_epsilon: float
    teacher_Delta: float
    delta_gamma: float
    gamma: dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Worst:
    """An exact epsilon and the two inputs, as the sampler takes them, between which it arises."""

    epsilon: float
    first: NDArray
    second: NDArray


@dataclass(frozen=True)
class Entry:
    """One mechanism: its claim, and how to audit it.

    epsilon: claimed at delta. proven: the least upper bound at delta that the module proves. worst
    (noise, delta): the exact epsilon at delta, an upper bound up to rounding. sample(noise): the
    sampler that `audit.epsilon_lower_bound` takes; it returns `labels`, -1 for no answer. curve
    (epsilons): the exact delta of one label at each, upper bounds.
    """

    name: str
    epsilon: float
    delta: float
    proven: float
    privacy_model: str
    adjacency: str
    worst: Callable[[float, float], Worst]
    sample: Callable[[float], Callable]
    curve: Callable[[NDArray], NDArray]
    labels: tuple[int, ...] = (0, 1)

    def exact_epsilon(self) -> float:
        """The exact epsilon next to the claim's delta, at delta times 1 + 1e-6.

        A leak that uses up delta to its last bit must not read as an infinite loss.
        """
        return self.worst(1.0, min(1.0, self.delta * _NEXT)).epsilon


@dataclass(frozen=True)
class OnCounts:
    """A mechanism on the number of teachers that say 1.

    matrix(noise): (K + 1, outcomes), of relative `error`. release(noise, counts, generator): one
    outcome per count.
    """

    matrix: Callable[[float], NDArray]
    release: Callable[[float, NDArray, np.random.Generator], NDArray]
    error: float


def counted(
    name: str,
    n_teachers: int,
    claim: tuple[float, float],
    mechanism: OnCounts,
    *,
    proven: float | None = None,
    labels: tuple[int, ...] = (0, 1),
    pairs: NDArray | None = None,
) -> Entry:
    """Entry of a mechanism on counts, of which one moves by one: disjoint shards.

    claim: (epsilon, delta). proven: None where the claim is proven as it stands. pairs: of
    neighbouring counts, where they differ otherwise.
    """
    moved = two_class_pairs(n_teachers) if pairs is None else pairs
    errors = {"relative_error": mechanism.error, "absolute_error": 1e-300}

    def worst(noise: float, delta: float) -> Worst:
        pair = worst_pair(mechanism.matrix(noise), moved, delta=delta, **errors)
        return Worst(pair.value, np.array(pair.first), np.array(pair.second))

    def sample(noise: float) -> Callable:
        def draw(ones, runs, generator):
            return mechanism.release(noise, np.full(runs, int(ones)), generator)

        return draw

    def curve(epsilons: NDArray) -> NDArray:
        return delta_curve(mechanism.matrix(1.0), moved, epsilons, **errors)

    epsilon, delta = claim
    known = epsilon if proven is None else proven
    model = ("disjoint_shards", "replace_one")
    return Entry(name, epsilon, delta, known, *model, worst, sample, curve, labels)


def normal_error(reach: float) -> float:
    """Relative error of normal tails up to `reach` standard deviations, sums and products included.

    An argument's rounding weighs as much as its square. Tails beyond 40 are below 1e-300, which is
    granted as an absolute error (`counted`).
    """
    return 1e-12 * (1 + min(reach, 40.0) ** 2)


def both_counts(ones: NDArray, n_teachers: int) -> NDArray[np.int64]:
    """Votes for 0 and for 1, (..., 2)."""
    return np.stack([n_teachers - ones, ones], axis=-1)
