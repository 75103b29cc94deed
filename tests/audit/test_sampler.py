"""Lower bounds from repeated runs: they hold as often as they say, and catch what is wrong."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from private_ensembles.audit import delta_lower_bound, epsilon_lower_bound
from private_ensembles.audit.sampler import clopper_pearson, events


def biased_coin(histogram, runs, generator):
    """Label 1 with the first entry as its probability."""
    return (generator.random(runs) < histogram[0]).astype(int)


@pytest.mark.parametrize(("runs", "error"), [(1, 0.05), (20, 0.01), (1000, 1e-6)])
def test_clopper_pearson_bounds_are_the_binomial_tails(runs, error):
    successes = np.arange(0, runs + 1, max(1, runs // 20))
    lower, upper = clopper_pearson(successes, runs, error)
    assert lower[0] == 0
    for k, low, high in zip(successes, lower, upper, strict=True):
        if k > 0:  # Pr[X >= k] at the lower bound is the error
            assert binom.sf(k - 1, runs, low) == pytest.approx(error, rel=1e-5)
            assert binom.sf(k - 1, runs, low) <= error
        if k < runs:
            assert binom.cdf(k, runs, high) == pytest.approx(error, rel=1e-5)
            assert binom.cdf(k, runs, high) <= error


def test_bound_is_wrong_as_rarely_as_stated():
    true = math.log(0.6 / 0.4)
    wrong = 0
    for seed in range(400):
        found = epsilon_lower_bound(
            biased_coin,
            [0.6],
            [0.4],
            0.0,
            labels=(0, 1),
            runs=200,
            generator=np.random.default_rng(seed),
            confidence=0.8,
        )
        wrong += found.value > true
    # Expected at most 80; Bonferroni makes it far fewer.
    assert wrong <= 80


def test_bound_grows_towards_the_truth_with_the_runs():
    true = math.log(0.6 / 0.4)
    values = [
        epsilon_lower_bound(
            biased_coin,
            [0.6],
            [0.4],
            0.0,
            labels=(0, 1),
            runs=runs,
            generator=np.random.default_rng(1),
        ).value
        for runs in (100, 10_000, 1_000_000)
    ]
    assert values[0] < values[1] < values[2] < true
    assert values[2] > 0.98 * true


def test_delta_bound_and_direction_are_found():
    found = delta_lower_bound(
        biased_coin,
        [0.0],
        [1.0],
        5.0,
        labels=(0, 1),
        runs=20_000,
        generator=np.random.default_rng(0),
    )
    assert 0.9 < found.value < 1
    assert found.successes in ((20_000, 0), (0, 20_000))
    none = delta_lower_bound(
        biased_coin,
        [0.5],
        [0.5],
        1.0,
        labels=(0, 1),
        runs=2000,
        generator=np.random.default_rng(0),
    )
    assert none.value == 0
    assert none.event == ()


def test_no_answer_is_a_label_like_any_other():
    def silent(histogram, runs, generator):
        return np.where(generator.random(runs) < histogram[0], -1, 1)

    found = epsilon_lower_bound(
        silent,
        [0.9],
        [0.1],
        0.0,
        labels=(-1, 0, 1),
        runs=20_000,
        generator=np.random.default_rng(0),
    )
    assert 1.9 < found.value < math.log(9)
    assert events((-1, 0, 1)) == [(-1,), (-1, 0), (-1, 1), (0,), (0, 1), (1,)]
    assert events((0, 1)) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"delta": 1.0}, "delta"),
        ({"confidence": 1.0}, "confidence"),
        ({"labels": (0,)}, "labels"),
        ({"labels": (0, 2)}, "sample also returns 1"),
        ({"runs": 0}, "runs"),
        ({"sample": lambda h, r, g: np.zeros(3, int)}, "sample: returned shape"),
    ],
)
def test_bad_input_is_named(change, name):
    arguments = {
        "sample": biased_coin,
        "first": [0.6],
        "second": [0.4],
        "delta": 0.0,
        "labels": (0, 1),
        "runs": 50,
        "generator": np.random.default_rng(0),
    }
    with pytest.raises(ValueError, match=name):
        epsilon_lower_bound(**(arguments | change))


def test_epsilon_and_interval_arguments_out_of_range_are_named():
    with pytest.raises(ValueError, match="epsilon"):
        delta_lower_bound(
            biased_coin,
            [0.6],
            [0.4],
            -1.0,
            labels=(0, 1),
            runs=5,
            generator=np.random.default_rng(0),
        )
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson([3], 2, 0.1)
    with pytest.raises(ValueError, match="error"):
        clopper_pearson([1], 2, 0.0)


def test_delta_is_asked_for_at_epsilon_zero_as_well():
    found = delta_lower_bound(
        biased_coin,
        [0.0],
        [0.5],
        0.0,
        labels=(0, 1),
        runs=2000,
        generator=np.random.default_rng(0),
    )
    assert 0.4 < found.value < 0.5


def test_labels_named_twice_or_in_another_order_count_once():
    assert events((1, 0, -1, 0)) == events((-1, 0, 1))
    assert events([1, 0, 1]) == [(0,), (1,)]
