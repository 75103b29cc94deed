"""The epsilon that is printed for all labels together, against what an adversary can do exactly.

The adversary knows all votes but one and asks the same two histograms at every query. What it
learns is multinomial, so its delta is a finite sum. The laws of the labels are written down once
more, here and in `mechanisms.drawn`, without the package's quadratures and tables.
"""

import functools
import itertools
import math
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gammaln, ndtr, softmax

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from tests.claims.drawn import continuous_label, noise_law, whole_label
from tests.papers.lanes import slow_but

K, QUERIES, DELTA = 9, 12, 1e-5


def laplace_maximum(row, scale):
    row = np.array(row) / scale

    def chance(j):
        def inside(y):
            z = y - np.delete(row, j)
            stays = np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
            return math.exp(-abs(y - row[j])) / 2 * stays.prod()

        ends = [min(row) - 40, *sorted(set(row)), max(row) + 40]
        return sum(
            quad(inside, a, b, epsabs=1e-14, epsrel=1e-12)[0] for a, b in itertools.pairwise(ends)
        )

    return np.array([chance(j) for j in range(len(row))])


def flipped(row, rate):
    """Permute, then flip a coin for each until one accepts: over all orders."""
    accepts = np.exp(rate * (np.array(row) - max(row)))
    won = np.zeros(len(row))
    orders = list(itertools.permutations(range(len(row))))
    for order in orders:
        left = 1 / len(orders)
        for j in order:
            won[j] += left * accepts[j]
            left *= 1 - accepts[j]
    return won


def law(name, given, row, secure):
    """Pr[label], and of no answer at the end where there is one."""
    if name.startswith("confident"):
        lead = max(row) - given.threshold
        if secure:
            x, mass = noise_law(given.sigma1)
            passes = mass[x >= -lead].sum()
        else:
            passes = ndtr(lead / given.sigma1)
        on_lattice = secure and name == "confident_gnmax"
        label = (whole_label if on_lattice else continuous_label)(row, given.sigma2)
        return np.append(passes * label, 1 - passes)
    if name.startswith("gnmax"):
        on_lattice = secure and name != "gnmax_exact"
        return (whole_label if on_lattice else continuous_label)(row, given.sigma)
    if name.startswith("lnmax"):
        return laplace_maximum(row, given.scale)
    rate = given.label_epsilon / 2 if given.rate is None else given.rate
    if name == "exponential":
        return softmax(rate * np.array(row, dtype=float))
    return flipped(row, rate)


@functools.cache
def outcome_counts(cells):
    """How often each outcome may occur in `QUERIES` labels, and the log of in how many ways."""
    bars = np.array(list(itertools.combinations(range(QUERIES + cells - 1), cells - 1)))
    ends = np.hstack([-np.ones((len(bars), 1)), bars, np.full((len(bars), 1), QUERIES + cells - 1)])
    counts = np.diff(ends, axis=1) - 1
    return counts, gammaln(QUERIES + 1) - gammaln(counts + 1).sum(axis=1)


def composed_delta(one, other, epsilon):
    """Delta of `QUERIES` labels between two laws of one, exactly: over all counts of outcomes."""
    counts, ways = outcome_counts(len(one))
    with np.errstate(divide="ignore"):
        first, second = (ways + counts @ np.log(np.maximum(p, 1e-300)) for p in (one, other))
    return np.maximum(0, np.exp(first) - np.exp(epsilon + second)).sum()


def worst_delta(name, given, classes, secure, epsilon):
    """The largest delta over all histograms and all moves of one vote."""
    rows = [row for row in product(range(K + 1), repeat=classes) if sum(row) == K]
    laws = {row: law(name, given, sorted(row), secure) for row in rows if list(row) == sorted(row)}

    def epsilon_of(row):  # classes may be renamed
        order = np.argsort(row, kind="stable")
        known = laws[tuple(sorted(row))]
        found = known.copy()
        found[order] = known[:classes]
        return found

    worst = 0.0
    for row in laws:
        for a, b in itertools.permutations(range(classes), 2):
            if row[a]:
                moved = tuple(n - (i == a) + (i == b) for i, n in enumerate(row))
                one, other = epsilon_of(row), epsilon_of(moved)
                worst = max(worst, composed_delta(one, other, epsilon))
                worst = max(worst, composed_delta(other, one, epsilon))
    return worst


NOISY = [
    *("gnmax", "gnmax_analytic", "gnmax_exact", "lnmax_pure"),
    *("exponential", "permute_and_flip", "confident_gnmax", "confident_gnmax_exact"),
]
# Of these the labels themselves are charged: a little less noise is found out.
TIGHT = {"gnmax_exact", "exponential", "permute_and_flip"}


# In the default lane every mechanism at one budget for each number of classes and kind of noise.
QUICK = ((2, 0.5, False), (2, 6.0, True), (3, 2.0, False))
CASES = slow_but(
    ((name, *case) for name in NOISY for case in product((2, 3), (0.5, 2.0, 6.0), (False, True))),
    *((name, *case) for name in NOISY for case in QUICK),
)


@pytest.mark.parametrize(("name", "classes", "epsilon", "secure"), CASES)
def test_no_adversary_known_exceeds_what_is_printed(name, classes, epsilon, secure):
    mechanism = load_mechanism(name)
    task = Task(Ensemble(K, classes), Budget(epsilon, DELTA), Wanted(QUERIES), secure=secure)
    if mechanism.refusal(task):
        assert secure  # without secure noise all of them apply
        return
    given = mechanism.calibrate(task)
    printed = mechanism.cost(task, given).claimed
    assert printed <= epsilon
    assert worst_delta(name, given, classes, secure, printed) <= DELTA
    if name in TIGHT and classes == 2:
        less = mechanism.law.scale_noise(given, 0.9)
        assert worst_delta(name, less, classes, secure, printed) > DELTA


def test_two_classes_are_known_in_closed_form():
    """Of the laws above: by the law of one lead."""
    row, x = [3, 6], 3
    assert continuous_label(row, 4.0)[0] == pytest.approx(ndtr(-x / (4 * math.sqrt(2))), rel=1e-12)
    trailing = math.exp(-x / 4) / 2 * (1 + x / 8)
    assert laplace_maximum(row, 4.0)[0] == pytest.approx(trailing, rel=1e-9)
    assert flipped(row, 0.5)[0] == pytest.approx(math.exp(-x / 2) / 2)
    assert softmax([1.5, 3.0])[0] == pytest.approx(expit(-1.5))
    assert whole_label([2, 2, 2], 1.3) == pytest.approx(1 / 3)
