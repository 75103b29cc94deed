"""Lower bounds from repeated runs: they hold as often as they say, and catch what is wrong.

So do those on anybody's sampler, and twins are caught.
"""

import math
import runpy

import numpy as np
import pytest
from scipy.stats import beta, binom

from private_ensembles.audit import (
    audit_function,
    audit_sampler,
    delta_lower_bound,
    epsilon_lower_bound,
)
from private_ensembles.audit.sampler import clopper_pearson, events


def biased_coin(histogram, runs, generator):
    """Label 1 with the first entry as its probability."""
    return (generator.random(runs) < histogram[0]).astype(int)


def bound_of_coins(bound, first, second, number, runs, seed=0, **options):
    """A bound on two coins, of label 1 with the first and with the second probability."""
    generator = np.random.default_rng(seed)
    inputs = [first], [second]
    return bound(
        biased_coin, *inputs, number, labels=(0, 1), runs=runs, generator=generator, **options
    )


@pytest.mark.keeps("audit.sampler:clopper_pearson")
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


@pytest.mark.keeps("audit.sampler:epsilon_lower_bound")
def test_bound_is_wrong_as_rarely_as_stated():
    true = math.log(0.6 / 0.4)
    wrong = 0
    for seed in range(400):
        found = bound_of_coins(epsilon_lower_bound, 0.6, 0.4, 0.0, 200, seed, confidence=0.8)
        wrong += found.value > true
    # Expected at most 80; Bonferroni makes it far fewer.
    assert wrong <= 80


def test_bound_grows_towards_the_truth_with_the_runs():
    true = math.log(0.6 / 0.4)
    values = [
        bound_of_coins(epsilon_lower_bound, 0.6, 0.4, 0.0, runs, 1).value
        for runs in (100, 10_000, 1_000_000)
    ]
    assert values[0] < values[1] < values[2] < true
    assert values[2] > 0.98 * true


@pytest.mark.parametrize(
    ("first", "second"), [((30, 10), (12, 28)), ((5, 35), (4, 36)), ((30, 8, 2), (12, 8, 20))]
)
@pytest.mark.parametrize(("confidence", "delta"), [(0.9, 0.0), (0.999, 0.02)])
def test_a_bound_pays_for_every_interval_that_it_might_have_used(first, second, confidence, delta):
    """Each event has a lower and an upper bound on both inputs; quantiles of the beta law."""
    labels, runs = tuple(range(len(first))), 40
    tested = events(labels)
    error = (1 - confidence) / (4 * len(tested))

    def sample(histogram, number, generator):
        return np.repeat(labels, histogram)

    best = {"epsilon": 0.0, "delta": 0.0}
    for here, there in ((first, second), (second, first)):
        for event in tested:
            k, other = (sum(counts[label] for label in event) for counts in (here, there))
            lower = beta.ppf(error, k, runs - k + 1) if k else 0.0
            upper = beta.isf(error, other + 1, runs - other) if other < runs else 1.0
            if lower > delta:
                best["epsilon"] = max(best["epsilon"], math.log((lower - delta) / upper))
            best["delta"] = max(best["delta"], lower - math.exp(0.1) * upper)
    given = {"labels": labels, "runs": runs, "generator": None, "confidence": confidence}
    found = epsilon_lower_bound(sample, first, second, delta, **given).value
    assert found == pytest.approx(best["epsilon"], rel=1e-6, abs=1e-9)
    found = delta_lower_bound(sample, first, second, 0.1, **given).value
    assert found == pytest.approx(best["delta"], rel=1e-6, abs=1e-9)


def test_an_epsilon_whose_exponential_overflows_leaves_no_delta_to_prove():
    for epsilon in (699.0, 710.0, 1e300):
        assert bound_of_coins(delta_lower_bound, 0.0, 1.0, epsilon, 100).value == 0


@pytest.mark.keeps("audit.sampler:delta_lower_bound")
def test_delta_bound_and_direction_are_found():
    found = bound_of_coins(delta_lower_bound, 0.0, 1.0, 5.0, 20_000)
    assert 0.9 < found.value < 1
    assert found.successes in ((20_000, 0), (0, 20_000))
    none = bound_of_coins(delta_lower_bound, 0.5, 0.5, 1.0, 2000)
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
        ({"labels": (0, 2)}, "sample also returns 1"),
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


def test_delta_is_asked_for_at_epsilon_zero_as_well():
    found = bound_of_coins(delta_lower_bound, 0.0, 0.5, 0.0, 2000)
    assert 0.4 < found.value < 0.5


def test_labels_named_twice_or_in_another_order_count_once():
    assert events((1, 0, -1, 0)) == events((-1, 0, 1))
    assert events([1, 0, 1]) == [(0,), (1,)]


@pytest.fixture(scope="module")
def example(root):
    return runpy.run_path(str(root / "examples" / "randomized_response.py"))


def test_a_samplers_bound_is_below_the_exact_number_as_often_as_stated(example):
    exact = audit_function(example["labels"], 3, 2).epsilon(0.01)
    runs, wrong = 40, 0
    for seed in range(runs):
        found = audit_sampler(
            example["draw"], 3, 2, 0.01, np.random.default_rng(seed), runs=2000, confidence=0.8
        )
        wrong += found.epsilon > exact
    assert wrong <= 0.2 * runs


@pytest.mark.parametrize(
    ("neighbours", "size"), [("moved_vote", (11, 3)), ("missing_vote", (6, 3))]
)
def test_the_bound_comes_near_the_exact_number_and_finds_where_it_arises(example, neighbours, size):
    exact = audit_function(example["labels"], *size, neighbours=neighbours)
    generator = np.random.default_rng(1)
    found = audit_sampler(example["draw"], *size, 1e-4, generator, neighbours=neighbours)
    assert found.complete
    assert found.pairs == len(exact.pairs)
    assert 0.9 * exact.epsilon(1e-4) < found.epsilon <= exact.epsilon(1e-4)
    labels = exact.matrix[:, list(found.labels)].sum(axis=1)
    rows = exact.inputs.tolist()
    first, second = (labels[rows.index(end.tolist())] for end in (found.first, found.second))
    assert np.log(first / second) > found.epsilon


def test_a_twin_with_half_the_noise_is_caught_and_the_honest_one_is_not(example):
    def twin(counts, generator):
        """Two tosses, and the plurality if either gives it: twice the epsilon, nearly."""
        first, second = (example["draw"](counts, generator) for _ in range(2))
        return np.where(first == counts.argmax(axis=1), first, second)

    honest = audit_sampler(example["draw"], 5, 2, 0.0, np.random.default_rng(2), runs=100_000)
    caught = audit_sampler(twin, 5, 2, 0.0, np.random.default_rng(3), runs=100_000)
    assert honest.epsilon < 1.0 < caught.epsilon


def test_more_histograms_than_can_be_run_leave_those_that_are_most_fragile(example):
    found = audit_sampler(
        example["draw"], 100, 4, 0.0, np.random.default_rng(4), runs=400_000, confidence=0.9
    )
    assert not found.complete
    assert 0.8 < found.epsilon < 1.0


@pytest.mark.parametrize(
    ("sampler", "name"),
    [
        (lambda counts, generator: np.zeros(3, int), "gives shape"),
        (lambda counts, generator: np.full(len(counts), 7), r"labels \[7\]"),
        (lambda counts, generator: np.zeros(len(counts)), "must be labels, an integer type"),
    ],
)
def test_what_is_no_sampler_is_named(sampler, name):
    with pytest.raises(ValueError, match=name):
        audit_sampler(sampler, 5, 2, 0.0, np.random.default_rng(0), runs=1000)


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"runs": 0}, "runs = 0: must be an integer >= 16, 4 for each of 4 histograms"),
        ({"runs": -5}, "runs = -5"),
        ({"runs": 15}, "runs = 15"),
        ({"confidence": 1}, "confidence = 1: must be in"),
        ({"delta": 1.0}, "delta = 1.0: must be in"),
    ],
)
def test_what_cannot_be_answered_is_refused_before_anything_is_drawn(asked, name):
    def sampler(counts, generator):
        raise AssertionError("drawn")

    asked = {"delta": 0.0, "runs": 16} | asked
    with pytest.raises(ValueError, match=name):
        audit_sampler(sampler, 3, 2, generator=np.random.default_rng(0), **asked)


def test_the_fewest_runs_are_as_many_as_stated():
    drawn = []

    def sampler(counts, generator):
        drawn.append(len(counts))
        return np.zeros(len(counts), int)

    found = audit_sampler(sampler, 3, 2, 0.0, np.random.default_rng(0), runs=16)
    assert sum(drawn) == 16
    assert found.runs == 4


def test_too_many_histograms_of_added_votes_are_refused(example):
    with pytest.raises(ValueError, match="at most 2,000 histograms"):
        audit_sampler(
            example["draw"], 100, 4, 0.0, np.random.default_rng(0), neighbours="missing_vote"
        )
