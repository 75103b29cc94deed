"""A relation holds only if ours shows it beyond its error, and every kind can fail."""

import math

import pandas as pd
import pytest

from private_ensembles.papers.common.standard_errors import tolerance_factor
from private_ensembles.papers.compare import declarations
from private_ensembles.papers.compare.declarations import ExplanationOfPrint
from private_ensembles.papers.compare.judging import (
    Estimate,
    Evidence,
    Relation,
    judge_relation,
    mean_over_runs,
)
from private_ensembles.papers.compare.printed import FOLDER, read_published

PLACE = {"item": "table1", "dataset": "mnist", "row": "one above other", "column": "difference"}


def make_number(kind, published, ours, **more):
    return judge_relation(Relation(kind, **PLACE, published=published, ours=ours, **more))


@pytest.mark.parametrize(
    ("value", "status"), [(0.07, "match"), (0.05, "weak"), (0.0, "weak"), (-0.07, "differs")]
)
def test_an_order_holds_only_beyond_the_error_of_our_difference(value, status):
    """Six standard errors are not enough of four degrees of freedom: 6.62 are."""
    assert tolerance_factor(4) == pytest.approx(6.62, abs=0.01)
    found = make_number("order", 0.02, Estimate(value, 0.01, 4))
    assert (found["status"], found["reproduced"]) == (status, value)
    assert found["tolerance"] == pytest.approx(tolerance_factor(4) * 0.01)
    assert "0.02" in found["note"]
    assert f"{value:.4g}" in found["note"]
    assert ("not beyond its error" in found["note"]) == (value == 0.05)


def test_an_order_far_below_print_differs_though_it_could_be_there():
    """Not weak: the tolerance of 0.066 holds no difference at all, but not the printed one."""
    assert make_number("order", 0.02, Estimate(-0.05, 0.01, 4))["status"] == "differs"
    assert make_number("order", 0.2, Estimate(0.05, 0.01, 4))["status"] == "differs"


def test_an_order_of_exact_numbers_needs_a_difference():
    assert make_number("order", 3, Estimate(1.0))["status"] == "match"
    assert make_number("order", 3, Estimate(0.0))["status"] == "differs"
    assert math.isnan(make_number("order", 3, Estimate(1.0))["reproduced_sd"])


@pytest.mark.parametrize(
    ("value", "status"), [(0.80, "match"), (0.766, "match"), (0.76, "differs"), (0.87, "differs")]
)
def test_a_mean_agrees_only_within_the_tolerance_of_the_difference(value, status):
    assert make_number("pooled", 0.80, Estimate(value, 0.0125))["status"] == status


def test_an_exact_mean_agrees_within_the_rounding_of_print_only():
    assert make_number("pooled", 2.0, Estimate(2.004), rounding=0.005)["status"] == "match"
    assert make_number("pooled", 2.0, Estimate(2.006), rounding=0.005)["status"] == "differs"
    assert make_number("pooled", 0.1 + 0.2, Estimate(0.3))["status"] == "match"


def test_a_claim_about_printed_numbers_is_counted():
    assert make_number("printed", 36, Estimate(36))["status"] == "match"
    found = make_number("printed", 36, Estimate(35))
    assert found["status"] == "differs"
    assert found["note"] == "Claimed 36, in the printed numbers 35."


def test_on_own_votes_an_order_is_judged_and_a_mean_is_not():
    order = make_number("order", 1, Estimate(-1.0), own_votes="Synthetic votes.")
    assert order["status"] == "differs"
    assert "Synthetic votes." in order["note"]
    pooled = make_number("pooled", 1, Estimate(1.0), own_votes="Synthetic votes.")
    assert (pooled["status"], pooled["note"]) == ("not_comparable", "Synthetic votes.")


def test_what_differs_carries_its_cause_or_what_is_known():
    cause = ExplanationOfPrint(note="The caption's delta.", test="tests/x.py::test_y")
    found = make_number("pooled", 1, Estimate(2.0), cause=cause)
    assert found["status"] == "explained"
    assert found["note"].endswith("The caption's delta. Test: tests/x.py::test_y")
    assert make_number("pooled", 1, Estimate(2.0), remark="Nobody knows.")["note"].endswith(
        "Nobody knows."
    )
    assert "Nobody" not in make_number("pooled", 1, Estimate(1.0), remark="Nobody knows.")["note"]


def test_a_mean_of_one_run_has_no_error():
    with pytest.raises(ValueError, match="runs = 1: must be at least 2"):
        mean_over_runs([1.0])


@pytest.fixture
def evidence():
    ours = pd.DataFrame({"dataset": ["digits", "mnist"], "stand_in": [True, False], "m": [1, 3]})
    return Evidence(
        declarations.load_paper("darrm"),
        read_published(FOLDER.glob("*.csv")),
        {"mixed": ours, "stand_ins": ours[:1]},
        {"K": 5},
    )


def test_printed_numbers_are_those_of_the_item_as_floats(evidence):
    cells = evidence.printed_numbers("table1")
    assert set(cells["dataset"]) == {"mnist", "fashion-mnist"}
    assert cells["published"].between(0, 1).all()
    assert (cells["published_sd"] > 0).all()
    assert cells.index.tolist() == list(range(len(cells)))


def test_a_number_without_a_deviation_has_none(evidence):
    assert all(map(math.isnan, evidence.printed_numbers("table3")["published_sd"]))


def test_an_item_of_which_nothing_is_printed_is_an_error(evidence):
    with pytest.raises(ValueError, match="no number is printed in table99"):
        evidence.printed_numbers("table99")


def test_stand_ins_are_no_evidence(evidence):
    assert evidence.table("mixed")["dataset"].tolist() == ["mnist"]
    assert evidence.table("stand_ins") is None
    assert evidence.table("not run") is None


def test_a_setting_of_the_run_goes_before_the_paper_s(evidence):
    name, value = next((k, v) for k, v in evidence.paper.parameters.items() if k != "K")
    assert evidence.setting("K") == 5
    assert evidence.setting(name) == value
