"""PATE's aggregators at the noise that its configuration gives."""

import math

import pytest

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.labels import registry
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.laplace import LaplaceNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.papers.pate.configured_noise import configured_parameters, printed_totals


def test_lnmax_says_what_optimal_composition_of_its_pure_labels_costs():
    task = {"lnmax": {"scale": 20.0, "queries": [100, 1000]}, "delta": 1e-5}
    totals = printed_totals(load_mechanism("lnmax"), task)
    assert totals == {
        f"lnmax-{queries}": (queries, optimal_composition(0.1, 0.0, queries, 1e-5).epsilon)
        for queries in (100, 1000)
    }


ROUND = {"queries": 30, "sigma1": 3.0, "sigma2": 2.0}
TWO_ROUNDS = {"two_rounds": {"first": ROUND, "second": ROUND}, "delta": 1e-5}


def test_rounds_are_paid_as_if_every_query_were_answered():
    queries, epsilon = printed_totals(load_mechanism("interactive_gnmax"), TWO_ROUNDS)[
        "interactive"
    ]
    assert queries == 60
    assert epsilon == pytest.approx(exact_data_independent_epsilon(60 * (1 / 18 + 1 / 4), 1e-5))
    assert math.isfinite(epsilon)
    one_round = printed_totals(
        load_mechanism("confident_gnmax"), {"confident": ROUND, "delta": 1e-5}
    )
    assert one_round["confident"][0] == 30
    exact = exact_data_independent_epsilon(30 * (1 / 18 + 1 / 4), 1e-5)
    assert one_round["confident"][1] == pytest.approx(exact)


def test_what_the_table_does_not_print_has_no_total():
    assert printed_totals(load_mechanism("interactive_gnmax"), {"delta": 1e-5}) == {}
    for name in ("gnmax", "lnmax_pure", "confident_gnmax_exact", "ladder"):
        assert printed_totals(load_mechanism(name), TWO_ROUNDS) == {}


def test_noise_is_given_to_the_aggregators_alone():
    noise = {
        "lnmax": {"scale": 20.0},
        "confident": {"threshold": 5.0, "sigma1": 3.0, "sigma2": 2.0},
        "student_score": 0.25,
    }
    given = {
        name: configured_parameters(load_mechanism(name), noise, 2) for name in registry.entries()
    }
    assert {name for name, parameters in given.items() if parameters is not None} == {
        "lnmax",
        "confident_gnmax",
        "interactive_gnmax",
    }
    assert given["lnmax"] == LaplaceNoise(20.0)
    assert given["confident_gnmax"] == CheckedNoise(5.0, 3.0, 2.0)
    assert given["interactive_gnmax"] == CheckedNoise(5.0, 3.0, 2.0, score=0.25)
    # Of more classes a student's score is not known, and GNMax stands beside Confident-GNMax.
    assert configured_parameters(load_mechanism("gnmax"), noise, 10) == GaussianNoise(2.0)
    assert configured_parameters(load_mechanism("interactive_gnmax"), noise, 10) is None
