"""What releases cost together: sums rounded up, for what all of them cover, or one account."""

import math
from fractions import Fraction

import pytest

from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.planner.ranking import Plan
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.law import NoisyMajority
from private_ensembles.release import release_plan
from private_ensembles.release.record import Record, Total, compose_totals
from tests.ledgers import make_release


def release_of_labels(epsilon=1.0, delta=1e-6, sigma=35.0, name="gnmax_exact", reach=1):
    sizes = {"queries": 100, "labels": 100, "n_teachers": 250, "n_classes": 2, "reach": reach}
    task = Task.from_dict({"epsilon": epsilon, "delta": delta, **sizes, "secure": True})
    chosen = Plan(name, None, GaussianNoise(sigma, 100), epsilon, 100, 100, 0.0)
    return make_release(release_plan.make_plan(task, chosen, None), epsilon)


ONE, TWO = (
    release_of_labels(0.1, 1e-5, name="gnmax_analytic"),
    release_of_labels(0.2, 1e-6, name="gnmax"),
)


def test_what_was_spent_before_is_part_of_what_was_spent():
    already = Total(1.0, 0.0, "replace_one")
    assert Record((ONE, TWO), already).costs == [already, ONE.cost, TWO.cost]
    assert Record((ONE,), already).total.epsilon == 1.1
    assert (Record().total, Record().joint) == (None, None)


def test_costs_add_up_and_are_rounded_up():
    total = compose_totals([ONE.cost, TWO.cost])
    assert total.adjacency == "replace_one"
    assert Fraction(total.epsilon) >= Fraction(0.1) + Fraction(0.2)
    assert total.epsilon == pytest.approx(0.3, rel=1e-15)
    assert Fraction(total.delta) >= Fraction(1e-5) + Fraction(1e-6)
    assert str(total) == "epsilon = 0.30001 and delta = 1.1001e-05 (replace_one)"
    assert compose_totals([Total(1, 0.7, "add_remove")] * 2) == Total(2, 1.0, "add_remove")


def test_releases_for_two_adjacencies_are_added_up_for_the_wider_one():
    total = compose_totals([ONE.cost, Total(0.5, 1e-5, "add_remove")])
    assert total.adjacency == "replace_one"
    assert total.epsilon == pytest.approx(1.1)  # two steps of add_remove for one replaced
    assert total.delta >= 1e-5 + (1 + 2.718281828**0.5) * 1e-5


def test_releases_of_different_reach_add_up_for_the_least_that_all_of_them_cover():
    wide = release_of_labels(0.1, 1e-5, reach=2)
    assert (ONE.cost.reach, wide.cost.reach) == (1, 2)
    both = compose_totals([wide.cost, wide.cost])
    assert (both.reach, both.mixed) == (2, False)
    assert str(both).endswith("(replace_one)")
    mixed = compose_totals([wide.cost, TWO.cost])
    assert (mixed.reach, mixed.mixed) == (1, True)
    assert str(mixed).endswith("(replace_one; for a unit with reach 1, the least stated)")
    assert compose_totals([mixed, ONE.cost]).mixed
    assert mixed.epsilon == compose_totals([ONE.cost, TWO.cost]).epsilon


def test_releases_of_the_same_noise_cost_what_all_their_labels_do():
    twelve = [release_of_labels()] * 12
    known = Record(tuple(twelve))
    apart, joint = known.total, known.joint
    assert apart == Total(12.0, pytest.approx(1.2e-5), "replace_one")
    assert joint.delta == apart.delta
    assert joint.epsilon == twelve[0].plan.epsilon(1200, 1200, joint.delta)
    assert joint.epsilon < 5


@pytest.mark.parametrize(("delta", "together"), [(0.5, 1.0), (0.9, 1.0), (0.499, 0.998)])
def test_deltas_that_add_up_to_all_there_is_leave_nothing_to_prove(delta, together):
    """At a delta of 1 everything holds, and no account is asked."""
    known = Record((release_of_labels(delta=delta),) * 2)
    assert known.total == Total(2.0, together, "replace_one")
    if together == 1:
        assert known.joint is None
    else:
        assert known.joint.epsilon < 2
        assert known.joint.delta == together


@pytest.mark.parametrize(
    "other",
    [release_of_labels(sigma=36.0), TWO, Total(0.5, 1e-6, "replace_one")],
    ids=["other noise", "another mechanism", "before the ledger"],
)
def test_others_are_added_to_releases_of_the_same_noise(other):
    two = (release_of_labels(), release_of_labels())
    both = Record(two).joint
    assert both.epsilon < 2
    if isinstance(other, Total):
        assert Record(two, other).joint == compose_totals([other, both])
    else:
        assert Record((*two, other)).joint == compose_totals([both, other.cost])


def test_teachers_whose_labels_have_no_noise_of_their_own_are_added_up():
    plan = release_plan.read_plan(
        release_plan.make_plan(
            Task(
                Ensemble(11, 2, private=Budget(0.2, 0.0)),
                Budget(3.0, 1e-5),
                Wanted(1),
                protection=Protection.shared(adjacency="add_remove"),
            ),
            Plan("darrm_sub", None, NoisyMajority(3.0, 1, 11, 1e-5, 0.2, 0.0), 0.6, 1, 1, 0.0),
            None,
        ).to_json()
    )
    assert not plan.has_fresh_noise
    one = make_release(plan, 0.6)
    assert Record((one, one)).joint is None


def test_a_sum_of_many_costs_is_the_least_float_above_them():
    """Of three, whose sum in floats is rounded down twice, and of hundreds."""
    for epsilons in ([0.1, 0.7, 1e-17], [2.0, 1e-16, 1e-16], [k / 7 for k in range(1, 300)]):
        found = compose_totals([Total(x, x / 1e6, "replace_one") for x in epsilons])
        for total, parts in (
            (found.epsilon, epsilons),
            (found.delta, [x / 1e6 for x in epsilons]),
        ):
            exact = sum(map(Fraction, parts))
            assert Fraction(math.nextafter(total, 0)) < exact <= Fraction(total)
