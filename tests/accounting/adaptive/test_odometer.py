"""What labels have cost so far, against all adversaries and all stopping rules in fractions."""

from fractions import Fraction

import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon, curve
from private_ensembles.accounting.adaptive.odometer import cap_of, odometer_delta, odometer_epsilon

from ..adversaries import power
from .fractions_of import fractions, strategies, table
from .labels import gnmax


def dearest_stop(pairs, claims):
    """The largest sum of (p - e^claim q)_+ over adversaries who also choose when to stop.

    claims: e^epsilon, as fractions, after 0, 1, ... labels; no more labels than that.
    """

    def most(count, p, q):
        best = max(Fraction(0), p - claims[count] * q)
        if count + 1 == len(claims):
            return best
        going_on = (
            sum(most(count + 1, p * a, q * b) for a, b in zip(first, second, strict=True))
            for first, second in pairs
        )
        return max(best, *going_on)

    return most(0, Fraction(1), Fraction(1))


def gain_of_stop(strategy, claims, count=0, p=Fraction(1), q=Fraction(1)):
    """That sum for one strategy, which names a pair, or to stop, for every run of labels."""
    if strategy is None:
        return max(Fraction(0), p - claims[count] * q)
    (first, second), rest = strategy
    after = zip(first, second, rest, strict=True)
    return sum(gain_of_stop(later, claims, count + 1, p * a, q * b) for a, b, later in after)


def claims_of(family, delta, most, first):
    """e^epsilon, a little less, of what is claimed after 0, ..., most labels."""
    epsilons = [odometer_epsilon(family, max(1, n), delta, first=first) for n in range(most + 1)]
    return [power(epsilon)[0] for epsilon in epsilons], epsilons


def test_the_recursion_is_the_dearest_of_all_strategies_one_by_one():
    pairs = fractions(table(1, 1.5))
    claims = [Fraction(5, 4), Fraction(5, 4), Fraction(3, 2)]
    families = {0: pairs}
    every = strategies(families, lambda left: [(0, left - 1)] if left else [], 2)
    assert max(gain_of_stop(strategy, claims) for strategy in every) == dearest_stop(pairs, claims)


@pytest.mark.parametrize(
    ("teachers", "scale", "most", "first", "delta"),
    [(2, 2.0, 4, 1, 0.1), (3, 1.0, 3, 1, 0.05), (5, 3.0, 3, 2, 0.02), (1, 0.8, 4, 1, 0.3)],
)
def test_no_stopping_rule_exceeds_delta_and_the_exact_sum_is_as_claimed(
    teachers, scale, most, first, delta
):
    family = table(teachers, scale)
    claims, epsilons = claims_of(family, delta, most, first)
    worst = dearest_stop(fractions(family), claims)
    assert 0 < worst <= Fraction(delta)
    caps = [cap for cap in (first, 2 * first, 4 * first) if cap < 2 * most]
    known = [odometer_epsilon(family, cap, delta, first=first) for cap in caps]
    capped = min(caps[-1], most)
    found = odometer_delta(family, [*caps[:-1], capped], known, fineness=20)
    assert worst <= Fraction(found) <= Fraction(102, 100) * worst + Fraction(1, 10**9)
    assert epsilons == sorted(epsilons)


def test_a_cap_s_own_epsilon_at_every_time_is_not_enough():
    """Who stops when the loss is largest exceeds delta if each number of labels has all of it."""
    family, delta, most = gnmax(11, 8.0), 1e-3, 24
    caps = list(range(1, most + 1))
    naive = [adaptive_epsilon(family, cap, delta).upper for cap in caps]
    assert odometer_delta(family, caps, naive) > 1.3 * delta
    ladder = [odometer_epsilon(family, cap, delta, first=4) for cap in caps]
    assert odometer_delta(family, caps, ladder) < delta


def test_one_cap_is_the_account_of_its_labels():
    family = gnmax(21, 15.0)
    for epsilon in (0.2, 0.6):
        found = odometer_delta(family, [20], [epsilon])
        account = curve(family, 20, epsilon, found, lower=False)
        assert found == pytest.approx(account.delta(epsilon), rel=0.02)


@pytest.mark.parametrize("first", [1, 3, 16])
def test_shares_of_delta_add_up_to_no_more_than_delta_and_caps_hold_all_labels(first):
    caps = [first * 2**place for place in range(40)]
    shares = [cap_of(cap, 0.01, first=first)[1] for cap in caps]
    assert sum(map(Fraction, shares)) < Fraction(0.01)
    assert sum(shares) > 0.97 * 0.01
    for labels in (1, 2, 3, 17, 1000):
        cap, _ = cap_of(labels, 0.01, first=first)
        assert labels <= cap < max(2 * labels, first + 1)


def test_the_claim_is_that_of_its_cap_and_little_above_what_the_labels_cost():
    family = gnmax(51, 40.0)
    at_cap = odometer_epsilon(family, 64, 1e-5)
    assert odometer_epsilon(family, 33, 1e-5) == at_cap
    own = adaptive_epsilon(family, 64, 1e-5).upper
    assert own < at_cap < 1.2 * own


@pytest.mark.parametrize(
    ("caps", "epsilons"),
    [([], []), ([1], [0.1, 0.2]), ([2, 2], [0.1, 0.2]), ([1, 2], [0.2, 0.1]), ([0], [0.1])],
)
def test_claims_that_make_no_sense_are_refused(caps, epsilons):
    with pytest.raises(ValueError, match="caps"):
        odometer_delta(gnmax(3, 2.0), caps, epsilons)
