"""A relation holds only if ours shows it beyond its error, and every kind of verdict can fail."""

import math
import re

import pandas as pd
import pytest
import yaml

from private_ensembles.papers.common.standard_errors import (
    VariancePart,
    standard_error,
    tolerance_factor,
)
from private_ensembles.papers.compare import declarations
from private_ensembles.papers.compare.comparison import compare, judge_number, relations_of
from private_ensembles.papers.compare.declarations import ExplanationOfPrint, find_rule
from private_ensembles.papers.compare.judging import (
    Estimate,
    Evidence,
    Relation,
    difference_of_students,
    judge_relation,
    mean_over_runs,
)
from private_ensembles.papers.compare.printed import FOLDER, key_of, read_published
from private_ensembles.papers.compare.reproduced import reproduced_numbers
from private_ensembles.papers.dpbag.tables import error_of_difference
from private_ensembles.run.check import check
from tests.papers.compare.in_docs import settings_in_docs, tables_in_docs

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


def test_an_exact_mean_agrees_within_the_range_that_is_claimed_only():
    assert make_number("pooled", 2.0, Estimate(2.004), half=0.005)["status"] == "match"
    found = make_number("pooled", 2.0, Estimate(2.006), half=0.005)
    assert found["status"] == "differs"
    assert found["note"].startswith("Claimed 1.995 to 2.005, ours 2.006")
    assert make_number("pooled", 0.1 + 0.2, Estimate(0.3))["status"] == "match"


def test_an_error_of_ours_is_added_to_the_range_that_is_claimed():
    found = make_number("pooled", 2.0, Estimate(2.034, 0.01), half=0.005)
    assert (found["status"], found["tolerance"]) == ("match", pytest.approx(0.035))
    assert make_number("pooled", 2.0, Estimate(2.036, 0.01), half=0.005)["status"] == "differs"


@pytest.mark.parametrize("value", [0.05, 0.0, -0.05, 5.0])
def test_a_mean_whose_tolerance_holds_no_effect_is_weak_whatever_comes_out(value):
    found = make_number("pooled", 0.05, Estimate(value, 0.02))
    assert found["status"] == "weak"
    assert "No effect at all (0) is within it too." in found["note"]
    assert "opposite" in make_number("pooled", 0.05, Estimate(value, 0.04))["note"]
    assert make_number("pooled", 0.05, Estimate(0.05, 0.016))["status"] == "match"
    # The accuracy of a guess is no effect either.
    assert make_number("pooled", 0.55, Estimate(0.55, 0.02), no_effect=0.5)["status"] == "weak"
    assert make_number("pooled", 0.55, Estimate(0.55, 0.02), no_effect=0.4)["status"] == "match"


def test_what_is_weak_says_how_many_runs_would_judge_it():
    """Of a spread of 1 beside a print that varies as well, or not."""

    def alone(runs):
        return Estimate(2.0, 1 / math.sqrt(runs), runs - 1)

    found = make_number("order", 1.0, alone(3), with_runs=alone)
    # Twice as large as in print, it is 2 from none at all.
    runs = next(n for n in range(2, 100) if tolerance_factor(n - 1) / math.sqrt(n) < 2)
    assert found["status"] == "weak"
    assert f"it would take {runs} runs to judge it" in found["note"]
    assert make_number("order", 1.0, alone(runs), with_runs=alone)["status"] == "match"

    def beside_print(runs):
        return Estimate(2.0, math.sqrt(1 + 1 / runs), runs - 1)

    note = make_number("pooled", 2.9, beside_print(3), with_runs=beside_print)["note"]
    assert "no number of our runs would be enough to judge it" in note


def test_runs_that_are_needed_have_the_spread_of_those_that_there_are():
    assert mean_over_runs([1.0, 2.0, 3.0], 12) == Estimate(2.0, 1 / math.sqrt(12), 11)
    row = {"student_accuracy_sd": 0.03, "student_seeds": 5}
    upper, lower = ({"student_accuracy": accuracy, **row} for accuracy in (0.9, 0.8))
    found = difference_of_students(upper, lower, 9)
    assert found == pytest.approx((10.0, math.sqrt(2 * 9 / 9), 16))
    draws = pd.Series([1.0, 3, 5, 7], index=pd.Index([0, 0, 1, 1], name="seed"))
    size, freedom = error_of_difference(draws.groupby("seed"), 4)
    # 8 / 4 + (8 + 2 / 2) / 10, of which 1 / 10 is within splits
    assert size**2 == pytest.approx(2.9)
    assert freedom == pytest.approx(2.9**2 / (2.8**2 / 3 + 0.1**2 / 4))


def test_between_none_and_print_it_takes_runs_that_tell_it_from_both():
    """Ten runs may not do where the tolerance is below the printed effect and above half of it."""

    def between(runs):
        return Estimate(0.6, 0.9 / math.sqrt(runs), runs - 1)

    tolerance = between(10).tolerance
    assert tolerance > 0.6
    found = make_number("order", 1.0, between(10), with_runs=between)
    needed = int(re.search(r"it would take (\d+) runs", found["note"])[1])
    assert needed == next(n for n in range(2, 100) if between(n).tolerance < 0.6) > 10


def test_on_own_votes_the_runs_needed_are_those_that_tell_ours_from_none():
    def ours(runs):
        return Estimate(0.5, 1 / math.sqrt(runs), runs - 1)

    note = make_number("order", 50.0, ours(3), with_runs=ours, own_votes="Ours.")["note"]
    runs = next(n for n in range(2, 100) if tolerance_factor(n - 1) / math.sqrt(n) < 0.5)
    assert f"it would take {runs} runs to judge it" in note


def test_on_own_votes_print_says_how_large_no_difference_is():
    """What the paper prints of its votes is no measure of ours: a sign is all that is claimed."""
    ours = Estimate(0.05, 0.01, 4)
    assert make_number("order", 0.2, ours)["status"] == "differs"
    assert make_number("order", 0.2, ours, own_votes="Ours.")["status"] == "weak"
    below = ours._replace(value=-0.07)
    assert make_number("order", 0.2, below, own_votes="Ours.")["status"] == "differs"


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


# Power --------------------------------------------------------------------------------------------


TABLES = ("table1", "table6", "table8", "table10")


@pytest.fixture(scope="module")
def printed():
    return read_published(FOLDER / f"darrm_{name}.csv" for name in TABLES)


@pytest.fixture(scope="module")
def tables(root):
    return {name: pd.read_csv(root / "docs" / "darrm" / f"{name}.csv") for name in TABLES}


@pytest.fixture(scope="module")
def claims(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    return check(config).darrm.claims()


def statuses(printed, tables, claims):
    found = compare(printed, {"darrm": tables}, {"darrm": claims}, data="paper")
    return found["status"]


def swapped(table, one, other):
    """The table as if one mechanism were another."""
    names = table["mechanism"].replace({one: other, other: one})
    return table.assign(mechanism=names)


def test_where_a_number_matches_no_rival_s_result_would(printed, tables, claims):
    """A match is where every swap fails; where some swap passes it says `weak`, and which."""
    paper = declarations.load_paper("darrm")
    ours = reproduced_numbers(paper, tables, claims)
    digits = {key_of(cell): float(cell["published"]) for cell in printed.to_dict("records")}
    values = {key: number.value for key, number in ours.items() if key in digits}
    for cell in printed.to_dict("records"):
        key = key_of(cell)
        rivals = find_rule(paper.judged, key).alternatives(key, digits, values)
        assert len(rivals) == 5
        own = judge_number(cell, ours[key], paper, rivals)
        swaps = {
            name: judge_number(cell, ours[key]._replace(value=value), paper, rivals)["status"]
            for name, value in rivals.items()
        }
        passing = [name for name, status in swaps.items() if status != "differs"]
        assert own["status"] == ("weak" if passing else "match")
        assert all(name in own["note"] for name in passing)


# What a hostile reader tries: every row of a finished run with other numbers in the place of ours.
AGREES = {"match", "input"}


def test_every_relation_holds_on_the_printed_value_and_not_without_its_effect(root):
    published, tables = read_published(FOLDER.glob("*.csv")), tables_in_docs(root)
    tried = {"order": 0, "pooled": 0, "printed": 0}
    for name, settings in settings_in_docs(root).items():
        evidence = Evidence(declarations.load_paper(name), published, tables[name], settings)
        for relation in relations_of(name, evidence):
            if relation.ours is None or (relation.kind == "pooled" and relation.own_votes):
                continue

            def judged(value, relation=relation):
                return judge_relation(relation._replace(ours=relation.ours._replace(value=value)))

            effect = relation.published - relation.no_effect
            assert judged(relation.no_effect)["status"] not in AGREES, relation
            assert judged(relation.no_effect - effect)["status"] not in AGREES, relation
            # Print without digits says no more than the sign.
            as_printed = judged(relation.published if effect else 1.0)
            weak = as_printed["tolerance"] >= abs(effect) > 0
            assert as_printed["status"] == ("weak" if weak else "match"), relation
            tried[relation.kind] += 1
    assert min(tried.values()) > 5


def test_every_printed_number_agrees_with_itself_and_not_with_nothing_or_its_opposite(root):
    """At 0, and with the other sign; where 0 is printed or a side is claimed, at what is not."""
    published, tables = read_published(FOLDER.glob("*.csv")), tables_in_docs(root)
    tried = 0
    for name, settings in settings_in_docs(root).items():
        paper = declarations.load_paper(name)
        cells = published[published["paper"] == name].to_dict("records")
        printed = {key_of(cell): float(cell["published"]) for cell in cells}
        numbers = reproduced_numbers(paper, tables[name], settings)
        ours = {key: number.value for key, number in numbers.items() if key in printed}
        for cell in cells:
            key = key_of(cell)
            number = numbers.get(key, declarations.Reproduced(float(cell["low"] or "nan")))
            if number.note or math.isnan(number.value) or cell["low"] != cell["high"]:
                continue
            rule = find_rule(paper.judged, key)
            rivals = rule.alternatives(key, printed, ours) if rule else {}

            def judged(value, cell=cell, number=number, paper=paper, rivals=rivals):
                return judge_number(cell, number._replace(value=value), paper, rivals)["status"]

            claimed, side = printed[key], rule.side if rule else ""
            as_printed, *others = {
                "": (claimed, 0.0, -claimed) if claimed else (0.0, 1.0, -1.0),
                "above": (claimed + 1, claimed, claimed - 1),
                "below": (claimed - 1, claimed, claimed + 1),
            }[side]
            # What agrees, but not with how print says that it was made, is explained.
            agreed = {"explained"} if find_rule(paper.agreeing, key) else AGREES
            assert judged(as_printed) in agreed | {"weak"}, key
            refused = {"explained" if find_rule(paper.explanations, key) else "differs", "weak"}
            assert {judged(value) for value in others} <= refused, key
            tried += 1
    assert tried > 300


@pytest.mark.parametrize("other", ["darrm_opt", "darrm_sub"])
def test_another_mechanism_s_column_in_the_place_of_gnmax_s_is_noticed(
    printed, tables, claims, other
):
    wrong = {name: swapped(table, "gnmax", other) for name, table in tables.items()}
    found = statuses(printed, wrong, claims)
    changed = printed["column"].isin(["gnmax", other])
    # Three trainings tell little of how much trainings differ: where their part rules, the wrong
    # column's own tolerance is wide, and it is weak at best.
    assert (found[changed] == "differs").mean() > 0.7
    assert set(found[changed]) <= {"differs", "weak"}


def test_a_guess_in_the_place_of_every_result_is_noticed(printed, tables, claims):
    wrong = {name: table.assign(accuracy_mean=0.5) for name, table in tables.items()}
    found = statuses(printed, wrong, claims)
    assert (found == "differs").mean() > 0.6


def test_the_tolerance_is_student_s_for_a_difference_of_means():
    cell = dict.fromkeys(["item", "dataset", "row", "column"], "x")
    cell |= {"paper": "toy", "published": "0.80", "published_sd": "0.10"}
    paper = declarations.Paper(paper="toy", beside=[])
    ours = declarations.Reproduced(0.9, sd=0.2, error=0.02, freedom=6, draws=10)
    size, freedom = standard_error([VariancePart(0.1**2 / 10, 9), VariancePart(0.02**2, 6)])
    found = judge_number(cell, ours, paper)
    assert found["tolerance"] == pytest.approx(tolerance_factor(freedom) * size)
    assert found["status"] == "match"
    assert judge_number(cell, ours._replace(value=0.95), paper)["status"] == "differs"
    assert judge_number(cell, ours, paper, {"other": 0.85})["status"] == "weak"
    # Nothing of ours was estimated: the printed deviation's nine degrees of freedom are left.
    known = judge_number(cell, ours._replace(freedom=math.nan), paper)
    part = standard_error([VariancePart(0.1**2 / 10, 9), VariancePart(0.02**2, math.inf)])
    assert known["tolerance"] == pytest.approx(tolerance_factor(part.freedom) * part.size)


def test_of_several_runs_the_printed_number_is_one_more():
    number = declarations.Number(value="x", sd="sd", runs="runs", unit="percent")
    ours = number.read_from_row({"x": 0.9, "sd": 0.01, "runs": 3})
    assert (ours.value, ours.sd) == (pytest.approx(90), pytest.approx(1))
    assert (ours.error, ours.freedom) == (pytest.approx(math.sqrt(4 / 3)), 2)
    alone = number.read_from_row({"x": 0.9, "sd": math.nan, "runs": 1})
    assert math.isnan(alone.error)
    assert math.isnan(alone.freedom)


def test_a_constant_student_in_the_place_of_dpbag_s_is_noticed_where_the_spread_allows(root):
    """Of Table 5 only the model without privacy is told from every other row of its column."""
    printed = read_published([FOLDER / "dpbag_table5.csv"])
    table = pd.read_csv(root / "docs" / "dpbag" / "table5.csv")
    constant = {"accuracy_mean": 0.76072, "auroc_mean": 0.5, "auprc_mean": 0.23928}
    was, wrong = (
        compare(printed, {"dpbag": {"table5": one}}, data="paper")
        for one in (table, table.assign(**constant))
    )
    told = printed["row"] == "NPB"
    assert set(was[told]["status"]) == {"match"}
    assert set(wrong[told]["status"]) == {"differs"}
    assert set(was[~told]["status"]) == {"weak", "differs"}
    assert not set(wrong["status"]) & {"match", "explained"}
    assert was[was["status"] == "weak"]["note"].str.contains("Within the tolerance as well").all()
