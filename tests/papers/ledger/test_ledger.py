"""The ledger: every mechanism has a row, claims hold but for NZC's, and doctored numbers show."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from private_ensembles.labels import registry
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.compare.reproduced import select_claims
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.ledger.figure import draw_ledger
from private_ensembles.papers.ledger.ledger import (
    _published_total_rows as published_total_rows,
)
from private_ensembles.papers.ledger.ledger import (
    aggregator_rows,
    bagging_rows,
    calibrate_budget,
    ledger,
)
from private_ensembles.papers.ledger.row import ledger_row
from private_ensembles.papers.ledger.totals import totals
from private_ensembles.run.check import check

DEFAULT = yaml.safe_load((Path(__file__).parents[3] / "config.yaml").read_text(encoding="utf-8"))
BUDGET = {"K": 5, "m": 3, "epsilon": 0.1, "Delta": 1e-4}


@pytest.fixture(scope="module")
def settings():
    """Those of the papers, but for a small budget, and Glyph of 10 classes in the place of 150."""
    given = check(DEFAULT).ledger() | {"budgets": {"small": BUDGET}}
    glyph = given["pate"]["glyph"] | {"n_classes": 10}
    return given | {"pate": given["pate"] | {"glyph": glyph}}


@pytest.fixture(scope="module")
def gammas():
    return {"small": optimize_gamma(5, 3, 0.1, 1e-4).gamma}


@pytest.fixture(scope="module")
def table(settings, gammas):
    return ledger(settings, gammas, published())


def published():
    return read_published([FOLDER / "pate_table1.csv", FOLDER / "dpbag_table6.csv"])


def test_every_mechanism_has_a_row_with_an_exact_number(table):
    assert list(table.columns) == list(ledger_row("gnmax", "", delta=1e-5))
    exact = set(table.loc[table["exact_epsilon"].notna(), "mechanism"])
    # Of the teachers' own cost the audit knows what is claimed, no more; at given noise there is
    # one Confident-GNMax.
    unknown = {"majority_private", "confident_gnmax_exact"}
    assert exact == set(registry.entries()) - unknown


def test_a_verdict_names_a_section_of_the_docs_that_states_and_proves_something(table):
    """What is there is looked up in tests/labels/test_registry.py."""
    assert set(table.loc[table["verdict"] == "unproven", "proof"]) == {""}
    named = set(table.loc[table["verdict"] != "unproven", "proof"])
    assert len(named) > 5
    proofs = {entry.origin.proof for entry in registry.ENTRIES}
    assert named <= proofs | {"method.md#a-record-that-is-replaced"}


def test_only_what_holds_or_is_proven_is_for_release(table):
    free = table["release"] == "for release"
    assert set(table.loc[free, "verdict"]) == {"holds", "proven"}
    assert (table["verdict"] == "unproven").any()


def test_no_verdict_rests_on_a_number_compared_with_itself(table):
    """Where it says `holds`, some number other than the claim bears it out."""
    for row in table[table["verdict"] == "holds"].to_dict("records"):
        other = [row["proven_epsilon"] < row["claimed_epsilon"] * (1 - 1e-9)]
        assert any([*other, row["exact_epsilon"] == row["exact_epsilon"]]), row["setting"]


def test_exact_values_are_at_delta_itself(settings, gammas):
    """Not at a delta that is a bit larger, where less is lost."""
    found = ledger(settings | {"pate": {}, "nzc": {}}, gammas, published())
    row = found[found["mechanism"] == "lnmax_pure"].iloc[0]
    # One vote decides: two classes, K = 5, noise of scale b on both counts.
    b, e = 2 / 0.3, row["exact_epsilon"]
    small = [(1 + d / (2 * b)) * math.exp(-d / b) / 2 for d in (5, 3, 1)]
    p = [*small, *(1 - x for x in reversed(small))]
    lost = max(max(0.0, y - math.exp(e) * x) for x, y in itertools.pairwise(p))
    assert lost <= row["delta"] * (1 + 1e-12)
    assert lost >= row["delta"] * (1 - 1e-7)


def test_only_nzc_fails_and_nothing_of_it_is_for_release(table):
    exact = table[table["exact_epsilon"].notna()]
    assert set(exact.loc[exact["verdict"] == "fails", "mechanism"]) == {"nzc"}
    assert (exact.loc[exact["mechanism"] == "nzc", "verdict"] == "fails").all()
    assert set(table.loc[table["mechanism"] == "nzc", "release"]) == {"not for release"}
    held = exact[exact["verdict"] == "holds"]
    assert (held["exact_epsilon"] <= held["claimed_epsilon"] * (1 + 1e-9)).all()
    assert (held["exact_epsilon"] <= held["proven_epsilon"] * (1 + 1e-9)).all()


def test_published_totals_are_private_and_no_bound_for_all_data_confirms_them(table):
    totals = table[table["setting"].str.endswith("published total")]
    assert set(totals["data_dependent"]) == {"yes"}
    assert set(totals["release"]) == {"not for release"}
    assert set(totals["verdict"]) == {"unproven"}
    assert (totals["proven_epsilon"] > totals["claimed_epsilon"]).all()
    mnist = totals[totals["setting"].str.startswith("mnist: 640")]
    assert mnist["claimed_epsilon"].tolist() == [1.97]
    assert mnist["proven_epsilon"].iloc[0] == pytest.approx(3.93, abs=5e-3)


@pytest.mark.parametrize(
    ("task", "key", "value", "left"),
    [
        ("mnist", "lnmax", {"scale": 20, "queries": [100]}, []),
        ("mnist", "lnmax", {"scale": 2, "queries": [100, 1000]}, []),
        ("mnist", "K", 20, []),
        ("glyph", "two_rounds", None, ["lnmax", "confident_gnmax"]),
    ],
)
def test_published_totals_are_claims_about_the_published_parameters(
    settings, task, key, value, left
):
    changed = {task: settings["pate"][task] | {key: value}}
    rows = published_total_rows(task, changed[task], select_claims(published(), changed))
    assert [row["mechanism"] for row in rows] == left


def test_majority_is_listed_for_both_neighbours(table):
    rows = table[table["mechanism"] == "majority_private"].set_index("adjacency")
    assert set(rows.index) == {"add_remove", "replace_one"}
    assert rows.loc["add_remove", "proven_epsilon"] == 0.1
    assert rows.loc["replace_one", "proven_epsilon"] == pytest.approx(0.2)
    assert set(rows["privacy_model"]) == {"disjoint_shards"}
    # DaRRM's claim is proven for one of them only.
    opt = table[table["mechanism"] == "darrm_opt"].set_index("adjacency")["verdict"]
    assert opt.to_dict() == {"add_remove": "holds", "replace_one": "unproven"}
    # How these teachers are trained is not said, so that nothing but the theorem bears them out.
    assert set(rows["verdict"]) == {"proven"}


@pytest.fixture(scope="module")
def trained(settings):
    """The rows of the budget whose teachers' training is stated."""
    budget = check(DEFAULT).ledger()["budgets"]["mnist"]
    return rows_of_trained(settings, budget)


def rows_of_trained(settings, budget):
    found = optimize_gamma(11, 3, budget["epsilon"], 1e-4).gamma
    given = settings | {"pate": {}, "nzc": {}} | {"budgets": {"mnist": budget}}
    rows = ledger(given, {"mnist": found}, published())
    rows["teachers"] = rows["setting"].str.extract("teachers by (.*)")[0].fillna("")
    return rows


CURVE = "group privacy of the accountant's curve"


def test_replaced_records_cost_what_follows_from_add_remove(trained):
    """0.1743 at the same delta, which group privacy proves of the whole curve; less is unproven."""
    rows = trained[trained["mechanism"] == "majority_private"].set_index("teachers")
    proven = rows.loc[CURVE]
    assert (proven["proven_epsilon"], proven["delta"]) == (pytest.approx(0.174327, abs=1e-6), 1e-4)
    assert (proven["verdict"], proven["release"]) == ("proven", "for release")
    claimed = rows.loc["the replace-one accountant"]
    assert claimed["claimed_epsilon"] == pytest.approx(0.172317, abs=5e-7)
    assert claimed["proven_epsilon"] == proven["proven_epsilon"]
    assert (claimed["verdict"], claimed["release"]) == ("unproven", "not for release")
    group = rows.loc["group privacy"]
    assert (group["claimed_epsilon"], group["verdict"]) == (0.1784, "holds")
    opt = trained[trained["mechanism"] == "darrm_opt"].set_index("teachers").loc[CURVE]
    assert (opt["verdict"], round(opt["proven_epsilon"], 3)) == ("unproven", 0.535)
    noiseless = trained["mechanism"].isin(["majority_private", "committee"])
    assert noiseless[trained["teachers"] == "the replace-one accountant"].all()


def test_the_majority_s_claim_is_compared_with_what_its_training_costs(trained, settings):
    """0.0892 is the paper's accountant's; another one proves 0.0791 of the same noise and steps."""
    row = trained[(trained["mechanism"] == "majority_private") & (trained["teachers"] == "")]
    assert row["claimed_epsilon"].item() == 0.0892
    assert row["proven_epsilon"].item() == pytest.approx(0.0791282, abs=1e-7)
    assert row["verdict"].item() == "holds"
    # A claim that the noise does not bear: before, it was compared with itself.
    budget = check(DEFAULT).ledger()["budgets"]["mnist"] | {"epsilon": 0.05}
    small = rows_of_trained(settings, budget)
    rows = small[(small["mechanism"] == "majority_private") & (small["teachers"] == "")]
    assert rows["verdict"].item() == "unproven"
    assert rows["release"].item() == "not for release"


def test_labels_of_teachers_that_train_briefly_are_audited_as_what_those_teachers_cost(settings):
    """One epoch costs a third of what is stated, for the proof and for the exact number alike."""
    budget = check(DEFAULT).ledger()["budgets"]["mnist"]
    brief = budget | {"teachers": budget["teachers"] | {"epochs": 1}}
    rows = rows_of_trained(settings, brief)
    rows = rows[rows["teachers"] == ""].set_index("mechanism")
    committee = rows.loc["committee"]
    assert 0 < committee["exact_epsilon"] <= committee["proven_epsilon"] < 0.1
    # Noise that is made for teachers as stated is audited so.
    assert rows.loc["darrm_opt", "exact_epsilon"] > 0.2


def test_gamma_that_is_not_private_is_refused(settings):
    # At m = 1 the majority of five teachers needs noise.
    strict = settings | {"budgets": {"small": BUDGET | {"m": 1}}}
    nothing = pd.DataFrame(columns=["paper", "item", "dataset", "row", "column"])
    with pytest.raises(ValueError, match="gamma: must be private for K = 5, m = 1"):
        ledger(strict, {"small": np.ones(6)}, nothing)


def test_many_classes_have_bounds_from_both_sides(table):
    rows = table[table["setting"].str.contains(r"one query, \d+ classes")]
    assert set(rows["mechanism"]) == {"lnmax", "gnmax", "confident_gnmax"}
    assert rows["exact_epsilon"].isna().all()
    assert_known_from_both_sides(rows.to_dict("records"))
    # LNMax's claim is what is proven of it; of the others more is proven than claimed.
    assert set(rows.loc[rows["mechanism"] == "lnmax", "verdict"]) == {"proven"}
    assert set(rows.loc[rows["mechanism"] != "lnmax", "verdict"]) == {"holds"}
    mnist = rows[rows["setting"].str.startswith("mnist: one query, 10 classes")]
    gnmax = mnist.set_index("mechanism").loc["gnmax"]
    assert gnmax["lower_epsilon"] == pytest.approx(0.1094, abs=5e-5)
    assert gnmax["proven_epsilon"] == pytest.approx(0.1096, abs=5e-5)


def assert_known_from_both_sides(rows):
    for row in rows:
        low, proven = row["lower_epsilon"], row["proven_epsilon"]
        assert 0.5 * proven < low <= proven, row


@pytest.mark.slow
def test_the_classes_of_glyph_have_bounds_from_both_sides():
    given = check(DEFAULT).ledger()
    task = {**given["pate"]["glyph"], "student_score": given["student_score"]}
    assert task["n_classes"] == 150
    assert_known_from_both_sides(aggregator_rows("glyph", task, 150))


def test_few_teachers_of_many_classes_are_exact():
    task = {"K": 6, "delta": 1e-3, "n_classes": 4, "lnmax": {"scale": 4}}
    task["confident"] = {"threshold": 4, "sigma1": 3, "sigma2": 2}
    for row in aggregator_rows("small", task, 4):
        assert row["lower_epsilon"] is None
        assert 0 < row["exact_epsilon"] <= row["proven_epsilon"]
        assert row["verdict"] == "holds"


def test_bagged_votes_stand_beside_what_is_printed_of_them(table, settings):
    rows = table[table["mechanism"] == "dpbag"]
    labels = rows[rows["exact_epsilon"].notna()].set_index("setting")
    assert len(labels) == 3
    assert (labels["exact_epsilon"] <= labels["proven_epsilon"]).all()
    saa = labels.loc["SAA: one label, n = 250, k = 1"]
    assert saa["claimed_epsilon"] == pytest.approx(0.016)
    assert saa["exact_epsilon"] == pytest.approx(0.01192, abs=1e-5)
    # The printed numbers of labels cost everyone half of the printed epsilon.
    printed = rows[rows["setting"].str.endswith("printed")]
    assert len(printed) == 12
    assert set(printed["verdict"]) == {"holds"}
    assert (printed["proven_epsilon"] < 0.6 * printed["claimed_epsilon"]).all()
    personal = printed["setting"].str.contains("DPBag")
    assert set(printed.loc[personal, "release"]) == {"not for release"}
    assert set(printed.loc[~personal, "data_dependent"]) == {"no"}


@pytest.mark.parametrize("change", [{"noise": 1}, {"delta": 1e-3}, {"n": 77}])
def test_printed_numbers_of_labels_are_claims_about_the_printed_noise(settings, change):
    rows = list(bagging_rows(settings["dpbag"] | change, published()))
    assert [row["setting"].partition(":")[0] for row in rows] == ["SAA", "DPBag", "DPBag, m = 1/2"]


def test_what_all_labels_of_nzc_cost_is_no_less_than_one_of_them(table):
    rows = table[table["mechanism"] == "nzc"]
    one = rows["setting"].str.contains("labels: 1,")
    assert rows.loc[one, "exact_epsilon"].notna().all()
    assert rows.loc[~one, "exact_epsilon"].isna().all()
    assert (rows.loc[~one, "lower_epsilon"] >= 1e90).all()
    assert set(rows["verdict"]) == {"fails"}


MNIST = DEFAULT["pate"]["tasks"]["mnist"]
NOISELESS = {"queries": 1, "threshold": 1e6, "sigma1": 0.01, "sigma2": 0.01}
FEW = {"n": 10, "k": 2, "noise": 2, "delta": 1e-5}
# Every odd value once, several together where they meet in no row.
ODD = {
    "no tasks, leaks that use up everything, noise of DPBag": {
        "pate": {},
        "nzc": {},
        "budgets": {"odd": {"K": 3, "m": 3, "epsilon": 5.0, "Delta": 0.049}},
        "totals": {"queries": [1, 1000], "delta_prime": 1e-4},
        "dpbag": {"n": 3, "k": 2, "noise": 5000, "delta": 1e-9},
    },
    "a small budget, one teacher, hardly any noise of PATE, NZC's other noise": {
        "budgets": {
            "small": {"K": 3, "m": 1, "epsilon": 1e-3, "Delta": 1e-9},
            "alone": {"K": 1, "m": 1, "epsilon": 0.1, "Delta": 1e-4},
        },
        "totals": {"queries": [2], "delta_prime": 1e-4},
        "pate": {
            "mnist": MNIST
            | {"n_classes": 3, "confident": NOISELESS, "lnmax": {"scale": 0.01, "queries": [1]}}
        },
        "mechanism": DEFAULT["nzc"] | {"noise": "gaussian", "constant": 0},
    },
    "two budgets, two teachers of PATE, no tasks of NZC": {
        "budgets": {"odd": BUDGET, "other": BUDGET | {"m": 5}},
        "pate": {"mnist": MNIST | {"K": 2, "n_classes": 3}},
        "nzc": {},
        "mechanism": DEFAULT["nzc"],
    },
}


def gamma_of(budget):
    return optimize_gamma(*(budget[key] for key in ("K", "m", "epsilon", "Delta"))).gamma


@pytest.mark.parametrize("case", ODD)
def test_odd_settings_have_their_rows_and_totals(settings, case, drawn):
    given = settings | {"dpbag": FEW} | ODD[case]
    chosen = {name: gamma_of(budget) for name, budget in given["budgets"].items()}
    table = ledger(given, chosen, published())
    assert set(table["mechanism"]) >= {"gnmax", "ladder", "darrm_opt", "majority_private", "dpbag"}
    assert set(table.loc[table["verdict"] == "fails", "mechanism"]) <= {"nzc"}
    draw_ledger(table)
    assert len(drawn) == 1
    if "totals" not in ODD[case]:
        return
    calibrated = {
        name: calibrate_budget(budget, chosen[name]) for name, budget in given["budgets"].items()
    }
    together = totals(calibrated, **given["totals"])
    noisy = together[~together["mechanism"].isin(["majority_private", "committee"])]
    assert (noisy[["general", "optimal", "pld"]] >= 0).all().all()
    assert np.isfinite(noisy[["general", "optimal", "pld"]]).all().all()


# Rows ---------------------------------------------------------------------------------------------


MODEL = {"privacy_model": "disjoint_shards", "adjacency": "replace_one", "delta": 1e-5}


def test_a_failed_claim_is_not_released():
    assert ledger_row("gnmax", "", claimed_epsilon=1.0, exact_epsilon=0.5, **MODEL)["release"]
    assert not ledger_row("gnmax", "", claimed_epsilon=1.0, exact_epsilon=2.0, **MODEL)["release"]
    assert not ledger_row("nzc", "", claimed_epsilon=9e-8, exact_epsilon=1e90, **MODEL)["release"]


@pytest.mark.parametrize(
    ("claimed", "proven", "lower", "expected"),
    [
        (1.0, 1.5, 1.2, "fails"),
        (1.0, None, 1.2, "fails"),
        (1.0, 1.5, 0.9, "unproven"),
        (1.0, 1.0, 0.9, "proven"),
        (1.0, 0.95, 0.9, "holds"),
        (1.0, None, 0.9, "unproven"),
        (None, 1.0, 0.9, "unproven"),
    ],
)
def test_what_is_proven_not_to_be_enough_refutes_a_claim(claimed, proven, lower, expected):
    given = {"claimed_epsilon": claimed, "proven_epsilon": proven, "lower_epsilon": lower}
    row = ledger_row("gnmax", "", **given, **MODEL)
    assert (row["verdict"], row["lower_epsilon"]) == (expected, lower)
    assert row["release"] == (expected in ("holds", "proven"))


def test_a_claim_that_is_its_own_proof_is_called_proven_and_names_it():
    """A number beside itself bears nothing out: what stands behind it is the theorem alone."""
    row = ledger_row("majority_private", "", claimed_epsilon=0.2, proven_epsilon=0.2, **MODEL)
    assert (row["verdict"], row["proof"], row["release"]) == (
        "proven",
        "method.md#private-teachers",
        True,
    )
    given = {"claimed_epsilon": 0.3, "proven_epsilon": 0.2, "proof": "page.md#place"}
    row = ledger_row("majority_private", "", **given, **MODEL)
    assert (row["verdict"], row["proof"]) == ("holds", "page.md#place")


def test_what_nothing_proves_names_no_proof_and_is_not_for_release():
    row = ledger_row("majority_private", "", claimed_epsilon=0.1, proven_epsilon=0.2, **MODEL)
    assert (row["verdict"], row["proof"], row["release"]) == ("unproven", "", False)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"privacy_model": "shared_data"}, "privacy_model"),
        ({"adjacency": "zero_out"}, "adjacency"),
        ({"proven_epsilon": 0.5, "exact_epsilon": 0.6}, "proven_epsilon"),
        ({"proven_epsilon": 0.5, "lower_epsilon": 0.6}, "proven_epsilon"),
        ({"lower_epsilon": -1.0}, "lower_epsilon"),
        ({"claimed_epsilon": math.nan}, "claimed_epsilon"),
        ({"delta": 2.0}, "delta"),
    ],
)
def test_wrong_model_and_impossible_proofs_are_refused(given, name):
    with pytest.raises(ValueError, match=name):
        ledger_row("ladder", "", **(MODEL | given))


# Figure -------------------------------------------------------------------------------------------


def test_a_row_without_a_second_number_is_left_out(published, drawn):
    table = published("privacy_ledger")
    bare = table.iloc[:1].assign(exact_epsilon=None, lower_epsilon=None, proven_epsilon=None)
    draw_ledger(table)
    draw_ledger(pd.concat([table, bare]))
    shown = [
        [line.get_xydata().tolist() for line in figure.axes[0].get_lines()] for figure in drawn
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("verdict", ["unproven", "fails"])
def test_what_is_not_proven_is_crossed_out_and_called_not_for_release(published, drawn, verdict):
    """One row of one mechanism, whose verdict alone differs: another picture, another legend."""
    table = published("privacy_ledger")
    row = table[table["verdict"] == "holds"].iloc[:1]
    draw_ledger(row)
    draw_ledger(row.assign(verdict=verdict))
    words = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert f"{verdict}: not for release" in words
    crosses = [
        sum(line.get_marker() == "x" for line in figure.axes[0].get_lines()) for figure in drawn
    ]
    assert crosses[1] == crosses[0] + 1
