"""Every mechanism of the registry as the audit sees it, and a doctored twin with less noise.

`entries` builds, for one budget, the mechanism's claim, its exact privacy loss and its sampler.
`noise` = 1 is the mechanism; 0.5 is a twin whose noise is halved, which the audit must catch: a
test that cannot fail would be no test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.divergence import worst_pair
from private_ensembles.audit.histograms import two_class_matrix, two_class_pairs
from private_ensembles.audit.shared_data import teacher_corners, worst_teachers
from private_ensembles.baselines import exponential, ladder, laplace
from private_ensembles.darrm import release as darrm
from private_ensembles.nzc import mechanism as nzc
from private_ensembles.nzc.claims import claimed_readings
from private_ensembles.pate import gnmax


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

    worst(noise, delta): the exact epsilon at delta, an upper bound up to rounding. sample(noise):
    the sampler that `audit.epsilon_lower_bound` takes; it returns labels 0 and 1.
    """

    name: str
    epsilon: float
    delta: float
    privacy_model: str
    adjacency: str
    worst: Callable[[float, float], Worst]
    sample: Callable[[float], Callable]


def entries(setting: Setting) -> dict[str, Entry]:
    """An entry for every mechanism of `registry.MECHANISMS`, in no order.

    Raises ValueError where no noise serves the budget.
    """
    K, budget = setting.K, (setting.epsilon, setting.delta)
    found = {}
    for name, method in (
        ("gnmax", "rdp"),
        ("gnmax_improved", "improved_rdp"),
        ("gnmax_analytic", "analytic"),
        ("gnmax_exact", "exact"),
    ):
        sigma = gnmax.gnmax_sigma(*budget, method=method, n_teachers=K)
        found[name] = _counted(name, setting, *_gnmax(K, sigma))
    for name, method in (("lnmax_pure", "pure"), ("lnmax_exact", "exact")):
        scale = laplace.lnmax_scale(*budget, method=method, n_teachers=K)
        found[name] = _counted(name, setting, *_lnmax(K, scale))
    for name, distribution, release in (
        ("exponential", exponential.exponential_distribution, exponential.exponential_release),
        (
            "permute_and_flip",
            exponential.permute_and_flip_distribution,
            exponential.permute_and_flip_release,
        ),
    ):
        rate = exponential.selection_rate(*budget, distribution, method="exact", n_teachers=K)
        found[name] = _counted(name, setting, *_selection(K, rate, distribution, release))
    found["ladder"] = _counted("ladder", setting, *_ladder(K, *budget))
    found["nzc"] = _nzc(setting)
    found["majority_private"] = _majority(setting)
    for name, gamma in setting.gamma.items():
        found[name] = _darrm(name, setting, gamma)
    return found


def _ones(counts: NDArray, K: int) -> NDArray[np.int64]:
    return np.stack([K - counts, counts], axis=-1)


def _counted(name: str, setting: Setting, matrix, release, error: float) -> Entry:
    """A mechanism on the number of ones: matrix(noise) (K + 1, 2), release(counts, generator)."""

    def worst(noise: float, delta: float) -> Worst:
        pair = worst_pair(
            matrix(noise),
            two_class_pairs(setting.K),
            delta=delta,
            relative_error=error,
            absolute_error=1e-300,
        )
        return Worst(pair.value, np.array(pair.first), np.array(pair.second))

    def sample(noise: float) -> Callable:
        return lambda ones, runs, generator: release(noise, np.full(runs, int(ones)), generator)

    model = ("disjoint_shards", "replace_one")
    return Entry(name, setting.epsilon, setting.delta, *model, worst, sample)


def _gnmax(K: int, sigma: float):
    def matrix(noise: float) -> NDArray:
        ones = gnmax.label_probability(K, noise * sigma)
        return np.stack([ones[::-1], ones], axis=1)  # both tails as exact as each other

    def release(noise, counts, generator):
        return gnmax.release(counts, K, noise * sigma, generator)

    return matrix, release, 1e-12


def _lnmax(K: int, scale: float):
    def release(noise, counts, generator):
        return laplace.release(counts, K, generator, scale=noise * scale)

    return lambda noise: laplace.lnmax_matrix(K, noise * scale), release, laplace.RELATIVE_ERROR


def _selection(K: int, rate: float, distribution, choose):
    def matrix(noise: float) -> NDArray:
        return distribution(_ones(np.arange(K + 1), K), rate / noise)

    def release(noise, counts, generator):
        return choose(_ones(counts, K), generator, rate=rate / noise)

    return matrix, release, exponential.RELATIVE_ERROR


def _ladder(K: int, epsilon: float, delta: float):
    exact = ladder.ladder_matrix(K, epsilon, delta)

    def matrix(noise: float) -> NDArray:
        flips = noise * exact.min(axis=1)
        majority = np.argmax(exact, axis=1)[:, None] == np.arange(2)
        return np.where(majority, 1 - flips[:, None], flips[:, None])

    def release(noise, counts, generator):
        if noise == 1:
            return ladder.release(counts, K, generator, epsilon=epsilon, delta=delta)
        return (generator.random(counts.shape) < matrix(noise)[counts, 1]).astype(np.uint8)

    return matrix, release, 2.0**-52


def _nzc(setting: Setting) -> Entry:
    """Claimed: Theorem 4 for one query, gamma = 1e10 read as a scale."""

    def matrix(noise: float) -> NDArray:
        counts = _ones(np.arange(setting.K + 1), setting.K)
        return nzc.label_distribution(counts, noise_scale=noise * 1e10)[0]

    def release(noise, counts, generator):
        return nzc.immutable_noisy_argmax(
            _ones(counts, setting.K), generator, noise_scale=noise * 1e10
        )

    built = _counted("nzc", setting, matrix, release, nzc.RELATIVE_ERROR)
    claim = claimed_readings(1e10, 1, setting.delta)["scale"]
    return Entry("nzc", claim, setting.delta, *("disjoint_shards", "replace_one"), built.worst,
                 built.sample)  # fmt: skip


def _majority(setting: Setting) -> Entry:
    """One teacher's training changes, the others vote as they do; its epsilon is the noise."""
    K = setting.K
    pivot = (K - 1) // 2 if K % 2 else K // 2

    def probabilities(noise: float) -> NDArray:
        """Pr[the changed teacher says 1], (16,): its corners on one data set, then on the other.

        Input i of the sampler. Only where the others are split evenly does its vote decide.
        """
        return teacher_corners(setting.teacher_epsilon / noise, setting.teacher_Delta).T.ravel()

    def worst(noise: float, delta: float) -> Worst:
        matrix = two_class_matrix(probabilities(noise))
        pairs = np.stack([np.arange(8), np.arange(8) + 8], axis=1)
        pair = worst_pair(matrix, pairs, delta=delta, relative_error=1e-14, absolute_error=1e-16)
        return Worst(pair.value, np.array(pair.first), np.array(pair.second))

    def sample(noise: float) -> Callable:
        def draw(place, runs, generator):
            vote = generator.random(runs) < probabilities(noise)[int(place)]
            return (2 * (pivot + vote) > K).astype(np.uint8)

        return draw

    claim = (setting.teacher_epsilon, setting.teacher_Delta, "disjoint_shards", "add_remove")
    return Entry("majority_private", *claim, worst, sample)


def _darrm(name: str, setting: Setting, gamma: NDArray) -> Entry:
    """All K teachers see all data; less noise is a larger gamma."""

    def less_noise(noise: float) -> NDArray:
        return 1 - noise * (1 - gamma)

    def worst(noise: float, delta: float) -> Worst:
        found = worst_teachers(
            darrm.label_probability(less_noise(noise)),
            setting.teacher_epsilon,
            setting.teacher_Delta,
            delta,
        )
        return Worst(found.epsilon, found.first, found.second)

    def sample(noise: float) -> Callable:
        def draw(p, runs, generator):
            counts = (generator.random((runs, setting.K)) < p).sum(axis=1)
            return darrm.release(counts, less_noise(noise), generator)

        return draw

    claim = (setting.epsilon, setting.delta_gamma, "shared_data", "add_remove")
    return Entry(name, *claim, worst, sample)
