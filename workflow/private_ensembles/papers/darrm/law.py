"""DaRRM on two classes (Algorithm 1): the majority with probability gamma, else a fair coin."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit.audited_labels import SharedDataLabel
from private_ensembles.base import checks, secure
from private_ensembles.base.noise_sources import NoiseSource
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Parameters
from private_ensembles.papers.darrm.mathematics.gamma import (
    check_gamma,
    gamma_subsampling,
    label_probability,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma

# The p_i are common: with independent ones the objective says nothing about close votes of many
# teachers.
_PRIOR = "common:0.5,1"


@dataclass(frozen=True)
class NoisyMajority(Parameters):
    """The parameters of DaRRM's labels.

    Attributes:
        m: allowance of one label; K means the plain majority of all teachers.
        labels: how many there are.
        K: odd number of teachers.
        delta: that of the label.
        teacher_epsilon: one teacher's, for the task's adjacency.
        teacher_Delta: one teacher's, for the task's adjacency.
        gamma: (K + 1,), if it is known; None: the law's own at m.
    """

    m: float
    labels: int
    K: int
    delta: float
    teacher_epsilon: float
    teacher_Delta: float
    gamma: NDArray | None = field(default=None, compare=False)

    @property
    def teacher(self) -> tuple[float, float]:
        """Return what one teacher costs."""
        return self.teacher_epsilon, self.teacher_Delta


def release(counts: ArrayLike, gamma: ArrayLike, source: NoiseSource) -> NDArray[np.uint8]:
    """Release one label for every count of teachers that say 1 (Algorithm 1).

    Args:
        counts: any shape, int in 0..K.
        gamma: (K + 1,), symmetric, in [0, 1].
        source: `SeededNoise` is drawn from twice per count (the coin, and the random answer it may
            call for); `SecureNoise` gives exact coins from the system's entropy, whose
            probabilities are these very floats, so that gamma's certificate covers the release.

    Returns:
        Labels 0 or 1 in the shape of counts.

    Raises:
        ValueError: counts are out of range, or gamma is no noise function.

    >>> from private_ensembles.base.noise_sources import SeededNoise
    >>> gamma = np.ones(4)  # of 3 teachers, and without any noise
    >>> release([0, 1, 2, 3], gamma, SeededNoise(np.random.default_rng(0))).tolist()
    [0, 0, 1, 1]
    """
    gamma = check_gamma(gamma)
    checks.check_unmasked(counts=counts)
    counts = np.asarray(counts)
    K = len(gamma) - 1
    if counts.size and counts.dtype.kind not in "iu":
        raise ValueError(f"counts: {counts.dtype}: must be integers")
    if counts.size and not (counts.min() >= 0 and counts.max() <= K):
        raise ValueError(f"counts: must lie in 0..K = {K}")
    counts = counts.astype(np.int64)  # twice a count may be too much for its own type
    if source.secure:
        keep, guess = secure.draw_bernoulli(gamma[counts]), secure.fair_bits(counts.shape)
        return np.where(keep, 2 * counts > K, guess).astype(np.uint8)
    coin = source.generator.random(counts.shape) < gamma[counts]
    guess = source.generator.integers(0, 2, counts.shape, dtype=np.uint8)
    return np.where(coin, (2 * counts > K).astype(np.uint8), guess)


@dataclass(frozen=True)
class DarrmLaw(Law):
    """DaRRM's labels of private teachers, which may share all data.

    What one record does to the votes themselves is not bounded, so that teachers are audited and no
    histogram.

    Attributes:
        noise_function: gamma, (K + 1,), that is private at m < K.
    """

    noise_function: Callable[[NoisyMajority], NDArray[np.float64]]
    n_classes = 2
    draws_query_by_query = False  # all coins come first

    def gamma(self, parameters: NoisyMajority) -> NDArray[np.float64]:
        """Return the noise function, (K + 1,), that releases labels."""
        if parameters.gamma is not None:
            return parameters.gamma
        if parameters.m == parameters.K:
            return np.ones(parameters.K + 1)
        return self.noise_function(parameters)

    def distribution(self, counts, parameters, secure=False):
        """Return DaRRM's own distribution, which is exact for every source of noise."""
        ones = label_probability(self.gamma(parameters))[np.asarray(counts)[:, 1]]
        return np.stack([1 - ones, ones], axis=1)

    def numerical_error(self, n_teachers, n_classes, parameters, secure=False):
        """Return by how much `distribution` may be off."""
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def draw(self, counts, parameters, source):
        """Release the labels of histograms, (queries, 2), by Algorithm 1."""
        return release(np.asarray(counts)[:, 1], self.gamma(parameters), source)

    def scale_noise(self, parameters, factor):
        """Return a half-noise twin's gamma: coins with `factor` times the probability."""
        return replace(parameters, gamma=1 - factor * (1 - self.gamma(parameters)))

    def build_audit(self, task, parameters):
        """Audit one label against all teachers that are as private as stated."""
        gamma = self.gamma(parameters)

        def choose(ones: NDArray, source: NoiseSource) -> NDArray:
            return release(ones, gamma, source)

        return SharedDataLabel(label_probability(gamma), parameters.teacher, choose)


def subsampled_cost(parameters: NoisyMajority) -> float:
    """Return the epsilon of the majority of m teachers, by their optimal composition."""
    return optimal_composition(*parameters.teacher, int(parameters.m), parameters.delta).epsilon


def _subsampled_gamma(parameters: NoisyMajority) -> NDArray[np.float64]:
    """Return the closed form, made smaller by what rounding its values may cost.

    The exact gamma keeps f <= allowance = e^epsilon - 1 + 2 delta (Lemma 3.4), f is linear in
    gamma, and an error of u = 2^-53 in each value moves it by at most (1 + e^epsilon) u. So
    does gamma (1 - s), rounded, if s allowance is more than a few times that.
    """
    epsilon = subsampled_cost(parameters)
    allowance = math.expm1(epsilon) + 2 * parameters.delta
    slack = 2**-50 * (1 + math.exp(epsilon)) / allowance
    return gamma_subsampling(parameters.K, int(parameters.m)) * (1 - slack)


@lru_cache(maxsize=256)
def _optimal_gamma(parameters: NoisyMajority) -> NDArray[np.float64]:
    """Return the optimal gamma for any real m, certified for (m epsilon, delta)."""
    epsilon, Delta = parameters.teacher
    return optimize_gamma(
        parameters.K,
        float(parameters.m),
        float(epsilon),
        float(Delta),
        float(parameters.delta),
        prior=_PRIOR,
    ).gamma


SUBSAMPLED, OPTIMISED = DarrmLaw(_subsampled_gamma), DarrmLaw(_optimal_gamma)
