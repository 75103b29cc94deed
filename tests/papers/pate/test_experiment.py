"""PATE's experiments on small votes: what is asked, what it costs, what rests on the votes."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.base.secure import MODES
from private_ensembles.labels import registry
from private_ensembles.labels.gnmax import analytic_epsilon
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.laws.laplace import LaplaceNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.noisy_counts import exact_data_independent_epsilon
from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.papers.pate.configured_noise import configured_parameters, printed_totals
from private_ensembles.papers.pate.experiment import (
    draw_queries,
    noise_comparison,
    simulate_student_scores,
)
from private_ensembles.papers.pate.mathematics.confident import confident_gnmax_privacy
from private_ensembles.papers.pate.mathematics.lnmax import lnmax_rdp
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp
from private_ensembles.papers.pate.mathematics.rounds import confident_round, worst_case_epsilon
from tests.papers.pate.small_votes import (
    CLASSES,
    COUNTS,
    DELTA,
    LABELS,
    NOISE,
    ORDERS,
    POOL,
    K,
    accounted,
    bought,
    converted,
    quantities,
    votes,
)

PRINTED = {"answers": 30, "order": 4.0, "beta": 0.05, "sigma_ss": 5.0}
ROUNDS = {
    "student_accuracy": 0.7,
    "student_score": 0.9,
    "first": {"queries": 40, **NOISE},
    "second": {"queries": 60, **NOISE},
    "printed": {"answers": 50, "order": 4.0, "beta": [0.05, 0.04], "sigma_ss": [5.0, 6.0]},
}


# Queries and orders ------------------------------------------------------------------------------


def test_fewer_queries_are_the_first_of_more():
    whole = draw_queries(POOL, POOL, 0, "digits", 0)
    assert sorted(whole) == list(range(POOL))
    for queries in (1, 17, 119):
        assert np.array_equal(draw_queries(POOL, queries, 0, "digits", 0), whole[:queries])


def test_draws_tasks_and_seeds_have_queries_of_their_own():
    drawn = [
        tuple(draw_queries(POOL, POOL, seed, task, draw))
        for seed, task, draw in ((0, "a", 0), (0, "a", 1), (0, "b", 0), (1, "a", 0))
    ]
    assert len(set(drawn)) == 4


@pytest.mark.parametrize("queries", [0, POOL + 1])
def test_more_queries_than_the_pool_has_are_refused(queries):
    with pytest.raises(ValueError, match=rf"queries = {queries}: must be 1 to the pool's 120"):
        draw_queries(POOL, queries, 0, "digits", 0)


# Figures 4 and 5 ---------------------------------------------------------------------------------


def label_chance(row, label, density, survival, scale):
    """Pr[label wins] = integral of its noise's density times the others' distribution functions."""
    others = [row[label] - n for j, n in enumerate(row) if j != label]

    def integrand(z):
        return density(z) * math.prod(survival(z + gap / scale) for gap in others)

    points = sorted({0.0, *(-gap / scale for gap in others)})
    edges = [-60.0, *points, 60.0]
    return sum(
        integrate.quad(integrand, low, high, epsabs=1e-12, limit=200)[0]
        for low, high in itertools.pairwise(edges)
    )


def test_noise_comparison_equals_sums_and_integrals_of_single_queries():
    counts, labels = votes(1, 4)
    small, small_labels = counts // 2, labels
    small = small + (K // 2 - small.sum(axis=1, keepdims=True)) * np.eye(CLASSES, dtype=int)[labels]
    scales = {"gnmax": [0.1, 0.2], "lnmax": [0.06]}
    table = noise_comparison(
        [(K // 2, small, small_labels), (K, counts, labels)], scales, K, DELTA, ORDERS
    )
    found = {(r.mechanism, r.teachers, r.scale): r for r in table.itertuples()}
    assert set(found) == {
        ("gnmax", 25, 2.5),
        ("gnmax", 25, 5.0),
        ("gnmax", 50, 5.0),
        ("gnmax", 50, 10.0),
        ("lnmax", 50, 3.0),
    }
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    shapes = {
        "gnmax": (gnmax_rdp, stats.norm.pdf, stats.norm.cdf),
        "lnmax": (lnmax_rdp, stats.laplace.pdf, stats.laplace.cdf),
    }
    for key in (("gnmax", 25, 2.5), ("gnmax", 50, 10.0), ("lnmax", 50, 3.0)):
        mechanism, teachers, scale = key
        cost, density, below = shapes[mechanism]
        matrix = counts if teachers == K else small
        total = sum(cost(row[None], scale, ORDERS)[0] for row in matrix)
        assert found[key].epsilon == pytest.approx(converted(total), rel=1e-12)
        right = [
            label_chance(row, label, density, below, scale)
            for row, label in zip(matrix, labels, strict=True)
        ]
        assert found[key].accuracy == pytest.approx(np.mean(right), abs=1e-8)
        assert found[key].epsilon_improved <= found[key].epsilon
        assert found[key].epsilon_improved <= found[key].data_independent_epsilon * (1 + 1e-12)


def test_data_independent_cost_of_gaussian_noise_is_proposition_8s():
    counts, labels = votes(1, 6)
    scales = {"gnmax": [0.1], "lnmax": []}
    row = noise_comparison([(K, counts, labels)], scales, 0, DELTA, ORDERS).iloc[0]
    best = min(
        6 * order / 25 + math.log1p(-1 / order) - math.log(DELTA * order) / (order - 1)
        for order in ORDERS
    )
    assert row["data_independent_epsilon"] == pytest.approx(best, rel=1e-12)


# Labels ------------------------------------------------------------------------------------------


def test_bought_labels_are_counted_against_the_truth():
    rows, arrays = bought()
    assert [row["aggregator"] for row in rows] == ["lnmax-20", "lnmax-40", "confident"]
    for row in rows:
        asked, released = (arrays[f"{row['aggregator']}_{name}"] for name in ("queries", "labels"))
        assert (asked.dtype, released.dtype) == (np.int64, np.int64)
        assert len(asked) == len(released) == row["asked"]
        assert row["answered"] == (released >= 0).sum()
        assert row["correct"] == (released == LABELS[asked]).sum()
    confident = rows[-1]
    assert 0 < confident["answered"] < confident["asked"]
    assert all(row["answered"] == row["asked"] for row in rows[:-1])


def test_one_number_of_queries_more_changes_no_label_that_was_bought():
    _, before = bought()
    _, after = bought(lnmax={"scale": 3.0, "queries": [20, 40, 60]})
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert np.array_equal(after["lnmax-60_labels"][:40], before["lnmax-40_labels"])
    _, longer = bought(confident={"queries": 80, **NOISE})
    assert np.array_equal(longer["confident_labels"][:60], before["confident_labels"])
    assert np.array_equal(longer["lnmax-40_labels"], before["lnmax-40_labels"])


def test_tasks_and_seeds_have_noise_of_their_own():
    labels = [bought()[1], bought(task="other")[1], bought(seed=1)[1]]
    for one, two in ((0, 1), (0, 2), (1, 2)):
        name = "confident_labels"
        assert not np.array_equal(labels[one][name], labels[two][name])
    assert all(np.array_equal(labels[0][name], bought()[1][name]) for name in labels[0])


def test_answers_stop_at_the_cap():
    rows, arrays = bought(answer_cap=7)
    assert rows[-1]["answered"] == 7
    _, free = bought()
    last = np.flatnonzero(arrays["confident_labels"] >= 0)[-1]
    assert np.array_equal(
        arrays["confident_labels"][: last + 1], free["confident_labels"][: last + 1]
    )
    assert (arrays["confident_labels"][last + 1 :] == -1).all()


def test_secure_noise_asks_the_same_queries_and_repeats_no_answers():
    runs = [bought(noise="secure")[1] for _ in range(2)]
    for name in runs[0]:
        if name.endswith("queries"):
            assert np.array_equal(runs[0][name], runs[1][name])
        elif name != "lnmax-20_labels":  # few labels, and noise that seldom decides
            assert not np.array_equal(runs[0][name], runs[1][name]), name
    with pytest.raises(ValueError, match="noise = 'loud'"):
        bought(noise="loud")


# Accounts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"printed": PRINTED, "two_rounds": ROUNDS}])
def test_what_is_free_of_votes_is_the_same_for_other_votes(changes):
    """The mark is a claim: whatever the votes, these numbers do not move by a bit."""
    one = accounted(**changes)
    two = accounted(*votes(7), **changes)
    keys = ["task", "aggregator", "draw", "quantity"]
    assert one[[*keys, "release"]].equals(two[[*keys, "release"]])
    assert set(one["release"]) == {FREE_OF_VOTES, NOT_FOR_RELEASE}
    free = one["release"] == FREE_OF_VOTES
    pd.testing.assert_frame_equal(one[free], two[free], check_exact=True)
    private = one[~free & ~one["quantity"].isin(["order", "order_improved"])]
    moved = private["value"] != two.loc[private.index, "value"]
    assert moved.mean() > 0.8


def test_printed_parameters_are_free_of_votes_and_tuned_ones_are_not():
    pinned = ("printed_order", "beta", "sigma_ss", "gnss_rdp", "gnss_rdp_paper")
    for printed, mark in ((None, NOT_FOR_RELEASE), (PRINTED, FREE_OF_VOTES)):
        table = accounted(printed=printed, draws=1)
        part = table[(table["aggregator"] == "confident") & table["quantity"].isin(pinned)]
        assert set(part["release"]) == {mark}
    found = quantities(table, "confident")
    assert [found[name] for name in pinned[:3]] == [4.0, 0.05, 5.0]


def test_confident_account_is_the_librarys_at_the_queries_that_were_drawn():
    table = accounted(printed=PRINTED)
    for draw in range(2):
        asked = COUNTS[draw_queries(POOL, 60, 0, "digits", draw)]
        found = quantities(table, "confident", draw)
        pinned = {name: PRINTED[name] for name in ("order", "beta", "sigma_ss")}
        classic = {"conversion": "classic", "formula": "paper"}
        tuned = confident_gnmax_privacy(asked, **NOISE, delta=DELTA, orders=ORDERS, **classic)
        paper = confident_gnmax_privacy(asked, **NOISE, delta=DELTA, **classic, **pinned)
        exact = confident_gnmax_privacy(
            asked, **NOISE, delta=DELTA, conversion="classic", formula="exact", **pinned
        )
        best = confident_gnmax_privacy(asked, **NOISE, delta=DELTA, orders=ORDERS)
        expected = {
            "asked": 60,
            "answered": tuned.expected_answers,
            "epsilon": tuned.epsilon,
            "rdp": tuned.threshold_rdp + tuned.label_rdp,
            "epsilon_improved": best.epsilon,
            "tuned_beta": tuned.beta,
            "smooth_sensitivity": paper.smooth_sensitivity,
            "sanitized_epsilon": paper.sanitized_epsilon,
            "sanitized_sd": paper.sanitized_sd,
            "sanitized_epsilon_exact": exact.sanitized_epsilon,
            "sanitized_upper_exact": exact.sanitized_upper,
            "best_sanitized_epsilon": best.sanitized_epsilon,
            "exact_data_independent_epsilon": best.exact_data_independent_epsilon,
        }
        assert {name: found[name] for name in expected} == expected


def test_stopping_at_the_printed_answers_costs_one_gaussian_mechanism():
    found = quantities(accounted(printed=PRINTED, draws=1), "confident")
    rho = 60 / (2 * NOISE["sigma1"] ** 2) + PRINTED["answers"] / NOISE["sigma2"] ** 2
    # mu = sqrt(2 rho) is the sensitivity over the noise; `analytic_epsilon` has sensitivity sqrt 2.
    expected = analytic_epsilon(1 / math.sqrt(rho), DELTA)
    name = "exact_data_independent_epsilon_at_printed_answers"
    assert found[name] == pytest.approx(expected, rel=1e-6)
    assert found[name] < found["exact_data_independent_epsilon"]


def test_secure_noise_is_accounted_for_on_the_lattice():
    noise = {"threshold": 30.5, "sigma1": 4.0, "sigma2": 1.5}
    settings = {
        "confident": {"queries": 60, **noise},
        "orders": {"order_max": 2, "order_step": 0.2},
    }
    usual, secure = (
        quantities(accounted(noise=mode, draws=1, **settings), "confident") for mode in MODES
    )
    one = confident_round(COUNTS[bought()[1]["confident_queries"]], **noise, noise="secure")
    assert secure["exact_data_independent_epsilon"] == worst_case_epsilon([one], DELTA)
    assert secure["answered"] == pytest.approx(one.answer_probability.sum())
    for name in ("answered", "rdp", "exact_data_independent_epsilon"):
        assert secure[name] != usual[name]


def test_one_number_of_queries_or_draw_more_changes_no_other_row():
    before = accounted(draws=1)
    after = accounted(lnmax={"scale": 3.0, "queries": [20, 40, 60]})
    keys = ["aggregator", "draw", "quantity"]
    kept = after.set_index(keys).loc[before.set_index(keys).index]
    pd.testing.assert_frame_equal(kept, before.set_index(keys), check_exact=True)


def test_two_rounds_add_up_and_ask_different_queries():
    table = accounted(two_rounds=ROUNDS, draws=1)
    found = quantities(table, "interactive")
    assert found["asked"] == 100
    assert {"beta_1", "beta_2", "sigma_ss_1", "smooth_sensitivity_2", "answered_first"} <= set(
        found
    )
    assert 0 < found["answered_first"] < found["answered"]
    assert 0 < found["epsilon_first"] < found["epsilon"]
    alone = accounted(confident={"queries": 40, **NOISE}, draws=1)
    first = quantities(alone, "confident")
    assert found["answered_first"] == first["answered"]
    assert found["epsilon_first"] == first["epsilon"]
    # The others do not know of it.
    others = table[table["aggregator"] != "interactive"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, accounted(draws=1), check_exact=True)


@pytest.mark.parametrize(("accuracy", "low", "high"), [(0.7, 0.66, 0.74), (1, 1, 1), (0, 0, 0)])
def test_stated_scores_are_right_as_often_as_stated(accuracy, low, high):
    labels = np.random.default_rng(0).integers(5, size=3000)
    student = {"student_accuracy": accuracy, "student_score": 0.9}
    scores = simulate_student_scores(labels, 5, student, np.random.default_rng(1))
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-12)
    assert set(np.unique(scores.round(12))) == {0.025, 0.9}
    right = scores.argmax(axis=1) == labels
    assert low <= right.mean() <= high
    if accuracy < 1:
        wrong = (scores.argmax(axis=1) - labels)[~right] % 5
        shares = np.bincount(wrong, minlength=5)[1:] / len(wrong)
        assert abs(shares - 0.25).max() < 0.05
    again = simulate_student_scores(labels, 5, student, np.random.default_rng(1))
    assert np.array_equal(scores, again)


# Aggregators at the noise of the configuration ----------------------------------------------------


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
