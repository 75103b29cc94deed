"""DP-SGD's steps against sixty digits, dp-accounting, and the mechanism without sampling."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.training.teachers.sampled_gaussian import (
    composed_epsilon,
    step_hockey_stick_divergences,
)

PAIRS = {
    "removed": (lambda q: {0: 1 - q, 1: q}, lambda q: {0: mpf(1)}),
    "added": (lambda q: {0: mpf(1)}, lambda q: {0: 1 - q, 1: q}),
    "replaced": (lambda q: {0: 1 - q, 1: q}, lambda q: {0: 1 - q, -1: q}),
}


def exact_delta(pair, noise, rate, epsilon):
    """sup over half-lines of Pr - e^epsilon Pr', by bisection for where the densities' ratio is."""
    with mpmath.workdps(60):
        s, q, growth = mpf(noise), mpf(rate), mpmath.exp(mpf(epsilon))
        first, second = (law(q) for law in PAIRS[pair])
        rising = pair != "added"

        def excess(x):
            ours = mpmath.fsum(w * mpmath.npdf(x, m, s) for m, w in first.items())
            return ours - growth * mpmath.fsum(w * mpmath.npdf(x, m, s) for m, w in second.items())

        low, high = mpf(-60) * s, mpf(60) * s + 1
        for _ in range(230):
            middle = (low + high) / 2
            if (excess(middle) > 0) == rising:
                high = middle
            else:
                low = middle

        def mass(law):
            sign = 1 if rising else -1
            return mpmath.fsum(w * mpmath.ncdf(sign * (m - high) / s) for m, w in law.items())

        return mass(first) - growth * mass(second)


@pytest.mark.parametrize(("noise", "rate"), [(12.0, 1 / 32), (1.0, 0.01), (0.7, 1.0), (40.0, 0.5)])
def test_one_step_is_within_what_is_granted(noise, rate):
    curves = dict(
        zip(
            ("removed", "added"),
            step_hockey_stick_divergences(noise, rate, "add_remove"),
            strict=True,
        )
    )
    curves["replaced"] = step_hockey_stick_divergences(noise, rate, "replace_one")[0]
    for pair, curve in curves.items():
        for epsilon in (-1.5, -0.02, -1e-3, 0.0, 1e-4, 0.003, 0.02, 0.7, 3.0):
            exact = max(exact_delta(pair, noise, rate, epsilon), mpf(0))
            assert abs(mpf(float(curve(np.array([epsilon]))[0])) - exact) < 1e-13


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    ("noise", "rate", "steps"), [(12.0, 1 / 32, 160), (1.0, 0.01, 300), (2.0, 0.1, 30)]
)
def test_many_steps_agree_with_dp_accounting(noise, rate, steps, adjacency):
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    relation = {
        "add_remove": NeighboringRelation.ADD_OR_REMOVE_ONE,
        "replace_one": NeighboringRelation.REPLACE_ONE,
    }
    theirs = from_gaussian_mechanism(
        noise,
        value_discretization_interval=1e-4,
        sampling_prob=rate,
        neighboring_relation=relation[adjacency],
    ).self_compose(steps)
    ours = composed_epsilon(noise, rate, steps, 1e-5, adjacency)
    assert ours == pytest.approx(theirs.get_epsilon_for_delta(1e-5), rel=1e-4)


@pytest.mark.keeps("training.teachers.sampled_gaussian:composed_epsilon")
@pytest.mark.parametrize(("adjacency", "moved"), [("add_remove", 1), ("replace_one", 2)])
def test_without_sampling_many_steps_are_one_gaussian(adjacency, moved):
    found = composed_epsilon(30.0, 1.0, 100, 1e-6, adjacency)
    with mpmath.workdps(40):

        def delta(epsilon):
            mu = mpf(moved) * 10 / 30
            e = mpf(epsilon)
            second = mpmath.ncdf(-mu / 2 - e / mu)
            return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * second

        assert delta(found) <= mpf(1e-6) < delta(found * (1 - 1e-5))


def test_almost_no_noise_is_no_privacy():
    assert composed_epsilon(0.04, 0.1, 5, 1e-5, "add_remove") == math.inf
    assert composed_epsilon(0.06, 0.1, 1, 1e-5, "add_remove") > 10
