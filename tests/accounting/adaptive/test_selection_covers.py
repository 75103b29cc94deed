"""Labels chosen by votes in many classes: few pairs dominate, exactly or by quadrature."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from private_ensembles.accounting.adaptive.families import Covered, Pairs
from private_ensembles.accounting.adaptive.selection_covers import (
    _TOLD,
    _above,
    _below,
    _between_at,
    _listed_leads,
    _of_leads,
    _other_behind,
    _other_between,
    _with_bends,
    bent,
    exponential_cover,
    laplace_cover,
    permute_and_flip_cover,
)
from private_ensembles.accounting.composition import optimal_homogeneous

from ..adversaries import (
    both_orders,
    bounds_at,
    check_small_adversaries,
    convex_value,
    dearest_row,
    exact_value,
    power,
)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
RATES = [0.02, 0.3, 2.0]


def exponential_law(counts, rate):
    """Pr[j] in proportion to e^(rate n_j), counts any numbers."""
    weights = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    return [weight / mpmath.fsum(weights) for weight in weights]


def permute_and_flip_law(counts, rate):
    """Each class is visited at a uniform time t and is taken with e^(rate (n_j - max))."""
    chances = [mpmath.exp(mpf(rate) * (n - max(counts))) for n in counts]
    found = []
    for j, chance in enumerate(chances):
        refused = [mpf(1)]  # coefficients of the product of 1 - q_i t
        for other in chances[:j] + chances[j + 1 :]:
            longer = [*refused, mpf(0)]
            for power_of_t, coefficient in enumerate(refused):
                longer[power_of_t + 1] -= other * coefficient
            refused = longer
        found.append(chance * mpmath.fsum(c / (n + 1) for n, c in enumerate(refused)))
    return found


LAWS = [(exponential_law, exponential_cover), (permute_and_flip_law, permute_and_flip_cover)]


def random_neighbours(rng, whole):
    """Counts of three to six classes and the same with a vote moved from one to another."""
    classes = int(rng.integers(3, 7))
    shares = rng.dirichlet(np.full(classes, rng.choice([0.3, 1.0, 30.0])))
    counts = [int(n) for n in np.ceil(30 * shares)]
    if not whole:  # of the others any number may be what a proof asks for
        counts[2:] = [float(n) + float(rng.uniform(-1, 1)) for n in counts[2:]]
    moved = [counts[0] - 1, counts[1] + 1, *counts[2:]]
    return counts, moved


@pytest.mark.parametrize(("law", "cover_of"), LAWS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("whole", [True, False])
def test_no_neighbours_do_more_to_a_convex_function_than_the_cover(law, cover_of, rate, whole):
    rng = np.random.default_rng([int(100 * rate), whole])
    cover = cover_of(rate)
    for _ in range(40):
        counts, moved = random_neighbours(rng, whole)
        first, second = (np.array(law(n, rate), dtype=float) for n in (counts, moved))
        kinks = np.exp(2 * rate * rng.uniform(-1.2, 1.2, 4))
        weights = rng.dirichlet(np.ones(4))
        most = dearest_row(cover, kinks, weights)
        for pair in ((first, second), (second, first)):
            assert convex_value(*pair, kinks, weights) <= most + 1e-13
    # At a tie of two classes that are far ahead the cover is no larger than it has to be.
    ahead = [[-lead, lead - 1, -100 / rate] for lead in (0, 1)]
    first, second = (np.array(law(counts, rate), dtype=float) for counts in ahead)
    one = np.ones(1)
    found = convex_value(second, first, one, one)
    assert 0.999 * dearest_row(cover, one, one) <= found


COVERS = [
    *((cover(rate), 2 * rate * (1 + 1e-3)) for _, cover in LAWS for rate in (1e-4, *RATES, 10.0)),
    *((laplace_cover(scale, 30), 2 / scale * (1 + 1e-9)) for scale in (0.3, 20.0)),
]


@pytest.mark.parametrize(("cover", "most"), COVERS)
def test_rows_are_distributions_whose_losses_have_the_mechanisms_bound(cover, most):
    for rows in (cover.first, cover.second):
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert ((cover.first > 0) == (cover.second > 0)).all()
    both = cover.first > 0
    assert np.abs(np.log(cover.first[both] / cover.second[both])).max() <= most


@pytest.mark.parametrize("law", [exponential_law, permute_and_flip_law])
@pytest.mark.parametrize(("labels", "teachers"), [(1, 5), (2, 5), (3, 3)])
def test_all_strategies_of_small_adversaries_stay_below_the_bound(law, labels, teachers):
    """All histograms of three classes, all pairs of neighbours, all choices: in fractions."""
    rate, unit = 0.4, 2**40
    cover_of = dict(LAWS)[law]
    histograms = [c for c in itertools.product(range(teachers + 1), repeat=3) if sum(c) == teachers]

    def rounded(counts):
        found = [Fraction(int(mpmath.nint(p * unit)), unit) for p in law(counts, rate)[:2]]
        return [*found, 1 - sum(found)]

    laws = {counts: rounded(counts) for counts in histograms}
    # Up to the names of classes.
    near = {
        tuple(sorted(zip(one, other, strict=True))): (one, other)
        for one in histograms
        for other in histograms
        if sorted(np.subtract(one, other)) == [-1, 0, 1]
    }.values()
    first, second = ([laws[pair[i]] for pair in near] for i in (0, 1))
    pairs = both_orders(np.array(first, dtype=float), np.array(second, dtype=float))
    played = Pairs(np.array(first, dtype=float), np.array(second, dtype=float))
    family = Covered(cover_of(rate), played)
    for epsilon in (0.0, 0.3 * labels, 0.9 * labels):
        low, high = power(epsilon)
        found = bounds_at(family, labels, epsilon, fineness=20)
        # Probabilities are rounded to 2^-40.
        assert float(exact_value(pairs, labels, high)) <= found.upper + labels * 4 / unit
        assert found.lower <= float(exact_value(pairs, labels, low)) * (1 + 1e-9) + 1e-12
        if not epsilon:
            assert found.lower > 0.7 * found.upper


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_the_exponential_mechanism_costs_what_optimal_composition_of_its_range_says(labels):
    """Dong, Durfee and Rogers (2020): never less, and more by the grid alone."""
    size = 0.6
    cover = exponential_cover(size / 2)
    tops = np.linspace(0, size, 401)

    def worst(left, epsilon):
        if not left:
            return np.maximum(-np.expm1(epsilon), 0.0)
        share = ((np.exp(size) - np.exp(tops)) / np.expm1(size))[:, None]
        low, high = epsilon[None] - tops[:, None], epsilon[None] - tops[:, None] + size
        if left > 1:  # read between points; chords of a convex function in e^epsilon lie above
            points = np.linspace(-4, 4, 4001)
            values = worst(left - 1, points)
            ends = [np.interp(np.exp(x), np.exp(points), values) for x in (low, high)]
        else:
            ends = [worst(0, x) for x in (low, high)]
        return (share * ends[0] + (1 - share) * ends[1]).max(axis=0)

    for epsilon in (0.3 * labels * size, 0.6 * labels * size):
        exact = worst(labels, np.array([epsilon]))[0]
        found = bounds_at(Covered(cover, cover), labels, epsilon, fineness=20)
        assert exact * (1 - 1e-4) <= found.upper <= 1.03 * exact


def test_permute_and_flip_in_many_classes_composes_no_worse_than_any_pure_mechanism():
    cover, labels, delta = permute_and_flip_cover(0.1), 30, 1e-5
    most = optimal_homogeneous(0.2, 0.0, labels, delta).epsilon
    found = bounds_at(Covered(cover, cover), labels, most)
    assert 0.1 * delta < found.lower <= found.upper <= delta


@pytest.mark.parametrize(("cells", "rate"), [(4, 0.1), (7, 0.3), (20, 2.0)])
def test_probabilities_bend_within_a_vote_by_no_more_than_is_granted(cells, rate):
    """a one vote above b's new count, or all others at b's; the third class in between."""
    width = rate / cells
    for rival in (-60, 0):
        for below in range(cells):
            ends = [[0, rival - (below + i) / cells, -(below + i) / cells] for i in (0, 1)]
            middle = [0, rival - (below + 0.4) / cells, -(below + 0.4) / cells]
            for move in (0, 1):
                laws = []
                for counts in (*ends, middle):
                    moved = [counts[0] - move, counts[1] - 1 + move, counts[2]]
                    laws.append([float(p) for p in permute_and_flip_law(moved, rate)])
                chord = 0.6 * np.array(laws[0]) + 0.4 * np.array(laws[1])
                assert (np.abs(laws[2] - chord) <= bent(width) * chord).all()
    assert bent(0.6) == math.inf


@pytest.mark.parametrize("width", [0.0, 1e-6, 0.02, 0.3, 0.5])
def test_what_is_granted_a_chord_is_relative_to_the_chord(width):
    """Off by `share` of the probability, which is no less than 1 - share of the chord's."""
    with mpmath.workdps(40):
        share = mpf(3) / 8 * mpf(width) ** 2 * mpmath.exp(3 * mpf(width))
        exact = share / (1 - share)
        assert exact <= bent(width) <= exact * (1 + 1e-11) + 1e-11


def tail(x):
    """Pr[standard Laplace noise > x]."""
    return np.where(x > 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


def points(corners):
    """Nodes and weights on pieces between all corners, at most 1 long."""
    edges = [min(corners) - 42, *sorted(corners), max(corners) + 42]
    cut = np.concatenate(
        [np.linspace(*ends, math.ceil(ends[1] - ends[0]) + 2) for ends in itertools.pairwise(edges)]
    )
    half = np.diff(cut) / 2
    place = (cut[:-1] + half)[:, None] + half[:, None] * NODES
    return place.ravel(), (half[:, None] * WEIGHTS).ravel()


def laplace_law(counts):
    """Pr[the largest of counts with standard Laplace noise], in units of the scale."""
    y, weights = points(counts)
    below = np.array([tail(-(y - n)) for n in counts])
    densities = np.exp(-np.abs(y - np.array(counts)[:, None])) / 2
    others = [np.delete(below, j, axis=0).prod(axis=0) for j in range(len(counts))]
    return np.array(
        [density * rest @ weights for density, rest in zip(densities, others, strict=True)]
    )


def law_beside(a, b, z):
    """Pr[a], Pr[b] and Pr[another], which has exponential noise on z."""
    y, weights = points([a, b, z])
    other = np.where(y > z, -np.expm1(-np.maximum(y - z, 0)), 0)
    first, second = (np.exp(-np.abs(y - n)) / 2 * other for n in (a, b))
    third = np.where(y > z, np.exp(-np.maximum(y - z, 0)), 0) * tail(a - y) * tail(b - y)
    return np.array([first * tail(b - y), second * tail(a - y), third]) @ weights


@pytest.mark.parametrize(("lead", "other"), [(0.0, 0.0), (0.3, 2.0), (3.0, 0.1), (7.0, 11.0)])
def test_closed_forms_are_the_integrals(lead, other):
    g, w = np.exp(-other), np.exp(-lead)
    one = np.ones(1)
    np.testing.assert_allclose(
        _above(w * one, g * one)[0], law_beside(-lead, -other, 0.0), rtol=1e-12
    )
    np.testing.assert_allclose(
        _between_at(lead * one, other * one)[0], law_beside(lead, -other, 0.0), rtol=1e-12
    )
    found = _below(lead * one, g * one, g**2 * one)[0]
    np.testing.assert_allclose(found, law_beside(lead, 0.0, -other), rtol=1e-12)


@pytest.mark.parametrize("scale", [0.4, 3.0, 25.0])
@pytest.mark.parametrize("whole", [True, False])
def test_no_neighbours_of_lnmax_do_more_to_a_convex_function_than_the_cover(scale, whole):
    """Whole histograms of up to six classes; and any z that a proof may ask for."""
    teachers = 40
    rng = np.random.default_rng([int(10 * scale), whole])
    cover = laplace_cover(scale, teachers)
    for _ in range(100):
        kinks = np.exp(2 / scale * rng.uniform(-1.2, 1.2, 4))
        weights = rng.dirichlet(np.ones(4))
        if whole:
            shares = rng.dirichlet(np.full(rng.integers(3, 7), rng.choice([0.3, 1.0, 30.0])))
            counts = rng.multinomial(teachers - 1, shares).astype(float)
            counts[0] += 1
            moved = counts - np.eye(counts.size)[0] + np.eye(counts.size)[1]
            pair = laplace_law(counts / scale), laplace_law(moved / scale)
        else:
            lead = int(rng.integers(2 - teachers, teachers + 1))
            z = rng.uniform(-2, 2) + rng.choice([0, lead, 0.5 * lead])
            if rng.random() < 0.3:
                z = rng.uniform(min(lead, 0) - 3 * scale, max(lead, 0) + 3 * scale)
            pair = [
                law_beside(x / scale, y / scale, z / scale) for x, y in ((lead, 0), (lead - 1, 1))
            ]
        most = dearest_row(cover, kinks, weights)
        for first, second in (pair, pair[::-1]):
            assert convex_value(first, second, kinks, weights) <= most + 1e-13
    # At a tie of two classes that are far ahead the cover is no larger than it has to be.
    one = np.ones(1)
    pair = [law_beside(x / scale, (1 - x) / scale, -80.0) for x in (1, 0)]
    assert convex_value(*pair, one, one) >= 0.98 * dearest_row(cover, one, one)


def test_as_votes_move_on_ratios_order_the_outcomes():
    """Of each little move: a's probability falls, b's rises, and the other's ratio lies between."""
    rng, little = np.random.default_rng(5), 1e-5
    for _ in range(300):
        a, b, z = rng.uniform(-4, 4, 3) * rng.choice([0.1, 1.0])
        before, after = law_beside(a, b, z), law_beside(a - little, b + little, z)
        fall, rise, other = np.log(after / before) / little
        assert fall <= 1e-6
        assert rise >= -1e-6
        assert fall - 1e-6 <= other <= rise + 1e-6


@pytest.mark.parametrize(("width", "vote"), [(0.01, 0.02), (0.1, 0.3), (0.3, 2.0)])
def test_lnmaxs_probabilities_bend_within_a_vote_by_no_more_than_is_granted(width, vote):
    rng = np.random.default_rng(1)
    for _ in range(40):
        a, b = rng.uniform(-vote, vote, 2) * rng.choice([1, 5])
        z = rng.uniform(-vote, vote)
        share = rng.uniform()
        # z runs with a and b as they are; or a alone.
        for ends in (
            [(a, b, z), (a, b, z + width)],
            [(a, b, z), (a + width, b, z)],
        ):
            laws = [law_beside(*end) for end in ends]
            inner = law_beside(*((1 - share) * np.array(ends[0]) + share * np.array(ends[1])))
            chord = (1 - share) * laws[0] + share * laws[1]
            assert (np.abs(inner - chord) <= bent(width) * chord).all()


def test_all_pairs_of_lnmaxs_small_adversaries_stay_below_the_bound():
    """All histograms of three classes, one and two labels, whatever is chosen after the first."""
    scale, teachers = 4.0, 5
    histograms = [c for c in itertools.product(range(6), repeat=3) if sum(c) == teachers]
    laws = {counts: laplace_law(np.array(counts) / scale) for counts in histograms}
    check_small_adversaries(
        laws,
        lambda *pairs: Covered(laplace_cover(scale, teachers), Pairs(*pairs, 1e-12)),
    )


@pytest.mark.parametrize("scale", [2.0, 12.0, 30.0, 100.0])
def test_far_leads_of_very_many_teachers_tell_less_than_the_row_for_all_of_them(scale):
    t = np.exp(np.linspace(-3, 3, 25))
    near = max(1000, math.ceil(44 * scale) + 2)
    teachers = min(near + 40, int(600 * scale) - 2)
    found = laplace_cover(scale, teachers)
    assert found.first[-1].tolist() == [1.0, _TOLD, 0.0]
    told = Pairs(found.first[-1:], found.second[-1:]).excesses(t)
    assert (told >= _TOLD * np.minimum(t, 1.0) * (1 - 1e-12)).all()
    # Of these pairs the curves themselves, of small probabilities alone: a's are 1 less the rest.
    for before, after, _ in _other_behind(1 / scale, np.arange(2, teachers + 1), scale)[2:]:
        leads = len(before) // (teachers - 1)
        rest = before[leads * (near - 1) :, 1:], after[leads * (near - 1) :, 1:]
        assert len(rest[0]) == leads * (teachers - near)
        assert all((part.sum(axis=1) < _TOLD).all() for part in rest)
    # A few scales nearer more is told.
    assert _below(np.array([39.0]), np.full(1, 0.5), np.full(1, 0.25))[0, 1:].sum() > _TOLD


@pytest.mark.parametrize("scale", [30.0, 300.0, 3000.0])
def test_leads_that_are_not_listed_do_no_more_than_those_around_them(scale):
    """Of very many teachers: whole leads and any z, against laws that know nothing of the cover."""
    teachers = math.ceil(8 * scale) + 1000
    cover = laplace_cover(scale, teachers)
    assert cover.error.shape == cover.first.shape  # cells of leads have errors of their own
    rng = np.random.default_rng(int(scale) + 1)
    for _ in range(150):
        kinks = np.exp(2 / scale * rng.uniform(-1.2, 1.2, 4))
        if rng.random() < 0.3:  # far out rare outcomes decide
            kinks = np.exp(2 / scale * rng.choice([-1, 1]) * rng.uniform(0.9, 1, 4))
        weights = rng.dirichlet(np.ones(4))
        lead = int(scale * rng.exponential(rng.choice([0.3, 2.0]))) + 2
        z = rng.choice([0, rng.uniform(-1, 1), rng.uniform(-3 * scale, lead)])
        pair = [law_beside(x / scale, y / scale, z / scale) for x, y in ((lead, 0), (lead - 1, 1))]
        most = dearest_row(cover, kinks, weights)
        for first, second in (pair, pair[::-1]):
            assert convex_value(first, second, kinks, weights) <= most + 1e-13


@pytest.mark.parametrize("scale", [30.0, 3000.0])
def test_chords_of_listed_leads_with_their_errors_lie_above_every_lead(scale):
    """Row by row: outcomes of each whole lead, before and after, within errors of two nodes'."""
    listed = _listed_leads(2, math.ceil(44 * scale), scale)
    every = np.unique(np.linspace(2, listed[-1], 3000).astype(int))
    *_, (before, after, width, *wide) = _other_behind(1 / scale, listed, scale)
    rows = len(before) // len(listed)
    errors = _of_leads(np.full((len(before), 1), bent(width)), before, after, *wide)
    exact = _other_behind(1 / scale, every, scale)[-1]
    place = np.clip(np.searchsorted(listed, every, side="right") - 1, 0, len(listed) - 2)
    share = ((every - listed[place]) / np.diff(listed)[place])[:, None, None]
    for law, true in ((before, exact[0]), (after, exact[1])):
        nodes = law.reshape(len(listed), rows, 3)
        allowed = (law * errors).reshape(nodes.shape) + 1e-16
        chord = (1 - share) * nodes[place] + share * nodes[place + 1]
        most = (1 - share) * allowed[place] + share * allowed[place + 1]
        assert (np.abs(true.reshape(len(every), rows, 3) - chord) <= most).all()


@pytest.mark.parametrize("scale", [0.7, 6.0])
def test_what_runs_within_a_vote_has_nodes_from_one_end_to_the_other(scale):
    """The other behind a and ahead of b: by nothing of a's lead, and by all of it or a vote."""
    vote = 1 / scale
    parts = _other_behind(vote, np.arange(2, 5), scale)
    for part, leads in ((parts[1], [1]), (parts[3], [2, 3, 4])):
        before, after, _ = part
        rows = np.split(before, len(leads)), np.split(after, len(leads))
        for lead, first, second in zip(leads, *rows, strict=True):
            ends = [(lead * vote, 0.0), ((lead - 1) * vote, vote)]
            for place, (ahead, behind) in zip((0, -1), ends, strict=True):
                laws = [law_beside(ahead - x, x - behind, 0.0) for x in (0.0, vote)]
                np.testing.assert_allclose(first[place], laws[0], rtol=1e-9)
                np.testing.assert_allclose(second[place], laws[1], rtol=1e-9)


@pytest.mark.parametrize("high", [1.0, 0.9])
@pytest.mark.parametrize("cells", [1, 4, 32])
def test_mixtures_of_bends_reach_the_square_and_the_entropy(high, cells):
    """x, x^2 and -x ln x within a cell: Bernstein's weights of its two ends and what is between."""
    x, square, entropy = _with_bends(high * np.arange(cells + 1) / cells)
    s = np.linspace(0, 1, 201)
    weights = np.stack([(1 - s) ** 2, 2 * s * (1 - s), s**2])
    for cell in range(cells):
        at = slice(2 * cell, 2 * cell + 3)
        here = x[at] @ weights
        np.testing.assert_allclose(square[at] @ weights, here**2, rtol=1e-12, atol=1e-15)
        exact = -here * np.log(np.where(here > 0, here, 1.0))
        least, most = (half[at] @ weights for half in np.split(entropy, 2))
        assert (least <= exact + 1e-15).all()
        assert (exact <= most + 1e-15).all()
        assert (most - least <= 2 * high / cells).all()


@pytest.mark.parametrize("scale", [0.7, 6.0])
def test_rows_between_hold_the_ends_of_what_the_other_can_lie_between(scale):
    """a above it, by all of a vote at least, b a vote below it or far below, and each after."""
    vote = 1 / scale
    rows = [np.hstack(part[:2]) for part in _other_between(vote)]
    for lead in (vote, 60.0):  # of a over the other, before
        for behind in (vote, 60.0):  # of b
            laws = [law_beside(lead - x, x - behind, 0.0) for x in (0.0, vote)]
            found = np.concatenate(rows)
            assert np.abs(found - np.concatenate(laws)).max(axis=1).min() < 1e-12


def test_very_many_teachers_are_covered_at_a_scale_that_a_thousand_are():
    """Leads beyond 44 scales share a row: how many more teachers there are does not matter."""
    few, many = (len(laplace_cover(20.0, teachers).first) for teachers in (1001, 10**6))
    assert many == few < len(laplace_cover(20.0, 1000).first)
    with pytest.raises(ValueError, match="scale"):
        laplace_cover(1.0, 10**6)
