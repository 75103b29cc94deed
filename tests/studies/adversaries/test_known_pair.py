"""What known votes tell: the exact epsilon against enumeration; attacks keep their word."""

import itertools
import math

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_epsilon
from studies.adversaries.known_pair import attack, pair_epsilon


def rows(generator, queries, spread):
    """Two lists of labels whose probabilities differ by about a factor of e^spread."""
    first = generator.dirichlet(np.ones(3), queries)
    second = first * np.exp(spread * generator.standard_normal(first.shape))
    return first, second / second.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("queries", [1, 3, 5])
def test_the_exact_epsilon_is_that_of_all_outcomes_listed(queries, spread):
    generator = np.random.default_rng(queries)
    first, second = rows(generator, queries, spread)
    table = np.array([[math.prod(p) for p in itertools.product(*each)] for each in (first, second)])
    table /= table.sum(axis=1, keepdims=True)
    for delta in (1e-6, 1e-3):
        listed = exact_epsilon(table, [(0, 1)], delta)
        found = pair_epsilon(first, second, delta)
        assert listed - 1e-9 <= found <= 1.01 * listed + 1e-4


def test_equal_labels_tell_nothing_and_certain_ones_everything():
    one = np.array([[0.5, 0.5], [0.1, 0.9]])
    assert pair_epsilon(one, one, 1e-9) == 0.0
    assert pair_epsilon([[1.0, 0.0]], [[0.0, 1.0]], 1e-5) == math.inf
    # What is impossible on one side only is covered by delta.
    assert pair_epsilon([[1.0, 0.0]], [[1 - 1e-7, 1e-7]], 1e-5) == 0.0


def test_errors_of_the_probabilities_only_add_to_it():
    first, second = rows(np.random.default_rng(1), 4, 0.3)
    assert pair_epsilon(first, second, 1e-4) <= pair_epsilon(
        first, second, 1e-4, relative_error=1e-6, absolute_error=1e-9
    )
    # Of one label each side is as far off as it may be.
    one = [[0.5, 0.5]], [[0.4, 0.6]], 1e-9
    for errors, ratio in (
        ({"relative_error": 0.01}, 0.505 / 0.396),
        ({"absolute_error": 0.01}, 0.51 / 0.39),
    ):
        assert pair_epsilon(*one, **errors) == pytest.approx(math.log(ratio), abs=1e-4)


def test_an_attack_finds_a_vote_that_is_told_and_nothing_in_constant_labels():
    constant = attack(np.zeros(1000), np.zeros(1000), 1e-5)
    assert (constant.lower, constant.point, constant.upper) == (0.0, 0.0, 0.0)
    told = attack(np.ones(1000), -np.ones(1000), 1e-5)  # the vote itself
    assert told.lower > 4
    assert told.upper == math.inf


def test_bounds_hold_as_often_as_they_say():
    """One label with ratios 3 and 1/3: an event shows ln 3 at most, as delta is 0."""
    generator = np.random.default_rng(0)
    above = below = 0
    for _ in range(400):
        sides = [generator.random(200) < chance for chance in (0.75, 0.25)]
        seen = attack(*sides, 0.0, confidence=0.9)
        above += seen.lower > math.log(3)
        below += seen.upper < math.log(3)
    assert above <= 40
    assert below <= 40


def test_equal_lists_are_rarely_told_apart():
    generator = np.random.default_rng(1)
    wrong = sum(
        attack(*generator.standard_normal((2, 400)), 0.0, confidence=0.9).lower > 0
        for _ in range(300)
    )
    assert wrong <= 30


def test_a_threshold_that_was_fixed_before_counts_all_runs():
    found = attack([1, 1, 1, 0], [0, 0, 0, 1], 0.0, threshold=1)
    assert found.successes == (3, 1)
    assert found.runs == 4
    assert found.point == pytest.approx(math.log(3))
    assert attack(np.zeros(9), np.zeros(9), 0.0).runs == 4  # the second half


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.5, 0.5]], [[0.5, 0.5, 0.0]], 0.1), "shapes"),
        (([[0.5, 0.4]], [[0.5, 0.5]], 0.1), "first: every row must be a distribution"),
        (([[0.5, 0.5]], [[0.5, 0.5]], 0.0), "delta"),
    ],
)
def test_what_is_no_pair_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pair_epsilon(*arguments)


def test_what_is_no_run_is_refused():
    with pytest.raises(ValueError, match="4 or more"):
        attack([1.0], [2.0], 0.1)
    with pytest.raises(ValueError, match="NaN"):
        attack([1.0, 2, 3, math.nan], [1.0, 2, 3, 4], 0.1)
