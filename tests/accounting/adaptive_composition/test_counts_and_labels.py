"""Noisy counts beside labels, against exact adversaries, integrals and the Gaussian condition."""

import functools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import hockey_sticks
from private_ensembles.accounting.adaptive_composition.backward_induction import Grid
from private_ensembles.accounting.adaptive_composition.counts_and_labels import (
    LabelValueBounds,
    NoisyCounts,
    _count_divergences,
    bound_label_values,
    joint_epsilon,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    NeighbourPairs,
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.gaussian import gaussian_delta
from tests.accounting.adaptive_composition.labels import gnmax
from tests.accounting.adversaries import bounds_at, random_rows


def joint_delta(label, labels, counts, epsilon, **options):
    """An upper bound on the delta of labels and counts at an epsilon."""
    alone = bound_label_values(label, labels, epsilon, 1e-9, width=counts.mu, **options)
    return alone.privacy_curve_with_counts(counts, 1e-9, epsilon).delta(epsilon)


def lattice_law(sigma):
    """N_Z(0, sigma^2) and the same shifted by 1, on the numbers where either matters."""
    x = np.arange(-math.ceil(9 * sigma), math.ceil(9 * sigma) + 2)
    first, second = (np.exp(-(((x - move) / sigma) ** 2) / 2) for move in (0, 1))
    return first / first.sum(), second / second.sum()


def costliest(steps, left, y):
    """The best of an adversary who sees everything and may take steps in any order.

    steps: pairs (P, P') of each kind; left: how many of each kind are left.
    """
    if not any(left):
        return np.maximum(1 - y, 0.0)
    found = np.zeros_like(y)
    for kind, pairs in enumerate(steps):
        if not left[kind]:
            continue
        after = tuple(n - (place == kind) for place, n in enumerate(left))
        for first, second in pairs:
            ratios = y[:, None] * (second / first)
            best = costliest(steps, after, ratios.ravel()).reshape(ratios.shape)
            np.maximum(found, best @ first, out=found)
    return found


@pytest.mark.parametrize(("counts", "labels"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))]
)
def test_no_order_of_counts_and_labels_costs_more_than_the_bound(seed, counts, labels):
    """And some order costs as much, all but what the grid adds."""
    rng = np.random.default_rng([27, seed, counts, labels])
    rows = random_rows(rng, 2, 3)
    while min(rows[0].min(), rows[1].min()) < 1e-6:
        rows = random_rows(rng, 2, 3)
    label = NeighbourPairs(*rows)
    both = list(zip(*rows, strict=True)) + list(zip(*rows[::-1], strict=True))
    sigma = float(rng.uniform(0.7, 2.0))
    first, second = lattice_law(sigma)
    for epsilon in (0.3, 1.5):
        exact = float(costliest([[(first, second)], both], (counts, labels), y_of(epsilon))[0])
        beside = NoisyCounts(counts, sigma, lattice=True)
        found = joint_delta(label, labels, beside, epsilon)
        assert exact * (1 - 1e-9) - 1e-12 <= found <= 1.03 * exact + 1e-9


@pytest.mark.parametrize(("teachers", "sigma1", "sigma2", "threshold"), [
    (3, 1.0, 1.0, 2.2), (4, 2.0, 1.0, 3.0), (3, 0.6, 2.0, 2.0), (5, 3.0, 4.0, 4.0),
])  # fmt: skip
@pytest.mark.parametrize(("queries", "answers"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)])
def test_thresholds_whose_bits_alone_are_seen_cost_less(
    teachers, sigma1, sigma2, threshold, queries, answers
):
    """Every adaptive choice of histograms: who sees no noisy count reaches less, but not nothing.

    The exact recursion over thresholds and answers left, which would be the account of the bits.
    """
    ones = np.arange(teachers + 1)
    passes = ndtr((np.maximum(ones, teachers - ones) - threshold) / sigma1)
    wins = ndtr((2 * ones - teachers) / (math.sqrt(2) * sigma2))
    rows = np.stack([1 - passes, passes * (1 - wins), passes * wins], axis=1)
    pairs = [(rows[i], rows[j]) for i in ones for j in (i - 1, i + 1) if 0 <= j <= teachers]

    @functools.cache
    def most(left, paid, ratio):
        if left == 0 or paid == 0:
            return max(0.0, 1 - ratio)
        return max(
            p[0] * most(left - 1, paid, ratio * q[0] / p[0])
            + p[1] * most(left - 1, paid - 1, ratio * q[1] / p[1])
            + p[2] * most(left - 1, paid - 1, ratio * q[2] / p[2])
            for p, q in pairs
        )

    assert most(queries, answers, math.exp(0.2)) > 1e-3
    for epsilon in (0.2, 1.0):
        exact = most(queries, answers, math.exp(epsilon))
        counts = NoisyCounts(queries, sigma1)
        found = joint_delta(gnmax(teachers, sigma2), answers, counts, epsilon)
        together = math.hypot(counts.mu, math.sqrt(2 * answers) / sigma2)
        assert exact <= found < float(gaussian_delta(together, epsilon))


@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
def test_without_labels_the_gaussian_condition_is_left(mu):
    counts = NoisyCounts(49, 7 / mu)
    grid = Grid(mu / 40, -400, 1000)
    nothing = LabelValueBounds(grid, np.maximum(-np.expm1(grid.logs()), 0.0))
    for epsilon in (0.0, 0.3 * mu, 2 * mu, 4 * mu):
        with mpmath.workdps(50):
            e, m = mpmath.mpf(epsilon), mpmath.mpf(7) / mpmath.mpf(7 / mu)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        for delta in (1e-3, 1e-9):  # the losses that it follows are those that matter
            found = nothing.privacy_curve_with_counts(counts, delta).delta(epsilon)
            assert exact <= found <= float(exact) * 1.001 + delta * 2e-4


def test_one_count_and_one_label_cost_what_the_integral_says():
    """The costliest pair is chosen after the count is seen."""
    label, counts = gnmax(9, 3.0), NoisyCounts(1, 2.0)
    first = np.concatenate([label.first, label.second])
    second = np.concatenate([label.second, label.first])
    x = np.linspace(-12, 12, 200_001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    for epsilon in (0.2, 0.8):
        y = np.exp(epsilon + counts.mu * x - counts.mu**2 / 2)
        best = np.zeros_like(x)
        for p, q in zip(first, second, strict=True):
            np.maximum(best, np.maximum(p[:, None] - q[:, None] * y, 0).sum(axis=0), out=best)
        exact = float(np.trapezoid(best * density, x))
        assert exact * (1 - 1e-7) <= joint_delta(label, 1, counts, epsilon) <= 1.01 * exact


@pytest.mark.parametrize(
    ("labels", "share", "classes"), [(1, 0.1, 4), (30, 0.1, 2), (30, 0.6, 2), (1, 0.6, 2)]
)
def test_the_bound_lies_between_its_parts_and_the_gaussian_condition(labels, share, classes):
    """Never above what all noisy counts cost together, nor below what either part does."""
    mu = 0.8
    scale = math.sqrt(2 * labels / (1 - share)) / mu
    counts = NoisyCounts(500, math.sqrt(500 / share) / mu)
    label = gnmax(31, scale) if classes == 2 else GaussianMaximum(scale, 31, classes)
    for epsilon in (0.4, 1.6):
        found = joint_delta(label, labels, counts, epsilon, fineness=4)
        assert found < float(gaussian_delta(mu, epsilon))
        assert found > float(gaussian_delta(counts.mu, epsilon))
        assert found > bounds_at(label, labels, epsilon, fineness=4).lower


def test_epsilon_and_delta_are_read_off_one_curve():
    label, counts = gnmax(21, 20.0), NoisyCounts(100, 30.0)
    for delta in (1e-3, 1e-8):
        epsilon = joint_epsilon(label, 20, counts, delta)
        assert joint_delta(label, 20, counts, epsilon) <= delta * (1 + 1e-3)
        assert joint_delta(label, 20, counts, 0.99 * epsilon) > delta
    apart = NeighbourPairs(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert joint_epsilon(apart, 1, counts, 1e-3) == math.inf
    assert joint_delta(apart, 1, counts, 1.0) == 1


@pytest.mark.parametrize("lattice", [False, True])
def test_the_least_sigma_beside_labels_keeps_the_budget(lattice):
    label, budget = gnmax(21, 25.0), (1.0, 1e-5)
    alone = bound_label_values(label, 30, *budget, width=0.3)
    for start in (1.0, 80.0, 1e4):
        sigma = alone.least_sigma(NoisyCounts(200, start, lattice), *budget)
        assert (
            alone.privacy_curve_with_counts(NoisyCounts(200, sigma, lattice), 1e-5).delta(1.0)
            <= 1e-5
        )
        less = NoisyCounts(200, 0.999 * sigma, lattice)
        assert alone.privacy_curve_with_counts(less, 1e-5).delta(1.0) > 1e-5
    dear = bound_label_values(gnmax(21, 5.0), 30, *budget)
    assert dear.least_sigma(NoisyCounts(200, 80.0), *budget) == math.inf


@pytest.mark.parametrize("lattice", [False, True])
def test_counts_that_move_by_more_need_as_much_more_noise(lattice):
    few, many = NoisyCounts(200, 80.0, lattice), NoisyCounts(200, 240.0, lattice, group_size=3)
    assert many.mu == pytest.approx(few.mu)
    assert float(many.deltas(0.5)) == pytest.approx(float(few.deltas(0.5)), rel=1e-2)
    alone = bound_label_values(gnmax(21, 25.0), 30, 1.0, 1e-5, width=0.3)
    sigma = alone.least_sigma(few, 1.0, 1e-5)
    assert alone.least_sigma(many, 1.0, 1e-5) == pytest.approx(3 * sigma, rel=1e-3)
    with pytest.raises(ValueError, match="group_size = 0"):
        NoisyCounts(200, 80.0, group_size=0)


@pytest.mark.slow
def test_pates_mnist_row_costs_a_fifth_less_than_its_counts():
    """640 thresholds of sigma 150 and 283 labels of sigma 40: 2.53 by the counts."""
    found = joint_epsilon(GaussianMaximum(40.0, 250, 10), 283, NoisyCounts(640, 150.0), 1e-5)
    assert 1.9 < found < 2.05
    by_counts = math.hypot(math.sqrt(640) / 150, math.sqrt(2 * 283) / 40)
    assert float(gaussian_delta(by_counts, 2.5)) > 1e-5 > float(gaussian_delta(by_counts, 2.53))


def test_lattice_counts_of_little_noise_are_charged_as_such():
    """Counts of sigma = 0.4, whose lattice costs another delta than continuous noise."""
    first, second = lattice_law(0.4)
    grid = Grid(0.02, -400, 1000)
    nothing = LabelValueBounds(grid, np.maximum(-np.expm1(grid.logs()), 0.0))
    for epsilon in (1.0, 4.0, 8.0):
        exact = float(costliest([[(first, second)]], (2,), y_of(epsilon))[0])
        continuous, lattice = (NoisyCounts(2, 0.4, on) for on in (False, True))
        found = nothing.privacy_curve_with_counts(lattice, 1e-6).delta(epsilon)
        assert exact * (1 - 1e-9) <= found <= 1.01 * exact
        assert (
            abs(nothing.privacy_curve_with_counts(continuous, 1e-6).delta(epsilon) / exact - 1)
            > 0.02
        )


def y_of(epsilon):
    return np.array([math.exp(epsilon)])


def test_counts_alone_cost_no_less_at_the_grids_low_end():
    """Kernels look beyond the grid there, where what is known of the labels is a chord's end."""
    counts, grid = NoisyCounts(49, 9.0), Grid(0.02, -12, 200)
    nothing = LabelValueBounds(grid, -np.expm1(np.minimum(grid.logs(), 0.0)) * (1 + 1e-15))
    found = nothing.privacy_curve_with_counts(counts, 1e-9)
    exact = gaussian_delta(counts.mu, found.epsilons)
    assert (found.upper >= exact * (1 - 1e-12)).all()
    assert (found.upper <= exact + 1e-3).all()


@pytest.mark.parametrize("sigma", [4.0, 30.0, 400.0])
@pytest.mark.parametrize("at", [0.5, 3.0, 8.0])
def test_epsilon_that_is_looked_for_from_above_is_that_of_the_whole_curve(sigma, at):
    label = two_class_dominating_pairs(np.linspace(0.2, 0.8, 12))
    alone = bound_label_values(label, 5, at, 1e-4, width=1.0)
    counts = NoisyCounts(20, sigma)
    whole = alone.privacy_curve_with_counts(counts, 1e-4)
    kept = whole.delta(at) <= 1e-4
    assert alone.epsilon(counts, 1e-4, at) == (whole.epsilon(1e-4) if kept else math.inf)


@pytest.mark.parametrize(("step", "reach"), [(0.3, 1), (0.15, 2), (0.1, 3), (0.03, 11)])
def test_the_step_of_all_counts_is_rounded_up_to_the_last_digit(step, reach):
    """However few masses its kernel has: in fractions of their floats and of the labels' bounds."""
    counts, size, lowest = NoisyCounts(4, 40.0), 2 * reach + 9, -3
    kernel = hockey_sticks.kernels(_count_divergences(counts, step, 1e-6), step)
    assert kernel.support_radius == reach
    masses = [Fraction(mass) for mass in kernel.masses[0].tolist()]
    lost = Fraction(float(kernel.infinite_loss_mass[0]))
    for seed in range(5):
        values = np.sort(np.random.default_rng(seed).random(size))[::-1].copy()
        labels = LabelValueBounds(Grid(step, lowest, size), values)
        found = labels.privacy_curve_with_counts(counts, 1e-6).upper.tolist()
        # Further up nothing falls; further down a chord ends at 1 where y is 0.
        known = [Fraction(value) for value in values.tolist()]
        known += [known[-1]] * reach
        with mpmath.workdps(40):
            low = [Fraction(mpmath.nstr(mpmath.exp(-step * k), 30)) for k in range(reach, 0, -1)]
        known = [1 - down * (1 - known[0]) for down in low] + known
        for place, above in enumerate(found):
            window = known[place : place + 2 * reach + 1]
            exact = lost + sum(mass * w for mass, w in zip(masses, window, strict=True))
            assert min(exact, Fraction(1)) <= Fraction(above) <= exact + Fraction(1e-11)
        # Near an epsilon the same points are worked out, as many as are asked for.
        for near, points in ((0, 2), (2, 2), (size - 1, 3)):
            part = labels.privacy_curve_with_counts(counts, 1e-6, step * (lowest + near), points)
            first = max(0, near - points)
            assert part.epsilons.tolist() == labels.grid.logs()[first : near + 2].tolist()
            assert part.upper == pytest.approx(found[first : near + 2], rel=1e-14)
