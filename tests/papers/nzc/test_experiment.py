"""NZC's experiments on small votes: what is asked, claimed, true and right, and its figures."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.labels.lnmax_quadrature import lnmax_distribution
from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.nzc.experiment import (
    account_votes,
    aggregators,
    claims,
    release_labels,
)
from private_ensembles.papers.nzc.figure_data import figure2
from private_ensembles.papers.nzc.figures import draw_ensembles
from private_ensembles.papers.nzc.leads import lead_losses
from private_ensembles.papers.nzc.tables import label_accuracy, summarise_students

MECHANISM = {"constant": 1e100, "gamma": 1e10, "noise": "laplace", "ties": "first"}
SETTINGS = {
    "K": 20,
    "few": 3,
    "pool": 60,
    "delta": 1e-5,
    "lnmax": {"scale": 2.0, "queries": [10, 60]},
    "mechanism": MECHANISM,
}
HERE = {"name": "here", "seed": 0, "noise": "reproducible"}


def inputs(votes, labels):
    """Counts by number of teachers as the files of an experiment."""
    few, many = (Votes(3, labels, counts=votes[K]) for K in (3, 20))
    return {"few": few, "many": many}


@pytest.fixture(scope="module")
def nzc_inputs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    share = np.full((60, 3), 0.25)
    share[np.arange(60), labels] = 0.5
    votes = {K: np.array([rng.multinomial(K, p) for p in share]) for K in (3, 20)}
    votes[20][0] = [8, 8, 4]  # a tie
    return votes, labels


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
    rows = pd.DataFrame(account_votes(inputs(votes, labels), SETTINGS, **HERE))
    value = rows.set_index(["aggregator", "quantity"])["value"]
    assert set(rows["release"]) == {FREE_OF_VOTES, NOT_FOR_RELEASE}
    free = rows[rows["release"] == FREE_OF_VOTES]
    turned = inputs({K: counts[::-1] for K, counts in votes.items()}, labels)
    other = pd.DataFrame(account_votes(turned, SETTINGS, **HERE))
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


# Tables and figures -------------------------------------------------------------------------------


def test_tables_carry_the_verdict(nzc_inputs):
    votes = inputs(*nzc_inputs)
    rows, _ = release_labels(votes, SETTINGS, **HERE)
    trained = [
        {
            "task": "here",
            "aggregator": name,
            "student_seed": seed,
            "accuracy": 0.5 + seed / 10,
            "evaluated": 40,
        }
        for name in aggregators(SETTINGS)
        for seed in (0, 1)
    ]
    facts = {"here": {"stand_in": True, "K": 20, "few": 3}}
    privacy = pd.DataFrame(account_votes(votes, SETTINGS, **HERE))
    table = summarise_students(privacy, pd.DataFrame(rows), pd.DataFrame(trained), facts)
    table = table.set_index("aggregator")
    assert list(table.index) == list(aggregators(SETTINGS))
    assert list(table.loc[["nzc", "nzc-3"], "verdict"]) == ["fails", "fails"]
    assert list(table.loc[["clean", "truth"], "verdict"]) == ["", ""]
    assert table.loc["nzc", "student_accuracy"] == pytest.approx(0.55)
    assert table.loc["nzc", "student_accuracy_sd"] == pytest.approx(np.std([0.5, 0.6], ddof=1))
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    accuracy = label_accuracy(privacy, facts).set_index("aggregator")
    assert accuracy.loc["nzc", "verdict"] == "fails"
    assert accuracy.loc["clean", "label_accuracy"] == accuracy.loc["nzc", "accuracy_first"]


def test_figure_2_counts_leads(nzc_inputs):
    votes, labels = nzc_inputs
    data = figure2(votes, labels, [0, 0.1, 0.5], task="here")
    size = data[data["panel"] == "teachers"].set_index("teachers")
    for K, counts in votes.items():
        ordered = np.sort(counts, axis=1)
        assert size.loc[K, "qualified"] == (ordered[:, -1] - ordered[:, -2] > 2).mean()
        assert size.loc[K, "accuracy"] == (counts.argmax(axis=1) == labels).mean()
    steps = data[data["panel"] == "distance"]
    assert list(steps["distance"]) == [0, 2, 10]
    assert steps["qualified"].is_monotonic_decreasing
    assert set(data["release"]) == {NOT_FOR_RELEASE}


def test_each_panel_has_the_numbers_of_its_column(drawn, published):
    data = published("nzc/figure2")
    draw_ensembles(data)
    panels = {
        column: line.get_ydata().tolist()
        for column, axis in zip(
            ("accuracy", "distance", "qualified", "qualified_wrong"), drawn[0].axes, strict=True
        )
        for line in axis.lines
    }
    rows = data[data["panel"] == "teachers"]
    for column in ("accuracy", "qualified", "qualified_wrong"):
        assert panels[column] == (100 * rows[column]).tolist()
    rest = data[data["panel"] == "distance"]
    assert panels["distance"] == (100 * rest["qualified"]).tolist()


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_delta_is_one_at_a_lead_of_one_and_nothing_from_three_on(noise):
    settings = {"teachers": [5, 6], "classes": [2, 3], "epsilon": 50}
    found = lead_losses(settings, MECHANISM | {"noise": noise})
    assert set(found["ties"]) == {"first", "last", "random"}
    one, more = found[found["lead"] == 1], found[found["lead"] >= 3]
    assert (one["delta_least"] == 1).all()
    assert len(one) == 3 * 3  # two classes and an even number have none
    assert (more["delta_most"] < 1e-290).all()
