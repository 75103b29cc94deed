"""The label experiment: what is released, from which votes, and how accurate it is said to be."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.accounting.composition import replace_one_from_add_remove
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.parameter_names import m_fold_delta
from private_ensembles.labels import registry
from private_ensembles.labels.gnmax import gnmax_sigma
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.darrm import experiment
from private_ensembles.papers.darrm.accuracies import label_accuracy
from private_ensembles.papers.darrm.experiment import (
    budget_of,
    calibrate_mechanisms,
    claims,
    count_ones,
    expected_accuracy,
    release_labels,
)
from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma

K = 5
SETTINGS = {
    "stand_in": True,
    "K": K,
    "m": 3,
    "epsilon": 0.1,
    "Delta": 1e-4,
    "epsilon_query": 0.3,
    "delta_query": 3e-4,
    "delta_gamma": m_fold_delta(3, 1e-4),
    "queries": [4, 10],
    "draws": 3,
    "shards": "permutation",
    "training_seeds": [0, 1],
}
SIGMAS = {f"sigma_{method}": 3.0 for method in ("rdp", "improved_rdp", "analytic")}
SIGMAS["sigma_exact"] = gnmax_sigma(0.2676, 3e-4, method="exact", n_teachers=K)
GAMMA = optimize_gamma(K, 3, 0.1, 1e-4).gamma
PARAMETERS = calibrate_mechanisms(budget_of(SETTINGS), GAMMA, SIGMAS)
MECHANISMS = registry.single_label_mechanisms()
PRIVATE = ("darrm_sub", "darrm_opt", "majority_private", "committee")


def cache(seed, n=40):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    right = rng.random((n, K)) < 0.8
    return Votes(2, labels, np.where(right, labels[:, None], 1 - labels[:, None]))


@pytest.fixture(scope="module")
def votes():
    return {"private_0": cache(1), "private_1": cache(1), "plain_0": cache(3), "plain_1": cache(4)}


def run(votes, seed=0, noise="reproducible", gamma=GAMMA, **changes):
    sigma = [{"quantity": name, "value": str(value)} for name, value in SIGMAS.items()]
    inputs = {**votes, "gamma": {"gamma": gamma}, "sigma": sigma}
    return release_labels(inputs, SETTINGS | changes, name="digits", seed=seed, noise=noise)


def test_every_release_has_a_row_and_its_accuracy(votes):
    rows, arrays = run(votes)
    assert len(rows) == len(MECHANISMS) * 2 * 2 * 3
    names = list(arrays["mechanisms"])
    for row in rows:
        Q = row["queries"]
        i, j = names.index(row["mechanism"]), row["training_seed"]
        released = arrays[f"labels_{Q}"][i, j, row["draw"]]
        index = arrays[f"queries_{Q}"][row["draw"]]
        kind = "private" if row["mechanism"] in PRIVATE else "plain"
        truth = votes[f"{kind}_{j}"].labels[index]
        assert row["accuracy"] == np.mean(released == truth)


def test_noiseless_majority_is_the_majority_of_the_private_votes(votes):
    _, arrays = run(votes)
    index = arrays["queries_10"]
    majority = (2 * votes["private_0"].votes.sum(axis=1) > K)[index]
    i = list(arrays["mechanisms"]).index("majority_private")
    assert (arrays["labels_10"][i, 0] == majority).all()


def test_adding_a_number_of_queries_changes_no_other_release(votes):
    _, before = run(votes)
    _, after = run(votes, queries=[10, 20])
    assert (before["labels_10"] == after["labels_10"]).all()
    _, other = run(votes, seed=1)
    assert (before["queries_10"] != other["queries_10"]).any()


def test_expected_accuracy_is_the_mean_over_many_releases(votes):
    _, arrays = run(votes, queries=[40], draws=110)
    index = arrays["queries_40"]
    for i, name in enumerate(arrays["mechanisms"]):
        kind = "private" if name in PRIVATE else "plain"
        caches = votes[f"{kind}_0"]
        released = arrays["labels_40"][i, 0]
        measured = (released == caches.labels[index]).mean()
        mechanism = load_mechanism(str(name))
        probability = mechanism.law.distribution(both_counts(K), PARAMETERS[str(name)])[:, 1]
        exact = expected_accuracy(probability, count_ones(caches, K), caches.labels)
        # 4,400 independent labels (every draw holds all queries): below 1e-9 by Hoeffding, and
        # what is five points off is seen.
        assert abs(measured - exact) < np.sqrt(np.log(2e9) / 8_800) < 0.05


def test_every_gamma_that_releases_labels_is_certified():
    gamma = optimize_gamma(K, 3, 0.1, 1e-4).gamma
    chosen = calibrate_mechanisms(budget_of(SETTINGS), gamma, SIGMAS)
    assert set(chosen) == set(MECHANISMS)
    for name in ("darrm_sub", "darrm_opt"):
        assert certify(chosen[name].gamma, 3, 0.1, 1e-4, SETTINGS["delta_gamma"]).holds
    np.testing.assert_allclose(chosen["darrm_sub"].gamma, gamma_subsampling(K, 3), rtol=1e-10)
    wrong = {**SETTINGS, "m": 1}
    with pytest.raises(ValueError, match="must be private"):
        calibrate_mechanisms(budget_of(wrong), gamma, SIGMAS)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda votes: count_ones(votes["private_0"], 11), "5 teachers"),
        (lambda votes: count_ones(Votes(2, np.array([-1]), np.zeros((1, K), int)), K), "labels"),
        (lambda votes: run(votes, queries=[41]), "only 40 test images"),
    ],
)
def test_votes_that_do_not_serve_are_refused(votes, call, message):
    with pytest.raises(ValueError, match=message):
        call(votes)


def test_majority_costs_what_its_shards_and_neighbours_make_it_cost():
    hashed = claims(budget_of(SETTINGS | {"shards": "keyed_hash"}))["majority_private"]
    assert hashed["adjacency"] == "add_remove"
    assert (hashed["epsilon"], hashed["delta"]) == (0.1, 1e-4)
    cut = claims(budget_of(SETTINGS))["majority_private"]
    assert cut["adjacency"] == "replace_one"
    assert cut["epsilon"] == pytest.approx(0.2)
    assert cut["delta"] > 2e-4


def test_experiment_repeats_itself_unless_it_is_secure(votes):
    def labels(noise):
        gamma = PARAMETERS["darrm_sub"].gamma  # the optimal one hardly needs noise here
        return run(votes, noise=noise, gamma=gamma, queries=[40])

    (_, fixed), (_, again) = labels("reproducible"), labels("reproducible")
    (rows, one), (_, other) = labels("secure"), labels("secure")
    assert np.array_equal(fixed["labels_40"], again["labels_40"])
    # The queries are public and stay; every noisy mechanism's labels differ.
    assert np.array_equal(one["queries_40"], fixed["queries_40"])
    for i, name in enumerate(one["mechanisms"]):
        alike = np.array_equal(one["labels_40"][i], other["labels_40"][i])
        assert alike == (name == "majority_private"), name
    assert replace_one_from_add_remove(0.1, 1e-4).epsilon in {row["epsilon"] for row in rows}


def test_secure_sigma_is_raised_for_the_analysis_of_continuous_noise_alone():
    gamma = PARAMETERS["darrm_opt"].gamma
    tight = {**SIGMAS, "sigma_analytic": gnmax_sigma(0.2676, 3e-4, method="analytic")}
    settings = SETTINGS | {"epsilon_query": 0.2676}
    seeded = calibrate_mechanisms(budget_of(settings), gamma, tight)
    secure = calibrate_mechanisms(budget_of(settings, "secure"), gamma, tight)
    assert secure["gnmax_analytic"].sigma > seeded["gnmax_analytic"].sigma
    for name in ("gnmax", "gnmax_exact"):
        assert secure[name] == seeded[name]


def test_secure_labels_are_not_drawn_at_a_sigma_for_continuous_noise(votes, monkeypatch):
    monkeypatch.setattr(experiment, "calibrate_mechanisms", lambda *_: PARAMETERS)
    with pytest.raises(ValueError, match="noise = secure: gnmax_analytic was calibrated for cont"):
        run(votes, noise="secure")


# Accuracies ---------------------------------------------------------------------------------------


def labels(accuracy=None):
    """One mechanism, two training seeds, three draws of twenty queries."""
    accuracy = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] if accuracy is None else accuracy
    pairs = itertools.product((0, 1), range(3))
    return pd.DataFrame(
        {
            "dataset": "digits",
            "stand_in": 1,
            "mechanism": "gnmax",
            "m": 3,
            "epsilon": 0.3,
            "delta": 3e-4,
            "privacy_model": "disjoint_shards",
            "adjacency": "replace_one",
            "queries": 20,
            "training_seed": seed,
            "draw": draw,
            "accuracy": value,
            "expected_accuracy": 0.6 if seed == 0 else 0.9,
        }
        for (seed, draw), value in zip(pairs, accuracy, strict=True)
    )


def test_accuracy_is_summarised_over_draws_and_over_training_seeds():
    row = label_accuracy(labels()).iloc[0]
    assert row["accuracy_mean"] == pytest.approx(0.75)
    assert row["accuracy_sd"] == pytest.approx(np.std([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ddof=1))
    assert row["sd_queries"] == pytest.approx(0.1)
    assert row["sd_training"] == pytest.approx(0.3 / math.sqrt(2))
    assert row["expected_accuracy"] == pytest.approx(0.75)
    assert (row["draws"], row["training_seeds"]) == (3, 2)


def test_a_single_draw_has_no_spread():
    single = labels().query("training_seed == 0 and draw == 0")
    row = label_accuracy(single).iloc[0]
    assert row[["accuracy_sd", "sd_queries", "sd_training"]].isna().all()


def test_mechanisms_come_in_the_order_of_the_registry_and_queries_ascend():
    parts = [
        labels().assign(mechanism=name, queries=queries)
        for name, queries in itertools.product(("majority_private", "darrm_opt", "gnmax"), (50, 20))
    ]
    table = label_accuracy(pd.concat(parts))
    order = ["gnmax", "darrm_opt", "majority_private"]
    assert table["mechanism"].tolist() == order * 2
    assert table["queries"].tolist() == [20] * 3 + [50] * 3


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (labels().drop(columns="draw"), "lacks the columns draw"),
        (labels([0.5, 0.6, 0.7, 0.8, 0.9, 1.1]), "accuracy must be in"),
        (labels([0.5, 0.6, 0.7, 0.8, 0.9, math.nan]), "accuracy must be in"),
        (labels().iloc[:-1], "equally many"),
    ],
)
def test_damaged_labels_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        label_accuracy(table)
