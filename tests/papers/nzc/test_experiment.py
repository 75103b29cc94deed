"""NZC's experiments on small votes: what is asked, claimed, true and right."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels.lnmax_quadrature import lnmax_distribution
from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.papers.nzc.experiment import (
    account_votes,
    aggregators,
    claims,
    release_labels,
)
from tests.papers.nzc.conftest import HERE, MECHANISM, SETTINGS, inputs


def test_every_aggregator_answers_what_it_is_asked(nzc_inputs):
    votes, labels = nzc_inputs
    rows, arrays = release_labels(inputs(votes, labels), SETTINGS, **HERE)
    assert [row["aggregator"] for row in rows] == list(aggregators(SETTINGS))
    for row in rows:
        queries, answers = (arrays[f"{row['aggregator']}_{what}"] for what in ("queries", "labels"))
        assert len(queries) == len(set(queries)) == row["asked"] == len(answers)
        assert row["correct"] == (answers == labels[queries]).sum()
        assert row["release"] == NOT_FOR_RELEASE
    # Fewer queries are the first of more; the truth is the truth.
    assert (arrays["lnmax-10_queries"] == arrays["lnmax-60_queries"][:10]).all()
    assert (arrays["truth_labels"] == labels[arrays["truth_queries"]]).all()


def test_labels_of_nzc_are_the_clean_ones_noise_and_all(nzc_inputs):
    _, arrays = release_labels(inputs(*nzc_inputs), SETTINGS, **HERE)
    for few in ("", "-3"):
        assert (arrays[f"nzc{few}_labels"] == arrays[f"clean{few}_labels"]).all()
    last = SETTINGS | {"mechanism": MECHANISM | {"ties": "last"}}
    _, other = release_labels(inputs(*nzc_inputs), last, **HERE)
    tied = nzc_inputs[0][20][other["nzc_queries"]]
    tied = np.sort(tied, axis=1)[:, -1] == np.sort(tied, axis=1)[:, -2]
    assert ((other["nzc_labels"] != other["clean_labels"]) <= tied).all()
    assert (other["nzc_labels"] != other["clean_labels"]).any()


def test_claims_are_theorem_4s_and_the_truth_is_not():
    found = claims(MECHANISM, 9000, 1e-5, np.zeros((1, 10), int))
    assert found["claimed_epsilon"] == pytest.approx(9.1e-8, rel=1e-2)
    assert found["claimed_epsilon_inverse_scale"] == pytest.approx(3.6e24, rel=1e-6)
    assert found["true_epsilon"] == pytest.approx(1e90, rel=1e-9)
    assert found["lemma1_constant"] == pytest.approx(1e10 * math.log(10 / 1e-5))
    gaussian = claims(MECHANISM | {"noise": "gaussian"}, 1, 1e-5, np.zeros((1, 10), int))
    assert gaussian["true_epsilon"] > 1e100
    assert gaussian["lemma1_constant"] == pytest.approx(1e10 * math.sqrt(2 * math.log(20 / 1e-5)))


def test_account_says_what_rests_on_votes(nzc_inputs):
    votes, labels = nzc_inputs
    rows = account_votes(inputs(votes, labels), SETTINGS, **HERE)
    value = rows.set_index(["aggregator", "quantity"])["value"]
    assert set(rows["release"]) == {FREE_OF_VOTES, NOT_FOR_RELEASE}
    free = rows[rows["release"] == FREE_OF_VOTES]
    turned = inputs({K: counts[::-1] for K, counts in votes.items()}, labels)
    other = account_votes(turned, SETTINGS, **HERE)
    pd.testing.assert_frame_equal(free, other[other["release"] == FREE_OF_VOTES])
    # Data-dependent and below what holds for all data sets.
    for name in ("lnmax-10", "lnmax-60"):
        assert value[name, "claimed_epsilon"] <= value[name, "independent_moments"] + 1e-9
        assert value[name, "proven_epsilon"] <= value[name, "independent_moments"]
    exact = lnmax_distribution(votes[20], 2.0)[np.arange(60), labels].mean()
    assert value["nzc", "label_accuracy_lnmax"] == pytest.approx(exact, abs=1e-9)
    clean = (votes[20].argmax(axis=1) == labels).mean()
    assert value["nzc", "label_accuracy_clean"] == value["nzc", "label_accuracy_first"] == clean
    rules = [value["nzc", f"label_accuracy_{rule}"] for rule in ("first", "last", "random")]
    assert min(rules[:2]) <= rules[2] <= max(rules[:2])
    lead = np.diff(np.sort(votes[20], axis=1)[:, -2:], axis=1)[:, 0]
    assert value["nzc", "tied"] == (lead == 0).sum()
    assert value["nzc", "unprotected"] == (lead <= 2).sum()


def test_secure_noise_is_refused(nzc_inputs):
    for run in (release_labels, account_votes):
        with pytest.raises(ValueError, match="noise = 'secure': must be reproducible, NZC has no"):
            run(inputs(*nzc_inputs), SETTINGS, **HERE | {"noise": "secure"})
