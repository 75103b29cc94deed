"""The verifier's totals: kernels that lie above labels, composed in long integers."""

import math
import random
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import NeighbourPairs
from private_ensembles.audit.histograms import both_counts
from private_ensembles.labels.laws.gaussian import WHOLE, GaussianNoise
from verify import verify

from . import mutations, truth

ONE = verify.ONE


@pytest.fixture(autouse=True)
def any_work():
    verify.steps.allow(10**12)


def stick_of(kernel, x, step):
    """The kernel's hockey stick at e^x."""
    first, masses, lost = kernel
    losses = (mpmath.mpf(first + i) * step for i in range(len(masses)))
    sticks = (m * max(0, 1 - mpmath.exp(x - loss)) for m, loss in zip(masses, losses, strict=True))
    return (lost + sum(sticks)) / ONE


@pytest.mark.parametrize("seed", range(6))
def test_a_kernel_lies_above_its_pairs_at_every_threshold(seed):
    rng = random.Random(seed)
    law, step, reach = mutations.law(rng, rng.choice([1, 4, 7]), 0.25), Fraction(1, 50), 60
    pairs = verify.neighbours(law)[0]
    thresholds = range(-reach, reach + 1)
    sticks = [math.ceil(ONE * verify.hockey_stick_upper(pairs, k * step)) for k in thresholds]
    found = verify.dominating_kernel(sticks, step, range(reach + 1))
    assert found[2] + sum(found[1]) >= ONE
    excess = []
    with mp.workdps(60):
        pairs = truth.pairs_of(law)
        for x in [k * 0.02 for k in range(-70, 80, 5)] + [rng.uniform(-3, 2) for _ in range(30)]:
            x = mpmath.mpf(x)
            true = max(truth._stick(P, Q, mpmath.exp(x)) for P, Q in pairs)
            excess.append(stick_of(found, x, mpmath.mpf(1) / 50) - true)
    assert min(excess) >= -(mpmath.mpf(10) ** -40)  # the stated digits of x
    inside = [e for e in excess if e < 1e-3]
    assert len(inside) > 20  # and close to them


def plainly(one, other):
    """Sums of losses one by one, in fractions."""
    (i, x, lost), (j, y, gone) = one, other
    sums = {}
    for k, m in enumerate(x):
        for n, mass in enumerate(y):
            loss = i + j + k + n
            sums[loss] = sums.get(loss, 0) + Fraction(m * mass, ONE)
    return sums, Fraction(lost * (sum(y) + gone) + gone * sum(x), ONE)


@pytest.mark.parametrize("seed", range(20))
def test_one_multiplication_adds_losses(seed):
    rng = random.Random(seed)

    def draw_kernel():
        size = rng.randint(1, 9)
        masses = [rng.randrange(ONE // size) for _ in range(size)]
        return rng.randint(-6, 3), masses, rng.randrange(ONE // 2)

    one, other = draw_kernel(), draw_kernel()
    first, masses, lost = verify.compose_kernels(one, other)
    sums, infinite = plainly(one, other)
    found = {first + k: mass for k, mass in enumerate(masses) if mass}
    assert set(found) == {loss for loss, mass in sums.items() if mass > 0}
    for loss, mass in sums.items():
        assert mass <= found.get(loss, 0) <= mass + 20
    assert infinite <= lost <= infinite + 200


def test_too_much_mass_for_a_product_is_refused():
    whole = 0, [5 * ONE, 4 * ONE], 0
    with pytest.raises(ValueError, match="too much mass"):
        verify.compose_kernels(whole, whole)


@pytest.mark.parametrize(
    ("labels", "more"), [(200, 1.28), pytest.param(1000, 1.25, marks=pytest.mark.slow)]
)
def test_what_the_account_says_of_many_labels_is_proven_within_the_limit(labels, more):
    """One pair above all of them costs a quarter more. What one adversary achieves is refused."""
    noise = GaussianNoise(16.0 * math.sqrt(labels / 1000))
    rows = WHOLE.distribution(both_counts(11), noise)
    found = adaptive_epsilon(NeighbourPairs(rows[:-1], rows[1:], 1e-12, 1e-300), labels, 1e-5)
    coins = [[int(row.argmin()), row.min().hex()] for row in rows]
    law = {"name": "coins", "rows": coins}

    def body(epsilon):
        step = 0.128 / noise.sigma
        grid = {"labels": labels, "step": step.hex(), "reach": 60}
        claim = {"epsilon": epsilon.hex(), "delta": (1e-5).hex()}
        return mutations.build_certificate("total", "loss_distribution", law=law, **grid, **claim)

    verify.steps.allow(60 * verify.MILLION)
    verify.check(body(more * found.upper))
    with pytest.raises(ValueError, match="delta is about"):
        verify.check(body(0.999 * found.lower))


def test_every_theorem_has_its_section(root):
    page = (root / "docs" / "certificates.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in page.split("\n### ")[1:]}
    assert set(sections) == {theorem for _, theorem in verify.THEOREMS}
    proven = [name for name, text in sections.items() if "*Proof.*" in text]
    assert set(sections) - set(proven) == {"weak_duality"}  # a theorem of method.md


def test_hockey_sticks_are_rounded_outwards_in_the_last_unit():
    """Of a label's pairs, of a kernel, and one fall of e^x, at 150 digits."""
    rng, step = random.Random(3), Fraction(1, 7)
    with mp.workdps(150):
        for x in [Fraction(rng.randint(-300, 300), 97) for _ in range(40)]:
            growth = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            p, q = (rng.randrange(verify.GUARD) for _ in range(2))
            pair = [((p, p), (q, q)), ((verify.GUARD - p,) * 2, (verify.GUARD - q,) * 2)]
            exact = sum(max(0, a[0] - growth * b[0]) for a, b in pair)
            for bound, outwards in (
                (verify.hockey_stick_upper, 1),
                (verify.hockey_stick_lower, -1),
            ):
                found = bound([pair], x) * verify.GUARD
                off = outwards * (mpmath.mpf(found.numerator) / found.denominator - exact)
                assert 0 <= off <= 2**40  # of 2^256, as exponentials have it
            many = verify.Kernel(-5, [rng.randrange(ONE // 20) for _ in range(11)], 17)
            for kernel in (many, verify.Kernel(9, [ONE], 0)):
                found = verify.kernel_hockey_stick(kernel, step, x) * ONE
                exact = kernel.lost + sum(
                    max(0, mass * (1 - growth * mpmath.exp(-mpmath.mpf(loss) / 7)))
                    for loss, mass in enumerate(kernel.masses, kernel.first)
                )
                assert exact <= mpmath.mpf(found.numerator) / found.denominator <= exact + 30
        for gap in (1, 2, 30):
            exact = ONE * mpmath.exp(-mpmath.mpf(gap) / 7)
            assert exact <= verify.fall_of(step, gap) <= exact + 1


def test_what_is_known_of_a_probability_within_bounds_is_taken_at_its_worse_end():
    """Of several pairs the dearest; each P at one end of its bounds and each P' at the other."""
    rng, guard = random.Random(5), verify.GUARD
    pairs = []
    for _ in range(3):
        p, q = (sorted(rng.randrange(guard) for _ in range(2)) for _ in range(2))
        pairs.append(((p, q), [(guard - high, guard - low) for low, high in (p, q)]))
    apart = Fraction(1, 1000)
    with mp.workdps(150):
        for x in (Fraction(-2), Fraction(-1, 7), Fraction(0), Fraction(1, 3), Fraction(2)):
            t = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            most = max(sum(max(0, p[1] - t * q[0]) for p, q in pair) for pair in pairs)
            least = max(sum(max(0, p[0] - t * q[1]) for p, q in pair) for pair in pairs)
            one = max(p[1] - t * q[0] for pair in pairs for p, q in pair) + guard * (1 + t) / 1000
            for found, exact, outwards in (
                (verify.hockey_stick_upper(pairs, x), most, 1),
                (verify.hockey_stick_lower(pairs, x), least, -1),
                (verify.perturbed_hockey_stick(apart, pairs, x), max(0, one, guard * (1 - t)), 1),
            ):
                found = mpmath.mpf(found.numerator) * guard / found.denominator
                assert 0 <= outwards * (found - exact) <= 2**40


@pytest.mark.parametrize(
    ("kind", "low", "high"), [("uniform", "1/3", "1/1"), ("common", "2/7", "1/1")]
)
def test_what_a_gamma_is_worth_is_rounded_up_in_the_last_unit(kind, low, high):
    """Of five teachers: the lead of l over 5 - l votes, on average, in fractions."""
    K, prior = 5, {"kind": kind, "low": low, "high": high}
    a, b = Fraction(low), Fraction(high)

    def mean_power(n):
        return (b ** (n + 1) - a ** (n + 1)) / ((n + 1) * (b - a))

    def chance(l):
        if kind == "uniform":  # each teacher has its own p
            return math.comb(K, l) * mean_power(1) ** l * (1 - mean_power(1)) ** (K - l)
        signs = ((-1) ** k * math.comb(K - l, k) * mean_power(l + k) for k in range(K - l + 1))
        return math.comb(K, l) * sum(signs)

    found = verify.objective(K, prior)
    for l, worth in zip((3, 4, 5), found, strict=True):
        exact = chance(l) - chance(K - l)
        assert exact <= worth <= exact + Fraction(4, verify.GUARD)


def test_probabilities_of_small_noise_are_rounded_up_in_the_last_unit():
    """Of one count, whose masses are not added up; and what is left out of them."""
    scale = Fraction(9, 10)
    masses, left_out = verify.masses_of_sum(1, scale)
    with mp.workdps(100):
        variance = (mpmath.mpf(9) / 10) ** 2
        weight = {s: mpmath.exp(-(mpmath.mpf(s) ** 2) / (2 * variance)) for s in range(-80, 81)}
        whole = mpmath.fsum(weight.values())
        assert set(masses) == set(range(-max(masses), max(masses) + 1))
        for s, mass in masses.items():
            exact = ONE * weight[s] / whole
            assert exact <= int(mass * ONE) <= exact + 2
        rest = mpmath.fsum(weight[s] for s in weight if s not in masses) / whole
        assert verify.GUARD * rest <= left_out


def test_probabilities_of_sums_of_noise_are_grown_and_rounded_up():
    """In fractions, from bounds on the tails of the sum's discrete Gaussian."""
    times, scale = 3, Fraction(5, 2)
    tails, eta = verify.tails_of(times * scale**2), verify.eta_of(times, scale)
    masses, left_out = verify.masses_of_sum(times, scale)
    far = max(masses) + 1
    beyond = {s: verify.tail_at(tails, s) for s in range(1 - far, far + 1)}
    for s, mass in masses.items():
        exact = (beyond[s][1] - beyond[s + 1][0]) * (1 + eta)
        assert exact <= mass < exact + Fraction(1, verify.GUARD)
    exact = verify.GUARD * 2 * beyond[far][1] * (1 + eta)
    assert exact <= left_out < exact + 1


def test_what_two_kinds_of_counts_cost_is_rounded_up_at_every_sum():
    """In fractions: the divergence of one kind at what the other's losses leave of epsilon."""
    rows, epsilon = [(2, Fraction(5, 2)), (3, Fraction(4))], Fraction(1, 2)
    (times, scale), large = rows
    masses, left_out = verify.masses_of_sum(times, scale)
    divergence, _ = verify.discrete_noise(*large)
    exact = Fraction(left_out, verify.GUARD) + sum(
        mass * divergence(epsilon - (2 * s + times) / (2 * scale**2)) for s, mass in masses.items()
    )
    body = {"counts": [{"times": n, "scale": as_text(x)} for n, x in rows]}
    _, _, delta = verify.discrete_counts(body, epsilon)
    assert exact <= delta <= exact + Fraction(2 * len(masses), verify.GUARD)


def test_a_utility_that_multipliers_do_not_prove_to_the_last_digit_is_refused():
    """One teacher who says 0: a large multiplier leaves no price, and proves y (e^epsilon - 1)."""
    multiplier = 30
    row = {"teachers": [1, 0, 0, 0, 0, 0, 0, 0], "multiplier": f"{multiplier}/1"}
    body = {"K": 1, "m": 1, "epsilon": "1/3", "Delta": 0, "delta": 0, "rows": [row]}
    body["prior"] = {"kind": "uniform", "low": "1/2", "high": 1}
    with mp.workdps(100):
        exact = multiplier * mpmath.expm1(mpmath.mpf(1) / 3)
        digits = int(exact * 10**60)
    for claim, holds in ((digits, False), (digits + 10**25, True)):
        stated = body | {"utility": f"{claim}/{10**60}"}
        if holds:
            assert "no private gamma" in verify.check_utility_bound(stated)
        else:
            with pytest.raises(ValueError, match="the multipliers prove no less"):
                verify.check_utility_bound(stated)


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 7), (1, 10**9 + 7)])
def test_gamma_is_checked_beyond_the_teachers_corners_and_at_a_smaller_growth(
    monkeypatch, above, below
):
    """One teacher without noise: G(p) is 2 h - 1 where she is at H, and D what she may move by."""
    lines, growths, moves = [], [], []
    differences, share = verify.largest_second_difference, verify.share_of_further_orders

    def see_lines(P, Q, C):
        lines.append(P)
        growths.append(C)
        return differences(P, Q, C)

    def see_move(n, D):
        moves.append(D)
        return share(n, D)

    monkeypatch.setattr(verify, "largest_second_difference", see_lines)
    monkeypatch.setattr(verify, "share_of_further_orders", see_move)
    body = {"K": 1, "m": 1, "epsilon": "1/5", "delta": "9/10", "gamma": [1, 1]}
    verify.check_gamma_privacy(body | {"Delta": f"{above}/{below}"})
    with mp.workdps(100):
        move, growth = mpmath.mpf(above) / below, mpmath.exp(mpmath.mpf(1) / 5)
        corner = 2 * (growth + move) / (growth + 1) - 1
        opposite, at_corner = lines[1], lines[2]  # no teacher was at H first
        assert 0 <= at_corner[0] - ONE * corner < 2
        assert 0 <= -ONE * corner - opposite[0] < 2
        assert all(0 <= D - ONE * move < 1 for D in moves)
        assert all(0 <= ONE * growth - C < 1 for C in growths)
    assert len(lines) == 3
    assert len(moves) == 2


@pytest.mark.parametrize(("above", "below"), [(0, 1), (1, 7), (1, 10**9 + 7)])
def test_the_corners_of_a_utility_s_rows_are_those_of_private_teachers(above, below):
    """No teacher says either more often than e^epsilon times as often and Delta, in fractions."""
    Delta, epsilon = Fraction(above, below), Fraction(1, 5)
    growth = verify.exp(epsilon)[0]
    for p, q in zip(*verify.corners(Delta, epsilon), strict=True):
        p, q = Fraction(p, ONE), Fraction(q, ONE)
        assert 0 <= p <= min(1, growth * q + Delta)
        assert 0 <= q <= min(1, growth * p + Delta)
        assert 1 - p <= growth * (1 - q) + Delta
        assert 1 - q <= growth * (1 - p) + Delta


def as_text(fraction):
    return f"{fraction.numerator}/{fraction.denominator}"


def exact_utility_bound(corner, multiplier, Delta, growth):
    """y (C - 1 + 2 delta) and what y leaves of the utility's coefficients, in fractions.

    All three teachers stand at one corner of `verify.corners`, C is e^3 and delta 1/10; the mean
    of the prior is 3/4.
    """
    K, mean = 3, Fraction(3, 4)

    def chances(p):
        return [math.comb(K, l) * p**l * (1 - p) ** (K - l) for l in range(K + 1)]

    ends = verify.corners(Delta, Fraction(1))
    P, Q = (chances(Fraction(side[corner], ONE)) for side in ends)
    worth = chances(mean)
    bound = multiplier * (growth - 1 + Fraction(2, 10))
    for l in (2, 3):
        row = P[l] - P[K - l] - growth * (Q[l] - Q[K - l])
        bound += max(Fraction(0), worth[l] - worth[K - l] - multiplier * row)
    return bound


def test_no_rounding_of_a_row_makes_a_utility_seem_smaller():
    """Of three teachers at one corner, whose rows are sums of rounded products."""
    with mp.workdps(120):
        growth = Fraction(int(mpmath.exp(3) * 2**300), 2**300)
    rng, body = random.Random(1), {"K": 3, "m": 3, "epsilon": 1, "delta": "1/10"}
    body["prior"] = {"kind": "uniform", "low": "1/2", "high": 1}
    for _ in range(12):
        Delta, multiplier = Fraction(rng.randrange(10**6), 10**7), Fraction(rng.randrange(100), 999)
        for corner in range(8):
            teachers = [3 if k == corner else 0 for k in range(8)]
            body |= {"Delta": as_text(Delta)}
            row = {"teachers": teachers, "multiplier": as_text(multiplier)}
            exact = exact_utility_bound(corner, multiplier, Delta, growth)
            for off, proven in ((-Fraction(1, 2**150), False), (Fraction(1, 2**110), True)):
                claim = Fraction(math.floor((exact + off) * 2**400), 2**400)
                stated = {"utility": as_text(claim), "rows": [row]}
                if proven:
                    verify.check_utility_bound(body | stated)
                else:
                    with pytest.raises(ValueError, match="the multipliers prove no less"):
                        verify.check_utility_bound(body | stated)


@pytest.mark.parametrize("seed", range(4))
def test_masses_too_small_for_a_kernel_are_made_up_for(seed):
    """Sticks that lack about as little as is left out, at every threshold of the grid."""
    rng, step, places = random.Random(seed), Fraction(1, 10), [0, 1, 2, 4, 7]
    thresholds = [*(-k for k in places[:0:-1]), *places]
    # Convex: sums of hockey sticks, each of a mass around what a kernel may be short of.
    losses = [(k, rng.randrange(3 * verify.SLACK)) for k in thresholds for _ in range(2)]
    with mp.workdps(80):

        def growth(k):
            return mpmath.exp(mpmath.mpf(k) / 10)

        exact = {x: sum(mass * max(0, 1 - growth(x - k)) for k, mass in losses) for x in thresholds}
        sticks = [int(mpmath.ceil(exact[x])) for x in thresholds]
        kernel = verify.dominating_kernel(sticks, step, places)
        assert kernel.lost + sum(kernel.masses) >= ONE
        assert all(mass == 0 or mass > verify.SLACK for mass in kernel.masses)
        for x, stick in zip(thresholds, sticks, strict=True):
            found = stick_of(kernel, mpmath.mpf(x) / 10, mpmath.mpf(1) / 10) * ONE
            assert stick <= found <= stick + 8 * verify.SLACK + 100


@pytest.mark.parametrize("times", range(1, 12))
def test_a_power_is_as_many_losses(times):
    """All at one loss; and either at one loss or infinite, by the binomial law."""
    assert verify.power(verify.Kernel(-3, [ONE], 0), times) == (-3 * times, [ONE], 0)
    first, masses, lost = verify.power(verify.Kernel(2, [ONE // 2, ONE // 4], ONE // 4), times)
    assert first == 2 * times
    assert len(masses) == times + 1
    for k, mass in enumerate(masses):
        exact = ONE * Fraction(math.comb(times, k) * 2 ** (times - k), 4**times)
        assert exact <= mass <= exact + 4 * times
    exact = ONE * (1 - Fraction(3, 4) ** times)
    assert exact <= lost <= exact + 8 * times


def test_the_most_mass_that_may_be_composed_has_room():
    """All of it at one loss on either side, between losses that it must not reach."""
    most = 9 * ONE - 3
    first, masses, lost = verify.compose_kernels((0, [1, most, 1], 0), (5, [1, most, 1], 0))
    assert (first, lost) == (5, 0)
    exact = [1, 2 * most, most**2 + 2, 2 * most, 1]
    assert masses == [-(-mass // ONE) for mass in exact]
