"""All labels of a release, and noisy counts, against truths that are worked out otherwise."""

import math
import random
import sys
from fractions import Fraction
from functools import partial
from itertools import pairwise
from operator import mul

import mpmath
import numpy as np
import pytest
from scipy.ndimage import maximum_filter
from scipy.special import ndtr

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    max_loss_deviation,
    two_class_dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.hockey_sticks import hockey_stick_divergences
from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts, delta
from private_ensembles.labels.gnmax_quadrature import gnmax_distribution
from private_ensembles.release import label_certificate
from private_ensembles.release.label_certificate import Noise, VerifierGaussianMaximum
from verify import verify

DELTA = 0.01
TINY = Fraction(1, 2**120)
COINS = [0.1, 0.3, 0.7, 0.9]  # of label 1, for 0 to 3 ones


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def _noise(ones):
    rows = [[int(p < 0.5), write_hexadecimal(min(p, 1 - p))] for p in ones]
    table = np.stack([1 - np.array(ones), ones], axis=1)
    first = np.concatenate([table[:-1], table[1:]])
    second = np.concatenate([table[1:], table[:-1]])
    law = {"name": "coins", "rows": rows}
    spread = max_loss_deviation(two_class_dominating_pairs(ones))
    return Noise(
        law,
        partial(hockey_stick_divergences, first, second),
        spread,
        spread / 20,
        (2, len(ones) - 1),
    )


def _certificate(labels):
    """The first certificate of a claim a little weaker than the account's, and the claim."""
    epsilon = 1.001 * adaptive_epsilon(two_class_dominating_pairs(COINS), labels, DELTA).upper
    body, _ = next(label_certificate.certify_adaptive_labels(_noise(COINS), labels, DELTA, epsilon))
    return body, epsilon


def _truth(ones, labels, epsilon):
    """The largest sum over outcomes of (P - e^epsilon P')_+ that an adversary reaches, by all
    strategies; a trifle too small, since e^epsilon is a float above it.
    """
    x = Fraction(math.nextafter(math.exp(epsilon), math.inf))

    def best(p, q, left):
        value = max(Fraction(0), p - x * q)
        for i in range(len(ones) - 1 if left else 0):
            for one, two in ((ones[i], ones[i + 1]), (ones[i + 1], ones[i])):
                both = zip((one, 1 - one), (two, 1 - two), strict=True)
                value = max(value, sum(best(p * a, q * b, left - 1) for a, b in both))
        return value

    return best(Fraction(1), Fraction(1), labels)


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_labels_cost_what_the_worst_adversary_reaches(labels):
    body, epsilon = _certificate(labels)
    about, least, most = verify.adaptive_labels(_fields(body), Fraction(epsilon))
    coins = [Fraction(p) for p in COINS]
    truth = _truth(coins, labels, epsilon)
    assert truth <= most <= Fraction(DELTA)
    assert least == most
    assert f"{labels} labels" in about
    # No smaller epsilon by more than a few percent: the grid is fine.
    lower = _truth(coins, labels, 0.95 * epsilon)
    assert lower > DELTA


def test_blocks_stand_for_their_labels():
    body, epsilon = _certificate(3)
    body["blocks"] = [{"times": 3, "labels": 1}]
    apart = verify.adaptive_labels(_fields(body), Fraction(epsilon))[2]
    coins = [Fraction(p) for p in COINS]
    assert apart >= _truth(coins, 3, epsilon)


@pytest.mark.parametrize(("missing", "why"), [("law", "'law'"), ("blocks", "a block has a label")])
def test_labels_have_a_law_and_blocks(missing, why):
    body, epsilon = _certificate(3)
    forged = _fields(body)
    if missing == "blocks":
        forged["blocks"] = []
    else:
        del forged[missing]
    with pytest.raises(ValueError, match=why):
        verify.adaptive_labels(forged, Fraction(epsilon))


def test_labels_that_are_drawn_near_their_coins_cost_as_much_more():
    body, epsilon = _certificate(2)
    law = body["law"]
    costs = []
    for apart in (0, 1, 3):
        body["law"] = law | {"apart": f"{apart}/1000"} if apart else law
        costs.append(verify.adaptive_labels(_fields(body), Fraction(epsilon))[2])
    # Either label may be further away, and gives away that much by itself.
    assert costs[1] >= costs[0] + Fraction(2, 1000)
    assert costs[2] >= costs[0] + Fraction(6, 1000)


@pytest.mark.parametrize("seed", range(2))
def test_curves_of_labels_lie_above_the_worst_adversary_reflect_hockey_stick(seed):
    """Also left of 1, where they are reflected."""
    generator = np.random.default_rng(seed)
    ones = [float(p) for p in np.sort(generator.uniform(0.05, 0.95, 4))]
    noise = _noise(ones)
    step, places = Fraction(noise.max_loss_deviation) / 8, [*range(40), 60, 90]
    groups = [[0, 1, 1], [0, 1, 1]]
    kernels, _ = verify.kernels_on_a_grid(noise.law, groups, step, places)
    curves = verify.induction(kernels, {1, 2, 3}, step, places[-1], 80)
    coins = [Fraction(p) for p in ones]
    for labels in (1, 2, 3):
        known, curve = curves[labels]
        for k in (-known, -40, -9, -1, 0, 1, 9, 40):
            found = Fraction(curve[known + k], verify.ONE)
            assert found >= _truth(coins, labels, float(k * step))


def _excess(pairs, t, apart):
    """The largest sum of (P - t P')_+ in fractions, of labels so far from these at most."""
    return max(
        max(0, 1 - t, *(p - t * q + apart * (1 + t) for p, q in zip(before, after, strict=True)))
        for before, after in pairs
    )


@pytest.mark.parametrize("apart", [Fraction(0), Fraction(1, 1000)])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_hockey_sticks_are_those_of_fractions_reflect_hockey_stick_of_1(seed, apart):
    generator = random.Random(seed)
    ones = sorted(Fraction(generator.randrange(1, 1000), 1000) for _ in range(6))
    rows = [[int(2 * p < 1), str(min(p, 1 - p))] for p in ones]
    law = {"name": "coins", "rows": rows} | ({"apart": str(apart)} if apart else {})
    groups = [[generator.randrange(3) for _ in ones[1:]] for _ in range(2)]
    step, places = Fraction(1, 7), [0, 1, 2, 5, 12, 30]
    members = {}
    for i, both in enumerate(zip(*groups, strict=True)):
        before, after = ([p, 1 - p] for p in ones[i : i + 2])
        for group, pair in zip(both, ((before, after), (after, before)), strict=True):
            members.setdefault(group, []).append(pair)
    found, _ = verify.pairs_hockey_sticks(law, groups, step, places)
    thresholds = [*(-k for k in places[:0:-1]), *places]
    for pairs, sticks in zip(members.values(), found, strict=True):
        for k, stick in zip(thresholds, sticks, strict=True):
            with mpmath.workdps(70):
                growth = mpmath.exp(mpmath.mpf(k) / 7)
                t = Fraction(int(growth * 10**65), 10**65)
            exact = min(Fraction(1), _excess(pairs, t, apart))
            assert exact - Fraction(1, 10**60) <= Fraction(stick, verify.ONE) <= exact + TINY


def test_a_reflected_stick_is_rounded_up():
    """What is known is one unit of fixed point above 0, where all that is lost shows."""
    step, places = Fraction(1, 3), [0, 1, 4, 700]
    for excess in (0, 1, verify.ONE):
        row = verify.reflect_hockey_stick([excess] * 4, [excess] * 4, step, places)
        for k, stick in zip((-700, -4, -1), row, strict=False):
            below, above = verify.exp(k * step)
            exact = 1 - below + above * Fraction(excess, verify.ONE)
            assert 0 <= Fraction(stick, verify.ONE) - exact <= Fraction(3, verify.ONE)
        assert row[3:] == [excess] * 4


def _fields(body):
    stated = ("kind", "theorem", "proof", "epsilon", "delta")
    return {name: value for name, value in body.items() if name not in stated}


@pytest.mark.parametrize(
    ("sigma", "teachers", "leads"),
    [
        (2.5, 5, "votes"),
        (2.5, 5, "cells"),
        pytest.param(7.3, 40, "votes", marks=pytest.mark.slow),
        pytest.param(20.0, 40, "cells", marks=pytest.mark.slow),
    ],
)
def test_sticks_of_the_largest_count_lie_above_every_label(sigma, teachers, leads):
    """Random histograms of up to five classes, and the package's own sticks at the same nodes."""
    law = {
        "name": "gaussian_maximum",
        "scale": write_hexadecimal(sigma),
        "teachers": teachers,
        "classes": 5,
        "leads": leads,
        "cells": 10,
        "panels": 2,
        "lattice": "none",
    }
    maximum = verify.Maximum(law)
    step, places = 0.4 / sigma, [0, 1, 2, 3, 5, 8, 13]
    groups = [[0] * maximum.middles for _ in range(2 * maximum.leads + 1)]
    (sticks,), _ = maximum.group_hockey_sticks(groups, Fraction(step), places)
    sticks = np.array([float(Fraction(stick, verify.ONE)) for stick in sticks])
    t = np.exp(step * np.array([*(-k for k in places[:0:-1]), *places]))
    package = VerifierGaussianMaximum(sigma, teachers, 5)
    if package.has_grid_point_per_vote == (leads == "votes"):
        assert package._bounding_lines.shape[2:4] == (2 * maximum.leads + 1, maximum.middles)
        same = package.hockey_stick_divergences(t).max(axis=0) + np.maximum(0, 1 - t)
        assert np.abs(sticks - same).max() < 1e-9
    generator = np.random.default_rng(0)
    for classes in (2, 3, 5):
        shares = generator.dirichlet(np.ones(classes), 40)
        before = np.array([generator.multinomial(teachers, share) for share in shares])
        before = before[before[:, 0] > 0]
        after = before.copy()
        after[:, 0] -= 1
        after[:, 1] += 1
        laws = [gnmax_distribution(counts, sigma) for counts in (before, after)]
        for p, q in (laws, laws[::-1]):
            exact = np.maximum(p[:, :, None] - q[:, :, None] * t, 0).sum(axis=1)
            assert (exact <= sticks + 1e-9).all()


@pytest.mark.parametrize(
    ("times", "sigma", "epsilon"), [(1, 2.5, 0.3), (2, 3.0, 0.8), (3, 2.0, -0.5)]
)
def test_counts_with_noise_on_whole_numbers_cost_what_their_sum_does(times, sigma, epsilon):
    with mpmath.workdps(40):
        reach = 60
        weights = [
            mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2))
            for x in range(-reach, reach + 1)
        ]
        whole = mpmath.fsum(weights)
        law = {x - reach: w / whole for x, w in enumerate(weights)}
        total = {0: mpmath.mpf(1)}
        for _ in range(times):
            after = {}
            for s, p in total.items():
                for x, w in law.items():
                    after[s + x] = after.get(s + x, 0) + p * w
            total = after
        exact = mpmath.mpf(0)
        growth = mpmath.exp(epsilon)
        for s, p in total.items():
            # All noise that adds up to s is as likely against the neighbour by this factor.
            loss = mpmath.mpf(2 * s + times) / (2 * mpmath.mpf(sigma) ** 2)
            exact += max(mpmath.mpf(0), p * (1 - growth * mpmath.exp(-loss)))
        stick, about = verify.discrete_noise(times, Fraction(sigma))
        proven = stick(Fraction(epsilon))
        assert float(exact) * (1 - 1e-15) <= proven <= float(exact) * (1 + 1e-8) + 1e-18
    assert f"{times} counts" in about


@pytest.mark.parametrize(
    "rows", [[(3, 2.5), (2, 4.0)], [(60, 30.0), (40, 15.0)], [(2, 300.0), (4000, 10.0)]]
)
def test_counts_of_two_kinds_cost_what_the_account_says(rows):
    epsilon = Fraction(1, 2)
    exact = delta(0.5, [DiscreteGaussianCounts(*row) for row in rows])
    body = {
        "counts": [{"times": times, "scale": write_hexadecimal(scale)} for times, scale in rows]
    }
    about, least, most = verify.discrete_counts(body, epsilon)
    assert least == most
    assert float(most) == pytest.approx(exact, rel=1e-9)
    assert all(f"{times} counts" in about for times, _ in rows)


def test_large_sums_count_as_rounded_gaussians():
    stick, _ = verify.discrete_noise(4000, Fraction(10))
    fine, _ = verify.discrete_noise(1500, Fraction(10))
    for count, curve in ((4000, stick), (1500, fine)):
        exact = delta(2.0, [DiscreteGaussianCounts(count, 10.0)])
        assert float(curve(Fraction(2))) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    "rows", [[(3, 1.5)], [(1, 0.4)], [(40, 0.9)], [(3, 1.5), (2, 0.7)], [(5, 1.9), (90, 30.0)]]
)
def test_counts_of_small_scales_are_added_up(rows):
    for epsilon in (0.3, 4.0, 15.0):
        exact = delta(epsilon, [DiscreteGaussianCounts(*row) for row in rows])
        body = {
            "counts": [{"times": times, "scale": write_hexadecimal(scale)} for times, scale in rows]
        }
        found = float(verify.discrete_counts(body, Fraction(epsilon))[2])
        assert found == pytest.approx(exact, rel=1e-8, abs=1e-25)


def test_counts_of_small_scales_are_asked_at_many_thresholds_in_time():
    """A file must not keep the verifier busy beyond the steps that it charges."""
    stick, _ = verify.discrete_noise(50, Fraction(15, 8))
    lines = 0

    def count_lines(frame, event, _):
        nonlocal lines
        if frame.f_code.co_filename != verify.__file__:
            return None
        lines += event == "line"
        return count_lines

    before = sys.gettrace()
    sys.settrace(count_lines)
    try:
        curve = [stick(Fraction(k, 16)) for k in range(-125, 126)]
    finally:
        sys.settrace(before)
    assert lines < 200 * len(curve)  # a loop over all masses takes far more
    assert curve == sorted(curve, reverse=True)
    assert 0 <= curve[-1] < curve[0] <= 1


def tail_of(variance, start):
    """Pr[Z >= start] of the discrete Gaussian, of a variance up to 100."""
    weights = {s: mpmath.exp(-(mpmath.mpf(s) ** 2) / (2 * variance)) for s in range(-260, 261)}
    above = mpmath.fsum(weight for s, weight in weights.items() if s >= start)
    return above / mpmath.fsum(weights.values())


@pytest.mark.parametrize("epsilon", [Fraction(-1, 3), Fraction(0), Fraction(3, 4), Fraction(5)])
def test_what_a_sum_s_law_may_be_off_by_is_granted_at_every_epsilon(epsilon):
    """Each chance by eta, and epsilon by three: to 50 digits, of listed sums and of Gaussians."""
    with mpmath.workdps(80):
        for times, scale in [(3, Fraction(5, 2)), (1, Fraction(5, 2)), (4000, Fraction(10))]:
            eta = verify.eta_of(times, scale)
            found = verify.discrete_noise(times, scale)[0](epsilon)
            x, variance = (
                mpmath.mpf(y.numerator) / y.denominator
                for y in (epsilon - 3 * eta, times * scale**2)
            )
            growth, eta = mpmath.exp(x), mpmath.mpf(eta.numerator) / eta.denominator
            if times < 10:  # the least s whose loss (2 s + times) / (2 scale^2) is above x
                start = int(mpmath.floor(variance / times * x - mpmath.mpf(times) / 2)) + 1
                here, there = (tail_of(variance, s) for s in (start, start + times))
            else:  # a Gaussian of 2.25 less variance, moved by as many as there are counts
                mu = times / mpmath.sqrt(variance - mpmath.mpf(9) / 4)
                here, there = (mpmath.ncdf(sign * mu / 2 - x / mu) for sign in (1, -1))
            exact = (here - growth * there) * (1 + eta)
            found = mpmath.mpf(found.numerator) / found.denominator
            assert exact * (1 - mpmath.mpf(10) ** -60) <= found <= exact * (1 + 1e-30) + 1e-37


def test_counts_without_noise_are_refused():
    with pytest.raises(ValueError, match="there are counts, with noise"):
        verify.discrete_noise(3, Fraction(0))


@pytest.mark.parametrize("off", ["0", "1/1000", "-1/1000"])
def test_a_label_of_noise_is_no_further_from_its_coin_than_is_said(off):
    """Coins at the nearest floats; the one of 3 ones of 4 is moved, and then it is the furthest."""
    with mpmath.workdps(100):
        truth = [mpmath.ncdf(-abs(2 * ones - 4) / (3 * mpmath.sqrt(2))) for ones in range(5)]
        coins = [Fraction(float(p)) for p in truth]
        coins[3] += Fraction(off)
        exact = max(
            abs(mpmath.mpf(p.numerator) / p.denominator - q)
            for p, q in zip(coins, truth, strict=True)
        )
        found = verify.coin_total_variation([[1, str(p)] for p in coins], Fraction(3))
        found = mpmath.mpf(found.numerator) / found.denominator
        assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -30)


@pytest.mark.parametrize("classes", [2, 10, 1000])
@pytest.mark.parametrize(
    ("sigma", "log_lattice"),
    [(1, -40), (2**16 - 1, -40), (2**16, -39), (2**17 - 1, -39), (2**17, -38), (2**20, -35)],
)
def test_a_lattice_is_coarser_each_time_that_sigma_doubles(sigma, log_lattice, classes):
    """Its distance is that of theorem 5 in docs/discrete-noise.md; the root is within 1/4096."""
    with mpmath.workdps(50):
        root = mpmath.sqrt(2 * mpmath.log(classes))
        exact = (root + mpmath.mpf(classes) / 2**20) * mpmath.mpf(2) ** log_lattice / sigma
        found = verify.fine_lattice_total_variation(Fraction(sigma), classes)
        found = mpmath.mpf(found.numerator) / found.denominator
        assert exact <= found <= exact * (1 + mpmath.mpf(1) / 4096)


@pytest.mark.parametrize("sigma", [1, 3])
def test_noise_on_a_lattice_is_charged_its_distance_and_continuous_noise_none(sigma):
    """At a threshold t it adds (1 + t) times the distance to a label's divergence."""
    law = {"name": "gaussian_maximum", "scale": sigma, "teachers": 1, "classes": 5}
    law |= {"leads": "votes", "cells": 2, "panels": 1}
    step, places, sticks = Fraction(1, 4), [0, 1, 9], {}
    for lattice, distance in (
        ("none", 0),
        ("fine", verify.fine_lattice_total_variation(Fraction(sigma), 5)),
    ):
        maximum = verify.Maximum(law | {"lattice": lattice})
        assert maximum.distance == distance
        assert ("on a fine lattice" in maximum.about) == (lattice == "fine")
        groups = [[0] * maximum.middles for _ in range(2 * maximum.leads + 1)]
        (found,), _ = maximum.group_hockey_sticks(groups, step, places)
        sticks[lattice] = found[len(places) - 1 :]
    with mpmath.workdps(60):
        for k, without, lattice in zip(places, *sticks.values(), strict=True):
            added = distance.numerator * (1 + mpmath.exp(mpmath.mpf(k) / 4)) * verify.ONE
            added /= distance.denominator
            assert added <= lattice - without <= added * (1 + mpmath.mpf(2) ** -70)


def maximum_of(scale, teachers, cells, leads="votes", panels=1):
    law = {"name": "gaussian_maximum", "scale": write_hexadecimal(scale), "classes": 5}
    law |= {"teachers": teachers, "leads": leads, "cells": cells, "panels": panels}
    return verify.Maximum(law | {"lattice": "none"})


def test_the_density_and_the_distribution_lie_between_their_bounds():
    """To the last of the verifier's digits, at coordinates left and right of 0."""
    maximum = maximum_of(7.3, 40, 2)
    for n, m in [(-40, 1), (-7, -1), (0, 0), (0, 1), (3, -1), (11, 1), (60, 0)]:
        low, high, below, above = maximum.bound_density_and_cdf(n, m)
        x = maximum.coordinate(n, m)
        with mpmath.workdps(100):
            x = mpmath.mpf(x.numerator) / x.denominator
            density, share = (f(x) * verify.ONE for f in (mpmath.npdf, mpmath.ncdf))
            assert low <= density <= high <= low + 6
            assert below <= share <= above <= below + 6


def test_the_chance_that_the_first_wins_lies_between_its_bounds_however_small():
    """It is less than the verifier's last digit where a is 13 sigma behind and M far ahead."""
    maximum = maximum_of(0.5, 30, 2)
    for lead in (-maximum.leads, 2):
        bounds, w = maximum.first_wins(lead), maximum.half_move + lead * maximum.half_move
        for j in (0, 20, len(bounds) - 2):
            c = maximum.start(j) * maximum.unit
            with mpmath.workdps(40):
                x, half = (mpmath.mpf(y.numerator) / y.denominator for y in (c, w / 2))
                exact = mpmath.quad(
                    lambda y, h=half: mpmath.npdf(y - h) * mpmath.ncdf(y + h),
                    [x + k for k in (0, 2, 7, 16)],
                )
            below, above = bounds[j]
            assert below <= exact * verify.ONE <= above, (lead, j)


def bends(w, c):
    """Second derivatives of Pr[a], Pr[b] and Pr[another] by c and by w, and what w does to them.

    Both are given as (2, 3, ...). In closed form; Pr[b] is Pr[a] at -w, and the three add up to 1.
    """

    def density(x):
        return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    def first(w):
        a, b = c - w / 2, c + w / 2
        only, both = density(a) * ndtr(b), density(a) * density(b)
        tie = np.exp(-(w**2) / 4) * ndtr(-math.sqrt(2) * c) / (2 * math.sqrt(math.pi))
        return np.array(
            [
                [a * only - both, (a * only + both) / 4 - w / 2 * tie],
                [
                    ((a**2 - 1) * only + b * both) / 2,
                    ((a**2 - 1) * only + (a - w) * both) / 8 + (w**2 / 4 - 0.5) * tie,
                ],
            ]
        )

    mine, theirs = first(w), first(-w) * np.array([1, -1]).reshape(2, 1, *np.ones(w.ndim, int))
    return np.abs(np.stack([mine, theirs, mine + theirs], axis=2))


def granted_and_needed(maximum, *, moved):
    """What nodes are granted for bends, and need at all corners of their cells.

    Both are (leads, middles, 6). A vote is before, during and after its move, if it does move.
    """
    cell, move = float(maximum.cell), 2 * float(maximum.half_move)
    places = np.arange(-maximum.leads, maximum.leads + 1) * maximum.stride
    w = (move / 2 + places * cell)[:, None]
    c = np.array([float(maximum.start(j) * maximum.unit) for j in range(maximum.middles)])[None, :]
    granted = np.array(maximum.curvature_bounds(move=moved), dtype=float) / verify.ONE
    exact = np.max([bends(w - x * move + 0 * c, c) for x in (0, 0.5, 1)[: 1 + 2 * moved]], axis=0)
    if maximum.votes:  # then no lead lies between nodes
        exact[:, 1] = 0
    needed = exact.sum(axis=1) * cell**2 / 8  # (2, 3, leads, middles)
    needed[1] *= move
    needed = np.moveaxis(needed.reshape(6, *needed.shape[2:]), 0, -1)
    return granted, maximum_filter(needed, (1 if maximum.votes else 3, 3, 1), mode="nearest")


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize(("leads", "cells"), [("votes", 2), ("cells", 2), ("cells", 3)])
def test_each_factor_of_a_bend_is_the_largest_in_its_whole_cell(monkeypatch, leads, cells, moved):
    """The leads and coordinates that it is looked for among are those of the cell, at both ends."""
    asked, largest = [], verify.largest_absolute

    def see_interval(low, high):
        asked.append((low, high))
        return largest(low, high)

    maximum = maximum_of(2.5, 5, cells, leads)
    monkeypatch.setattr(verify, "largest_absolute", see_interval)
    maximum.curvature_bounds(move=moved)
    wide = 0 if leads == "votes" else 1
    intervals, near = iter(asked), Fraction(4, verify.ONE)
    for i in range(-maximum.leads, maximum.leads + 1 - wide):
        low = maximum.half_move + i * maximum.stride * maximum.cell
        high = low + wide * maximum.cell
        low -= 2 * maximum.half_move * moved  # which is how far the vote takes the lead
        assert next(intervals) == (low, high)
        for j in range(maximum.middles - 1):
            c, d = (maximum.start(k) * maximum.unit for k in (j, j + 1))
            mine, theirs = (c - high / 2, d - low / 2), (c + low / 2, d + high / 2)
            further = [(c - 3 * high / 2, d - 3 * low / 2), (c + 3 * low / 2, d + 3 * high / 2)]
            for exact in (mine, theirs, mine, theirs, *further):
                for end, found in zip(exact, next(intervals), strict=True):
                    assert abs(Fraction(found, verify.ONE) - end) <= near
    assert next(intervals, None) is None


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("leads", ["votes", "cells"])
def test_no_probability_bends_more_than_its_cells_say(leads, moved):
    """And hardly more is granted."""
    granted, needed = granted_and_needed(maximum_of(8.0, 13, 16, leads), moved=moved)
    assert (granted >= needed * (1 - 1e-9)).all()
    closest = (granted / np.maximum(needed, 1e-300)).min(axis=(0, 1))
    assert (closest < 1.4).all()


@pytest.mark.parametrize(
    ("low", "margin", "teachers", "cells", "some", "most"),
    [
        (Fraction(3, 2), Fraction(2), 2, 80, [0, 1, 2, 3, 4], 1.08),
        (Fraction(-4), Fraction(-7, 2), 21, 30, [0, 1, 3, 4], 1.15),
    ],
    ids=["a density bends most at the root of 3", "there is nobody but a and b"],
)
def test_small_cells_grant_what_is_needed_and_hardly_more(
    monkeypatch, low, margin, teachers, cells, some, most
):
    """Where one of the bends is all there is: what is too little by a few percent shows."""
    monkeypatch.setattr(verify, "LOW", low)
    monkeypatch.setattr(verify, "MARGIN", margin)
    granted, needed = granted_and_needed(maximum_of(20.0, teachers, cells, "cells"), moved=False)
    assert (granted >= needed * (1 - 1e-9)).all()
    closest = (granted / np.maximum(needed, 1e-300)).min(axis=(0, 1))
    assert (closest[some] < most).all()


def test_all_three_outcomes_lie_between_their_bounds():
    """The vote's own class, the one that gets it, and another, to the verifier's last digits."""
    maximum = maximum_of(1.5, 4, 2)
    laws = maximum.outcomes()
    for i, j in [(0, 18), (2 * maximum.leads, 12)]:
        w = maximum.half_move + (i - maximum.leads) * maximum.stride * maximum.cell
        c = maximum.start(j) * maximum.unit
        with mpmath.workdps(42):
            x, half = (mpmath.mpf(y.numerator) / y.denominator for y in (c, w / 2))
            another = mpmath.ncdf(x - half) * mpmath.ncdf(x + half)
            mine, theirs = (
                mpmath.quad(
                    lambda y, h=h: mpmath.npdf(y - h) * mpmath.ncdf(y + h),
                    [x + k for k in (0, 2, 7, 16)],
                )
                for h in (half, -half)
            )
            for (below, above), exact in zip(laws[i][j], (mine, theirs, another), strict=True):
                assert below <= exact * verify.ONE <= above, (i, j)
            below, above = laws[i][j][2]
            assert above - below <= 16


@pytest.mark.parametrize("seed", range(3))
def test_backward_induction_is_rounded_up_in_the_last_unit(seed):
    """Of two kernels and up to four labels, in fractions with e^-step to 60 digits."""
    generator, step, reach, width = random.Random(seed), Fraction(1, 4), 5, 4
    kernels = []
    for _ in range(2):
        cuts = sorted(generator.randrange(verify.SMALL) for _ in range(4))
        masses = [y - x for x, y in pairwise([0, *cuts])]
        places = sorted(generator.sample(range(2 * reach + 1), 4))
        kernels.append((list(zip(places, masses, strict=True)), verify.SMALL - cuts[-1]))
    with mpmath.workdps(70):
        falls = [
            Fraction(int(mpmath.exp(-mpmath.mpf(k) / 4) * 10**60), 10**60) for k in range(1, 40)
        ]

    def at(values, k):
        """The curve at k steps: reflected left of 0, and as it ends beyond what is known."""
        if k < 0:
            return 1 - falls[-k - 1] * (1 - at(values, -k))
        return values[min(k, len(values) - 1)]

    found = verify.induction(kernels, {1, 2, 3, 4}, step, reach, width)
    exact = [Fraction(0)] * (reach + 1)
    for labels in (1, 2, 3, 4):
        far = reach + math.isqrt(width * width * labels)
        asked = [
            max(
                Fraction(lost, verify.SMALL)
                + sum(mass * at(exact, k + reach - place) for place, mass in losses) / verify.SMALL
                for losses, lost in kernels
            )
            for k in range(far + 1)
        ]
        exact = [min(Fraction(1), max(at(exact, k), asked[k])) for k in range(far + 1)]
        known, curve = found[labels]
        assert known == far
        for k in range(-far, far + 1):
            off = Fraction(curve[far + k], verify.ONE) - at(exact, k)
            assert -Fraction(1, 10**50) <= off <= Fraction(8 * labels, verify.SMALL), (labels, k)


def test_boole_s_rule_is_rounded_outwards_in_every_panel():
    """In fractions, of the densities' and distributions' own bounds."""
    maximum = maximum_of(2.5, 5, 4)
    weights = [maximum.unit * Fraction(2 * weight, 45) for weight in (7, 32, 12, 32, 7)]
    error = Fraction(8, 945) * verify.SIXTH * maximum.unit**7 * verify.ONE
    for lead in (-maximum.leads, 0, 2):
        bounds, shift = maximum.first_wins(lead), 2 * maximum.stride * lead
        places = range(maximum.start(0), maximum.start(maximum.middles - 1) + 1)
        mine = [maximum.look_up_density_and_cdf(n - shift, -1) for n in places]
        theirs = [maximum.look_up_density_and_cdf(n + shift, 1) for n in places]
        least = [Fraction(x[0] * y[2], verify.ONE) for x, y in zip(mine, theirs, strict=True)]
        most = [Fraction(x[1] * y[3], verify.ONE) for x, y in zip(mine, theirs, strict=True)]
        below, above = Fraction(0), Fraction(verify.ONE - mine[-1][2])
        for j in range(maximum.middles - 2, -1, -1):
            panel = slice(4 * j, 4 * j + 5)
            below += sum(map(mul, weights, least[panel])) - error
            above += sum(map(mul, weights, most[panel])) + error
            assert bounds[j][0] <= max(0, below), (lead, j)
            assert bounds[j][1] >= min(verify.ONE, above), (lead, j)


@pytest.mark.parametrize(
    "grid",
    [
        {"step": 0},
        {"step": "-1/20"},
        {"width": 0},
        {"places": [1, 2]},
        {"places": [0, 2, 2]},
        {"places": [0]},
    ],
)
def test_a_grid_has_a_step_a_width_and_places_that_rise_from_0(grid):
    body, epsilon = _certificate(2)
    with pytest.raises(ValueError, match="step and width must be positive, and places rise from 0"):
        verify.adaptive_labels(_fields(body) | grid, Fraction(epsilon))


@pytest.mark.parametrize("length", [60, 6000])
@pytest.mark.parametrize("losses", [1, 41, 400])
@pytest.mark.parametrize("kernels", [1, 5])
def test_a_round_of_labels_is_charged_for_each_threshold_loss_and_kernel(kernels, losses, length):
    """A product with a short number counts as a 60th of one of two long ones, per place."""
    one = [(0, 0)] * losses, 0
    verify.steps.allow(10**9)
    verify.largest_means(0, [one] * kernels, 1, length)
    charged = 10**9 - verify.steps.left
    assert kernels * length * losses / 60 <= charged <= kernels * length * (losses + 20) / 60
