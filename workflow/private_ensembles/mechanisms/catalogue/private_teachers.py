"""Mechanisms on private teachers as the audit sees them: their majority, and DaRRM."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.divergence import delta_curve, worst_pair
from private_ensembles.audit.histograms import two_class_matrix
from private_ensembles.audit.shared_data import shared_data_curve, teacher_corners, worst_teachers
from private_ensembles.darrm import release as darrm
from private_ensembles.mechanisms.catalogue.entry import Entry, Setting, Worst


def majority(setting: Setting) -> Entry:
    """One teacher's training changes, the others vote as they do; its epsilon is the noise."""
    K = setting.K
    pivot = (K - 1) // 2 if K % 2 else K // 2

    def probabilities(noise: float) -> NDArray:
        """Pr[the changed teacher says 1], (16,): its corners on one data set, then on the other.

        Input i of the sampler. Only where the others are split evenly does its vote decide.
        """
        return teacher_corners(setting.teacher_epsilon / noise, setting.teacher_Delta).T.ravel()

    pairs = np.stack([np.arange(8), np.arange(8) + 8], axis=1)
    errors = {"relative_error": 1e-14, "absolute_error": 1e-16}

    def worst(noise: float, delta: float) -> Worst:
        pair = worst_pair(two_class_matrix(probabilities(noise)), pairs, delta=delta, **errors)
        return Worst(pair.value, np.array(pair.first), np.array(pair.second))

    def sample(noise: float) -> Callable:
        def draw(place, runs, generator):
            vote = generator.random(runs) < probabilities(noise)[int(place)]
            return (2 * (pivot + vote) > K).astype(np.uint8)

        return draw

    def curve(epsilons: NDArray) -> NDArray:
        return delta_curve(two_class_matrix(probabilities(1.0)), pairs, epsilons, **errors)

    epsilon = setting.teacher_epsilon
    claim = (epsilon, setting.teacher_Delta, epsilon, "disjoint_shards", "add_remove")
    return Entry("majority_private", *claim, worst, sample, curve)


def noise_function(name: str, setting: Setting) -> Entry:
    """DaRRM: all K teachers see all data; less noise is a larger gamma."""
    gamma = setting.gamma[name]

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

    def curve(epsilons: NDArray) -> NDArray:
        teacher = setting.teacher_epsilon, setting.teacher_Delta
        return shared_data_curve(darrm.label_probability(gamma), *teacher, epsilons)

    claim = (setting.epsilon, setting.delta_gamma, setting.epsilon, "shared_data", "add_remove")
    return Entry(name, *claim, worst, sample, curve)
