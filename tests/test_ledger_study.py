"""The ledger: every mechanism has a row, claims hold but for NZC's, and doctored numbers show."""

import copy

import numpy as np
import pandas as pd
import pytest
import yaml

from private_ensembles import nzc_settings
from private_ensembles.audit.ledger import LedgerRow
from private_ensembles.config import SCHEMA
from private_ensembles.darrm import optimize_gamma
from private_ensembles.ledger_study import ledger
from private_ensembles.published import FOLDER, read_published
from private_ensembles.registry import MECHANISMS
from private_ensembles.report.ledger_figure import draw_ledger

DEFAULT = yaml.safe_load((SCHEMA.parents[2] / "config.yaml").read_text(encoding="utf-8"))
BUDGET = {"K": 5, "m": 3, "epsilon": 0.1, "Delta": 1e-4}


@pytest.fixture(scope="module")
def settings():
    config = copy.deepcopy(DEFAULT)
    config["audit"]["budgets"] = {"small": BUDGET}
    return nzc_settings.audit(config)


@pytest.fixture(scope="module")
def gammas():
    return {"small": optimize_gamma(5, 3, 0.1, 1e-4).gamma}


@pytest.fixture(scope="module")
def table(settings, gammas):
    return ledger(settings, gammas, read_published(FOLDER.glob("pate_table1.csv")))


def test_every_mechanism_has_a_row_with_an_exact_number(table):
    assert list(table.columns) == list(LedgerRow.__dataclass_fields__)
    assert set(table.loc[table["exact_epsilon"].notna(), "mechanism"]) == set(MECHANISMS)


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
    assert set(totals["verdict"]) == {"unknown"}
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
    settings, gammas, task, key, value, left
):
    changed = copy.deepcopy(settings)
    changed["pate"] = {task: changed["pate"][task] | {key: value}}
    rows = ledger(changed, gammas, read_published(FOLDER.glob("pate_table1.csv")))
    totals = rows[rows["setting"].str.endswith("published total")]
    assert totals["mechanism"].tolist() == left


def test_majority_is_listed_for_both_neighbours(table):
    rows = table[table["mechanism"] == "majority_private"].set_index("adjacency")
    assert set(rows.index) == {"add_remove", "replace_one"}
    assert rows.loc["add_remove", "proven_epsilon"] == 0.1
    assert rows.loc["replace_one", "proven_epsilon"] == pytest.approx(0.2)
    assert set(rows["privacy_model"]) == {"disjoint_shards"}
    # DaRRM's claim is proven for one of them only.
    opt = table[table["mechanism"] == "darrm_opt"].set_index("adjacency")["verdict"]
    assert opt.to_dict() == {"add_remove": "holds", "replace_one": "unknown"}


def test_gamma_that_is_not_private_is_refused(settings):
    # At m = 1 the majority of five teachers needs noise.
    strict = settings | {"budgets": {"small": BUDGET | {"m": 1}}}
    nothing = pd.DataFrame(columns=["paper", "item", "dataset", "column"])
    with pytest.raises(ValueError, match=r"proven_epsilon = 0\.1: must not be below the exact"):
        ledger(strict, {"small": np.ones(6)}, nothing)


def test_figure_draws_what_has_an_exact_value(table, tmp_path):
    for name in ("a.png", "b.png"):
        draw_ledger(table, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
