"""Samplers of anybody's: bounds below the exact number as often as stated, and twins caught."""

import runpy

import numpy as np
import pytest

from private_ensembles.audit import audit_function, audit_sampler


@pytest.fixture(scope="module")
def example(root):
    return runpy.run_path(str(root / "examples" / "randomized_response.py"))


def test_the_bound_is_below_the_exact_number_as_often_as_stated(example):
    exact = audit_function(example["labels"], 3, 2).epsilon(0.01)
    runs, wrong = 40, 0
    for seed in range(runs):
        found = audit_sampler(
            example["draw"], 3, 2, 0.01, np.random.default_rng(seed), runs=2000, confidence=0.8
        )
        wrong += found.epsilon > exact
    assert wrong <= 0.2 * runs


@pytest.mark.parametrize(("adjacency", "size"), [("replace_one", (11, 3)), ("add_remove", (6, 3))])
def test_the_bound_comes_near_the_exact_number_and_finds_where_it_arises(example, adjacency, size):
    exact = audit_function(example["labels"], *size, adjacency=adjacency)
    generator = np.random.default_rng(1)
    found = audit_sampler(example["draw"], *size, 1e-4, generator, adjacency=adjacency)
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
            example["draw"], 100, 4, 0.0, np.random.default_rng(0), adjacency="add_remove"
        )
