"""GNMax in any number of classes: what lies between nodes and beyond the edges, by quadrature."""

import functools
import itertools
import math
import tracemalloc
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition import gaussian_maximum
from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import (
    _ERROR,
    OUTSIDE,
    GaussianMaximum,
    curvatures,
    outcomes,
)
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from tests.accounting.adversaries import bounds_at, check_small_adversaries, power

T = np.exp([-4.0, -1.0, -0.3, -0.05, -0.004, 0.0, 0.01, 0.1, 0.5, 2.0, 5.0])


def law(lead, middle):
    """Pr[a], Pr[b] and Pr[another] given M, by adaptive quadrature."""

    def wins(w):
        def density(y):
            return math.exp(-((y - w / 2) ** 2) / 2) / math.sqrt(2 * math.pi) * ndtr(y + w / 2)

        top = max(middle, w / 2) + 12
        cuts = [x for x in (-w / 2, w / 2) if middle < x < top]
        edges = [middle, *sorted(cuts), top]
        pieces = itertools.pairwise(edges)
        return sum(quad(density, *piece, epsabs=1e-17, epsrel=1e-12)[0] for piece in pieces)

    neither = ndtr(middle - lead / 2) * ndtr(middle + lead / 2)
    return np.array([wins(lead), wins(-lead), neither])


def divergences(first, second):
    """Hockey-stick divergences at T, less those of two equal laws."""
    large = np.maximum(first - T[:, None] * second, 0).sum(axis=1)
    return np.where(T < 1, np.maximum(T[:, None] * second - first, 0).sum(axis=1), large)


@functools.cache
def rows(scale, teachers, group_size=1):
    label = GaussianMaximum(scale, teachers, 10, group_size=group_size)
    leads, middles, between = label._grid_points()
    # Those of votes that move between more classes come last.
    found = label.hockey_stick_divergences(T)[: leads.size * middles.size]
    return found.reshape(leads.size, middles.size, T.size), leads, middles, between


def mixture(scale, teachers, lead, middle, group_size=1):
    """The rows' bound at a point, and beyond the edges that at the edge."""
    found, leads, middles, between = rows(scale, teachers, group_size)
    inside = np.clip(lead, leads[0], leads[-1])
    # Far ahead, only how far the leading count lies above M tells.
    middle = middle + (abs(inside) - abs(lead)) / 2
    middle = np.clip(middle, middles[0], middles[-1])
    i = min(max(np.searchsorted(leads, inside) - 1, 0), leads.size - 2)
    j = min(max(np.searchsorted(middles, middle) - 1, 0), middles.size - 2)
    along = (inside - leads[i]) / (leads[i + 1] - leads[i])
    assert between or min(along, 1 - along) < 1e-9
    across = (middle - middles[j]) / (middles[j + 1] - middles[j])
    low, high = ((1 - along) * found[i, k] + along * found[i + 1, k] for k in (j, j + 1))
    return (1 - across) * low + across * high


# scale, teachers: leads between nodes, cut off at the edge, and each with nodes of its own.
@pytest.mark.keeps(
    "accounting.adaptive_composition.gaussian_maximum:GaussianMaximum.hockey_stick_divergences",
)
@pytest.mark.parametrize(
    ("scale", "teachers", "group_size"),
    [
        (20.0, 51, 1),
        (70.0, 250, 1),
        (12.0, 250, 1),
        (6.0, 9, 1),
        (1.5, 30, 1),
        (40.0, 51, 2),
        (70.0, 250, 5),
        (6.0, 9, 3),
        (1.5, 30, 2),
    ],
)
def test_what_lies_between_nodes_is_below_their_mixture(scale, teachers, group_size):
    """It holds for all numbers of votes that move from one class to another, up to `group_size`."""
    rng = np.random.default_rng(teachers)
    # Ties of two counts and of all, where curves bend most, and anywhere.
    for n in range(24):
        votes = int(rng.integers(2 * group_size - teachers, teachers + 1))
        if n % 2:
            votes = round(rng.normal(0, 1.5) * scale)
            votes = int(np.clip(votes, 2 * group_size - teachers, teachers))
        lead = votes / scale
        middle = rng.normal(abs(lead) / 2 * rng.choice([0, 1]), 2.5)
        if n % 6 == 5:
            middle = rng.uniform(-9, 20)
        bound = mixture(scale, teachers, lead, middle, group_size) + 1e-15
        for fewer in {group_size, 1 + n % group_size}:
            exact = divergences(law(lead, middle), law(lead - 2 * fewer / scale, middle))
            assert (exact <= bound).all()
            # Or the last of them, instead of the first.
            after, start = (
                law(lead - 2 * group_size / scale, middle),
                lead - 2 * (group_size - fewer) / scale,
            )
            assert (divergences(law(start, middle), after) <= bound).all()


@pytest.mark.parametrize("scale", [10.5, 20.0, 300.0])
def test_the_only_lead_of_one_teacher_has_its_slack_between_middles(scale):
    """Three classes or more, sigma above 10: one lead, which lies between no nodes."""
    found, leads, middles, _ = rows(scale, 1)
    assert leads.tolist() == [1 / scale]
    for middle in np.arange(-2.03, 2.5, 0.37):
        exact = divergences(law(1 / scale, middle), law(-1 / scale, middle))
        j = int(np.searchsorted(middles, middle)) - 1
        across = (middle - middles[j]) / (middles[j + 1] - middles[j])
        assert (exact <= (1 - across) * found[0, j] + across * found[0, j + 1]).all()


def test_few_leads_of_many_teachers_are_the_pairs_of_all_of_them():
    """What 13 sigma and a window of counts leave out changes no probability that is left."""
    for teachers, scale in ((250, 4.0), (250, 2.0), (1001, 9.0)):
        votes = np.arange(teachers + 1)
        y = np.arange(-12.0, teachers / scale + 12, 0.01)
        first, second = GaussianMaximum(scale, teachers, 10).attainable_pairs()
        lead = 13 * scale + 2
        kept = votes[np.abs(2 * votes - teachers) < lead - 4]
        mine, theirs = y - kept[:, None] / scale, y - (teachers - kept[:, None]) / scale
        density = np.exp(-(mine**2) / 2) / math.sqrt(2 * math.pi) * ndtr(theirs) * ndtr(y) ** 8
        wins = density.sum(axis=1) * 0.01
        # Each is among the pairs, as the first law and as the second one.
        for rows_, rounded in ((first, 1 - _ERROR), (second, 1 + _ERROR)):
            distance = np.abs(rows_[:, 0] / rounded - wins[:, None]).min(axis=1)
            assert distance.max() <= 2e-13


@pytest.mark.parametrize("teachers", [5_000, 70_000, 1_000_000])
def test_memory_does_not_grow_with_the_teachers(teachers):
    tracemalloc.start()
    first, _ = GaussianMaximum(2.0, teachers, 3).attainable_pairs()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first.sum(axis=1).min() > 1 - 1e-9
    assert peak < 64 << 20


SETS = ([0], [2], [0, 2])  # of outcomes a, b and another: those that a threshold above 1 may choose


@pytest.mark.parametrize("bent", [False, True])
def test_lines_at_a_node_are_rounded_against_us(bent):
    """In fractions, at the far ends of what a tabulated probability and a threshold may be."""
    rng = np.random.default_rng(3)
    before, after = rng.dirichlet(np.ones(3), (2, 12)) * 10 ** rng.uniform(-12, 0, (2, 12, 1))
    level, tilt, first, second = bent * 10 ** rng.uniform(-6, -1, (4, 12, 3))
    lines = gaussian_maximum._compute_bounding_lines(before, after, level, tilt, first, second)
    logs = [0.0, 1e-9, 0.3, 2.0, 40.0, 590.0]
    found = gaussian_maximum._evaluate_lines(lines, np.exp(logs))
    off = Fraction(_ERROR)
    for node in range(12):
        p, q, *bounds = (
            [Fraction(x) for x in row[node].tolist()]
            for row in (before, after, level, tilt, first, second)
        )

        def smaller(bound, chosen):
            inside = sum(bound[k] for k in chosen)
            return min(inside, sum(bound) - inside) / (1 + off)

        for place, log in enumerate(logs):
            with mpmath.workdps(60):
                t = power(mpmath.mpf(log))[0] * (1 - Fraction((log + 8) * 2**-53))
            exact = Fraction(0)
            for chosen in SETS:
                steep, flat, far, farther = (smaller(bound, chosen) for bound in bounds)
                bend = min((t - 1) * steep + flat, far + t * farther)
                here = sum(p[k] for k in chosen) * (1 + off)
                here -= t * sum(q[k] for k in chosen) * (1 - off)
                exact = max(exact, here + bend)
            assert Fraction(float(found[node, place])) >= exact
            room = sum(p) + t * (sum(q) + bent)
            assert Fraction(float(found[node, place])) <= exact + room * Fraction(1e-11)


@functools.cache
def exact_three_outcomes(a, b, classes, scale):
    """Pr[a], Pr[b] and Pr[another] in digits, where a and b have these votes and others none."""

    def wins(own, others):
        def density(y):
            return mpmath.npdf(y - own) * mpmath.fprod(mpmath.ncdf(y - x) for x in others)

        # Nine deviations out a density is 1e-18.
        return mpmath.quad(density, [own - 9, own - 5, own - 2, own, own + 2, own + 5, own + 9])

    a, b = mpmath.mpf(a) / scale, mpmath.mpf(b) / scale
    found = [wins(a, [b, *[0] * (classes - 2)]), wins(b, [a, *[0] * (classes - 2)])]
    return [*found, 1 - sum(found)]


@pytest.mark.keeps(
    "accounting.adaptive_composition.gaussian_maximum:GaussianMaximum.attainable_pairs"
)
@pytest.mark.parametrize("group_size", [1, 2])
def test_pairs_that_an_adversary_can_choose_are_no_more_than_they_are(group_size):
    """No more than P and no less than P', so that what they cost is a lower bound."""
    teachers, scale = 3, 2.0
    label = GaussianMaximum(scale, teachers, 3, group_size=group_size)
    first, second = label.attainable_pairs()
    with mpmath.workdps(20):
        laws = [exact_three_outcomes(a, teachers - a, 3, scale) for a in range(teachers + 1)]
        unmoved, moved = laws[group_size:], laws[: teachers + 1 - group_size]
        for ours, exact, side in ((first, unmoved + moved, 1), (second, moved + unmoved, -1)):
            for row, law_ in zip(ours.tolist(), exact, strict=True):
                for p, wanted in zip(row, law_, strict=True):
                    room = 2 * _ERROR * wanted + 2 * OUTSIDE
                    assert 0 <= side * (wanted - mpmath.mpf(p)) <= room


@pytest.mark.parametrize("at_once", [1, 7 * 13 * 225])
def test_leads_that_are_worked_on_together_change_no_row(monkeypatch, at_once):
    """One by one, and a few of them and a rest, beside all at once."""
    label, t = GaussianMaximum(8.9, 60, 5), np.exp(np.linspace(-3.0, 4.0, 26))
    with monkeypatch.context() as patched:  # first, since memory that is left out is not wiped
        patched.setattr(gaussian_maximum, "_AT_ONCE", at_once)
        few = label.hockey_stick_divergences(t)
    monkeypatch.setattr(gaussian_maximum, "_AT_ONCE", 1 << 30)
    np.testing.assert_allclose(few, label.hockey_stick_divergences(t), rtol=0, atol=4e-16)


@pytest.mark.keeps(
    "accounting.adaptive_composition.gaussian_maximum:GaussianMaximum.max_divergences"
)
@pytest.mark.parametrize(
    "label",
    [
        GaussianMaximum(8.9, 250, 100),
        GaussianMaximum(45.0, 250, 10),
        GaussianMaximum(1.2, 20, 3),
        GaussianMaximum(0.3, 1, 3),
        GaussianMaximum(12.0, 60, 5, 3),
    ],
)
def test_the_largest_row_is_found_without_the_others(label):
    t = np.exp(np.linspace(-3.0, 4.0, 301))
    rows = label.hockey_stick_divergences(t).max(axis=0)
    assert np.abs(label.max_divergences(t) - rows).max() <= 4e-16
    assert (label.max_divergences(t) >= rows * (1 - 1e-15)).all()


def test_bounds_between_nodes_are_close():
    """They exceed the exact curve by little at a tie of all, where probability is."""
    scale, lead, middle = 20.0, 0.55, 0.23
    exact = divergences(law(lead, middle), law(lead - 2 / scale, middle))
    found = mixture(scale, 51, lead, middle)
    assert found[5] <= 1.01 * exact[5]


def test_tabulated_probabilities_are_as_exact_as_is_granted():
    middles = np.arange(-6.5, 12.0, 0.1)
    leads = np.array([-9.0, 0.4])
    found = outcomes(leads, middles)
    with mpmath.workdps(40):
        for lead, row in zip(leads.tolist(), found, strict=True):
            for j in (0, 130):
                c, half = float(middles[j]), mpmath.mpf(lead) / 2
                exact = [
                    mpmath.quad(
                        lambda y, h=h: mpmath.npdf(y - h) * mpmath.ncdf(y + h),
                        [c, c + 1, c + 2, c + 4, c + 7, c + 12, c + 20],
                    )
                    for h in (half, -half)
                ]
                exact.append(mpmath.ncdf(c - half) * mpmath.ncdf(c + half))
                for value, wanted in zip(row[j].tolist(), exact, strict=True):
                    assert abs(value - wanted) <= _ERROR * wanted + mpmath.mpf(10) ** -40


def test_labels_of_three_classes_stay_below_the_bound():
    """All histograms of 5 votes in 3 classes, one and two labels, exactly: no M, no nodes."""
    scale, teachers = 4.0, 5
    histograms = [(i, j, teachers - i - j) for i in range(6) for j in range(6 - i)]
    nodes, weights = np.polynomial.hermite.hermgauss(60)

    def label_law(counts):
        found = []
        for k in range(3):
            y = counts[k] / scale + math.sqrt(2) * nodes
            others = [ndtr(y - counts[i] / scale) for i in range(3) if i != k]
            found.append(others[0] * others[1] @ weights / math.sqrt(math.pi))
        return np.array(found)

    laws = {counts: label_law(counts) for counts in histograms}
    check_small_adversaries(laws, lambda *_: GaussianMaximum(scale, teachers, 3))


@pytest.mark.parametrize("classes", [3, 10])
def test_labels_cost_no_more_than_the_noisy_counts(classes):
    scale, labels = 15.0, 20
    mu = math.sqrt(2 * labels) / scale
    epsilon = 1.5 * mu
    found = bounds_at(GaussianMaximum(scale, 51, classes), labels, epsilon)
    assert 0 < found.lower <= found.upper <= float(gaussian_delta(mu, epsilon))


def test_two_classes_are_among_many_and_cost_little_less():
    scale, teachers, labels = 20.0, 51, 20
    margins = (2 * np.arange(teachers + 1) - teachers) / (scale * math.sqrt(2))
    two = adaptive_epsilon(two_class_dominating_pairs(ndtr(margins), ndtr(-margins)), labels, 1e-5)
    many = adaptive_epsilon(GaussianMaximum(scale, teachers, 10), labels, 1e-5, fineness=4.0)
    assert two.lower <= many.upper <= 1.04 * two.upper


@pytest.mark.slow
def test_many_labels_in_ten_classes_need_less_noise_than_their_counts():
    """K = 250, 1,000 labels at (2, 1e-5): at most 0.84 of what the noisy counts need, 89.2."""
    found = adaptive_epsilon(GaussianMaximum(0.84 * 89.2, 250, 10), 1000, 1e-5)
    assert found.upper <= 2.0
    # The bound covers any number of classes; what ten allow an adversary is a little less.
    assert found.lower >= 0.95 * found.upper


def test_small_noise_has_a_finite_bound():
    assert adaptive_epsilon(GaussianMaximum(1.0, 5, 3), 2, 1e-5, fineness=4.0).upper < 20


def second_differences(values, steps):
    """Along the leads and along the middles, without the outermost points: (2, ...)."""
    inner = values[1:-1, 1:-1]
    along = values[2:, 1:-1] - 2 * inner + values[:-2, 1:-1]
    across = values[1:-1, 2:] - 2 * inner + values[1:-1, :-2]
    return np.stack([along / steps[0] ** 2, across / steps[1] ** 2])


@pytest.mark.parametrize("move", [0.0, 0.02])
@pytest.mark.parametrize("cells", [(0.04, 0.004), (0.004, 0.04), (0.1, 0.1)])
@pytest.mark.parametrize("lead", [-2.3, -1.2, 0.05, 0.8, 4.0])
def test_what_is_granted_between_nodes_is_what_probabilities_bend(lead, cells, move):
    """The second derivatives in both directions, of P and of P - P', and hardly more than these."""
    steps, ratios = [cell / 4 for cell in cells], []
    leads, fine_leads = lead + cells[0] * np.arange(3), lead + steps[0] * np.arange(-1, 10)
    for middle in (-4.0, -1.0, -0.05, abs(lead) / 2 + 0.1, abs(lead) / 2 + 1.4):
        middles, fine = middle + cells[1] * np.arange(3), middle + steps[1] * np.arange(-1, 10)
        # Densities above the middles are added up to 8 beyond the last of them.
        far = np.append(fine, np.arange(fine[-1], 5.0, 0.1)[1:])
        before, after = (outcomes(fine_leads - x, far)[:, : fine.size] for x in (0.0, move))
        found = curvatures(leads, middles, move, between=True)
        for bound, values in zip(found, (before, before - after), strict=True):
            bends = np.abs(second_differences(values, steps)).max(axis=(1, 2))
            exact = (np.square(cells) / 8) @ bends  # of a, b and another
            assert (bound[1, 1] >= exact * (1 - 1e-3) - 1e-10).all()
            ratios.append(bound[1, 1] / np.maximum(exact, 1e-300))
    closest = np.reshape(ratios, (-1, 2, 3)).min(axis=0)
    if not move:  # then all of P - P' is 0
        assert (found[1] == 0).all()
        closest[1] = 1
    elif abs(lead) < 2:  # what b gains of the others a loses, nearly
        closest[1, 2] = 1
    assert (closest <= 1.3).all()


@pytest.mark.parametrize(("group_size", "classes"), [(2, 3), (3, 4)])
def test_votes_of_several_classes_stay_below_the_bound(group_size, classes):
    """Histograms of a few hundred votes, near ties: one label of each move, by quadrature."""
    rng, teachers, scale = np.random.default_rng(group_size), 200, 12.0
    label = GaussianMaximum(scale, teachers, classes, group_size=group_size)
    bounds = [(epsilon, bounds_at(label, 1, epsilon).upper) for epsilon in (0.0, 0.2, 0.6)]
    most = 0.0
    for _ in range(60):
        votes = np.full(classes, teachers // classes) + rng.integers(-4, 5, classes)
        votes[0] += teachers - votes.sum()
        move = np.bincount(rng.integers(classes, size=group_size), minlength=classes)
        move -= np.bincount(rng.integers(classes, size=group_size), minlength=classes)
        first, second = gnmax_distribution(np.array([votes, votes + move]), scale)
        for epsilon, bound in bounds:
            for p, q in ((first, second), (second, first)):
                delta = np.maximum(p - math.exp(epsilon) * q, 0).sum()
                assert delta <= bound
                most = max(most, delta / bound)
    assert most > 0.7


def test_more_votes_that_move_cost_more():
    few, many = (GaussianMaximum(20.0, 51, 10, group_size=group_size) for group_size in (1, 2))
    assert adaptive_epsilon(few, 10, 1e-5).upper < adaptive_epsilon(many, 10, 1e-5).lower
    with pytest.raises(ValueError, match="group_size = 52"):
        GaussianMaximum(20.0, 51, 10, group_size=52)


@pytest.mark.parametrize("scale", [0.04, 0.2, 1.75])
def test_where_every_curve_is_0_the_largest_is_0_too(scale):
    label = GaussianMaximum(scale, teachers=11, classes=5)
    t = np.exp(np.linspace(-600, 600, 500))
    largest = label.max_divergences(t)
    assert (largest <= OUTSIDE).any()
    np.testing.assert_allclose(largest, label.hockey_stick_divergences(t).max(axis=0), rtol=1e-9)


@pytest.mark.parametrize(("scale", "labels"), [(0.04, 1), (0.1, 2), (0.2, 1), (0.5, 1)])
def test_labels_of_hardly_any_noise_have_bounds_in_their_order(scale, labels):
    bounds = adaptive_epsilon(GaussianMaximum(scale, teachers=11, classes=5), labels, 1e-3)
    assert bounds.lower <= bounds.upper
    assert bounds.upper > 3 * labels  # far out, floats ended, and what followed was not bounded
