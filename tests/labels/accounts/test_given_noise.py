"""Noise that a configuration gives: what the papers claim of it, and what is proven."""

from dataclasses import replace
from fractions import Fraction

import pytest

from private_ensembles.accounting import discrete_gaussian
from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.labels.accounts import given_noise
from private_ensembles.labels.laws import laplace
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.laplace import LaplaceNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.dpbag import account as dpbag_account
from private_ensembles.papers.dpbag import law as bagging
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.nzc import account as nzc_account
from private_ensembles.papers.nzc import law as immutable
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.pate.configured_noise import ACCOUNTS

TASK = Task(Ensemble(28, 2), Budget(1.0, 1e-5), Wanted(1))


@pytest.mark.parametrize("name", ["gnmax", "gnmax_analytic"])
def test_what_is_proven_of_given_noise_is_of_the_noise_that_is_drawn(name):
    """At sigma = 1 the continuous account of one label claims a delta too small by a quarter."""
    task = Task(Ensemble(5, 2), Budget(1.0, 1e-2), Wanted(1))
    mechanism = load_mechanism(name)
    account = ACCOUNTS.get(mechanism.name, mechanism.account)
    continuous, secure = (
        account.cost(mechanism.law, replace(task, secure=kind), GaussianNoise(1.0)).proven
        for kind in (False, True)
    )
    spent = [
        discrete_gaussian.delta(epsilon, [DiscreteGaussianCounts(2, 1.0)])
        for epsilon in (secure, continuous)
    ]
    assert spent[0] <= 1e-2 < spent[1]


@pytest.mark.parametrize("scale", [0.7, 3.0, 20.0])
def test_a_label_of_laplace_noise_costs_twice_its_inverse_scale(scale):
    cost = given_noise.laplace.cost(laplace.LAW, TASK, LaplaceNoise(scale))
    assert cost.claimed == 2 / scale
    assert 2 / Fraction(scale) <= Fraction(cost.proven) <= 2 / Fraction(scale) * (1 + 2**-50)


def test_bagged_votes_are_proven_below_the_claim_for_a_record_of_any_share():
    served = dpbag_account.bagging.cost(bagging.LAW, TASK, BaggingNoise(7, 4, 0.4))
    assert served.proven < served.claimed == 0.8
    stricter = dpbag_account.bagging.cost(bagging.LAW, TASK, BaggingNoise(7, 4, 0.4, share=0.5))
    assert stricter.proven == stricter.claimed == 0.4
    # Exponentials overflow there, and the claim alone is left.
    loud = dpbag_account.bagging.cost(bagging.LAW, TASK, BaggingNoise(7, 4, 400.0))
    assert loud.proven == loud.claimed == 800.0


def test_what_nzc_claims_is_less_than_what_is_true():
    cost = nzc_account.immutable.cost(immutable.LAW, TASK, ImmutableNoise())
    assert cost.claimed < cost.proven
