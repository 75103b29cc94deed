"""PATE's printed numbers: which of ours stand beside them, and why some are not what is printed."""

import copy
import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from private_ensembles.configuration.check import check
from private_ensembles.papers.standard_errors import multiple
from private_ensembles.pate.sanitize import tuned_sigma
from private_ensembles.pate.table2 import ROWS, least_printed_cost, mnist_conversion
from private_ensembles.published import comparison
from private_ensembles.published.arithmetic import arithmetic
from private_ensembles.published.declarations import paper
from private_ensembles.published.parameters import altered, claims_of
from private_ensembles.published.printed import (
    FOLDER,
    KEY,
    Key,
    equals_printed,
    key_of,
    read_published,
)
from private_ensembles.published.rules import first_that_fits
from private_ensembles.published.statuses import STATUSES

CONFIG = Path(__file__).parents[2] / "config.yaml"
ITEMS = {"table1": 37, "table2": 38, "appendixB.6": 8, "section4.1": 2, "section5.3": 11}
ITEMS |= {"section3.5": 5, "section5.2": 4, "figure1": 7}
PAPER = ["mnist", "svhn", "adult", "glyph"]
OURS = "Same parameters, votes of our own teachers."
SYNTHETIC = "Same parameters, synthetic votes of Glyph's size"
GNSS = ("beta", "smooth_sensitivity")


@pytest.fixture(scope="module")
def printed():
    """But for what the paper states of its mathematics: test_statements_of_pate.py."""
    return read_published(set(FOLDER.glob("pate_*.csv")) - {FOLDER / "pate_statements.csv"})


def keys_of(printed, rules):
    """The printed numbers that rules are about."""
    keys = {key_of(cell) for cell in printed.to_dict("records")}
    return {key for key in keys if first_that_fits(rules, key)}


def test_no_rounding_of_svhns_parameters_gives_its_sanitised_epsilon():
    half = {"order": 0.05, "beta": 0.00005, "sigma_ss": 0.005}
    least = least_printed_cost(ROWS["SVHN"], digits=half)
    assert least == pytest.approx(0.5310, abs=5e-4)
    assert 4.955 + least > 5.455


def test_rounding_of_the_smooth_sensitivity_gives_the_second_rounds_sigma():
    assert tuned_sigma(50, 0.008, 0.00088, formula="paper") < 38.65
    assert equals_printed(tuned_sigma(50, 0.008, 0.000876, formula="paper"), "38.7")


def test_a_conversion_of_printed_numbers_is_judged_whoever_made_the_votes(printed):
    """Appendix B.6's 2.00 is of its own printed 1.18, not of any votes of ours."""
    found = compared(printed, PAPER).set_index(KEY).loc[("pate", "appendixB.6", "mnist")]
    row = found.loc[("confident", "epsilon")]
    assert row["status"] == "explained"
    assert row["reproduced"] == pytest.approx(1.18 + math.log(1e5) / 13)
    assert "less one" in row["note"]


def test_every_beta_of_table_2_is_one_that_the_authors_code_tries(printed):
    """Not our parameter beside itself: 0.30 / order, 0.31 / order, ..., as printed."""
    found = compared(printed, PAPER)
    rows = found[(found["item"] == "table2") & found["column"].str.startswith("beta")]
    assert rows["status"].tolist() == 4 * ["match"] + 2 * ["input"]
    orders = {"mnist": 14, "svhn": 7.5, "adult": 15.5, "glyph": 20.5}
    for row in rows[rows["row"] == "confident"].to_dict("records"):
        hundredths = 100 * row["reproduced"] * orders[row["dataset"]]
        assert hundredths == pytest.approx(round(hundredths), abs=1e-9)
        assert 30 <= round(hundredths) <= 49
    # Another printed beta is next to none that is tried.
    moved = printed.copy()
    place = (moved["dataset"] == "mnist") & (moved["column"] == "beta")
    moved.loc[place, "published"] = ".0325"
    wrong = compared(moved, PAPER).set_index(KEY)["status"]
    assert wrong["pate", "table2", "mnist", "confident", "beta"] == "differs"


def test_the_text_divides_by_the_order():
    found = mnist_conversion()
    assert equals_printed(found["by_order"], "2.00")
    assert equals_printed(found["by_order_less_one"], "2.07")


def test_printed_numbers_follow_from_printed_numbers_but_for_the_explained(printed):
    ours = arithmetic(printed)
    tables = {"pate": {"printed_arithmetic": ours}}
    table = comparison.compare(printed, tables, data="embedded")
    keys = set(map(tuple, ours[["item", "task", "row", "column"]].to_numpy()))
    found = table[[key[1:] in keys for key in map(tuple, table[KEY].to_numpy())]]
    assert len(found) == len(ours)
    assert set(found["status"]) == {"match", "explained", "differs", "input"}
    differs = found[found["status"] == "differs"]
    assert set(map(tuple, differs[KEY].to_numpy())) == keys_of(printed, paper("pate").remarks)
    explained = found[found["status"] == "explained"]
    assert set(map(tuple, explained[KEY].to_numpy())) == keys_of(
        printed, paper("pate").explanations
    )


# What was printed --------------------------------------------------------------------------------


def test_every_printed_number_of_pate_is_there(printed):
    assert printed.groupby("item").size().to_dict() == ITEMS


@pytest.mark.parametrize(
    ("item", "task", "row", "column", "digits"),
    [
        # Read from the paper by eye, not by what cut the tables out.
        ("table1", "mnist", "lnmax-1000", "epsilon", "8.03"),
        ("table1", "svhn", "confident", "answered", "3098"),
        ("table1", "adult", "lnmax-500", "student_accuracy", "83.0"),
        ("table1", "adult", "baseline", "baseline_accuracy", "85.0"),
        ("table1", "glyph", "lnmax-4000", "epsilon", "4.3"),
        ("table1", "glyph", "interactive", "answered", "4341"),
        ("table2", "adult", "confident", "epsilon", "1.68"),
        ("table2", "glyph", "confident", "sanitized_sd", "0.152"),
        ("table2", "glyph", "interactive", "smooth_sensitivity_2", ".00088"),
        ("section4.1", "glyph", "interactive", "epsilon_strong_composition", "10.14"),
        ("section5.3", "glyph", "interactive", "answered", "10422"),
        ("section5.3", "glyph", "confident", "epsilon", "1.02"),
        ("appendixB.6", "mnist", "gnss", "rdp", "0.52"),
    ],
)
def test_digits_are_kept_as_printed(printed, item, task, row, column, digits):
    key = ["pate", item, task, row, column]
    found = printed[(printed[KEY] == key).all(axis=1)]
    assert found[["published", "published_sd"]].to_numpy().tolist() == [[digits, ""]]


def test_disagreements_of_the_paper_with_itself_are_of_one_printed_number_each(printed):
    for doubt in paper("pate").doubts:
        assert len(keys_of(printed, [doubt])) == 1


# What a run has beside it ------------------------------------------------------------------------


def tables(tasks, printed, **flags):
    """Tables of a run of the paper's tasks as the workflow makes them; every value is 1."""
    configured = yaml.safe_load(CONFIG.read_text())["pate"]["tasks"]
    first, second = [], []
    for task in tasks:
        settings = configured[task]
        names = [f"lnmax-{q}" for q in settings["lnmax"]["queries"]] + ["confident"]
        names += ["interactive"] * ("two_rounds" in settings)
        facts = {"task": task, "stand_in": False, "synthetic": task == "glyph"} | flags
        accuracy = {"student_accuracy": 1.0, "student_accuracy_sd": 0.1}
        accuracy |= {"baseline_accuracy": 1.0, "baseline_accuracy_sd": 0.1}
        if settings["student"] is None:
            accuracy = dict.fromkeys(accuracy, math.nan)
        for name in names:
            row = {"aggregator": name, "asked": 5, "answered": 1.0, "answered_sd": 0.1}
            row |= {"epsilon": 1.0, "answered_first": 1.0, "epsilon_first": 1.0}
            first.append(facts | row | accuracy)
            if not name.startswith("lnmax"):
                endings = ("_1", "_2") if name == "interactive" else ("",)
                row = {f"{key}{end}": 1.0 for key in GNSS for end in endings} | {"order": 1.0}
                row |= {"aggregator": name, "answered": 1.0, "epsilon": 1.0, "rdp": 1.0}
                second.append(facts | row)
    return {
        "table1": pd.DataFrame(first),
        "table2": pd.DataFrame(second),
        "printed_arithmetic": arithmetic(printed),
    } | ({"equal_answers": pairs_of_figure_1()} if "glyph" in tasks else {})


def pairs_of_figure_1():
    """Our table of Figure 1's four costs, on synthetic votes."""
    labels, aggregators = ("first label", "second label"), ("lnmax", "confident")
    rows = [{"label": name, "aggregator": one} for name in labels for one in aggregators]
    return pd.DataFrame(rows).assign(epsilon=1.0, synthetic=True)


def reproduced(tables, settings=None):
    return comparison.reproduced_numbers(paper("pate"), tables, settings or {})


def notes_of(numbers):
    return {key: number.note for key, number in numbers.items() if number.note}


def compared(printed, tasks, data="paper", **flags):
    made = {"pate": tables(tasks, printed, **flags)}
    run = {"pate": {task: paper("pate").parameters[task] for task in tasks}}
    return comparison.compare(printed, made, run, data=data)


def test_every_printed_number_has_a_status_and_all_but_a_match_say_why(printed):
    table = compared(printed, PAPER)
    assert len(table) == len(printed) == sum(ITEMS.values())
    assert set(table["status"]) <= set(STATUSES)
    assert (table.loc[table["status"] != "match", "note"] != "").all()


def test_a_full_run_leaves_out_only_what_needs_glyphs_images(printed):
    table = compared(printed, PAPER)
    missing = table[table["status"] == "not_run"]
    assert set(missing["dataset"]) == {"glyph"}
    assert missing["column"].str.contains("accuracy").all()
    assert missing["note"].str.contains("Glyph's images are private").all()


def test_every_number_of_ours_stands_beside_a_printed_one(printed):
    numbers = reproduced(tables(PAPER, printed))
    assert set(numbers) - {key_of(cell) for cell in printed.to_dict("records")} == set()


def test_what_rests_on_votes_is_not_comparable_and_says_on_whose(printed):
    table = compared(printed, PAPER)
    notes = notes_of(reproduced(tables(PAPER, printed)))
    rests = table[table["status"] == "not_comparable"].set_index(KEY)
    assert set(rests.index) <= set(notes)
    items = {"table1", "table2", "section5.3", "appendixB.6", "figure1"}
    assert items == set(rests.reset_index()["item"])
    for key, note in rests["note"].items():
        assert note.startswith(SYNTHETIC if key[2] == "glyph" else OURS)
        doubt = first_that_fits(paper("pate").doubts, Key(*key))
        assert note.endswith(doubt.note if doubt else "")
    # What follows from printed numbers alone is compared in earnest, whatever was run.
    earnest = table[table["status"].isin(["match", "explained", "differs"])]
    for item in ("sanitized_epsilon", "sanitized_sd", "sigma_ss"):
        assert earnest["column"].str.startswith(item).any()


def test_a_student_of_the_authors_labels_is_compared_in_earnest(printed):
    key = Key("pate", "table1", "mnist", "lnmax-100", "student_accuracy")
    made = tables(PAPER, printed)
    own = {"task": "mnist", "stand_in": False, "aggregator": "lnmax-100"}
    statuses = {}
    for accuracy in (0.978, 0.93):
        row = own | {"student_accuracy": accuracy, "student_accuracy_sd": 0.002}
        row |= {"student_seeds": 3}
        made["authors_labels"] = pd.DataFrame([row])
        table = comparison.compare(printed, {"pate": made}, {"pate": {}}, data="paper")
        found = table.set_index(KEY).loc[key]
        assert found["reproduced"] == pytest.approx(100 * accuracy)
        # Student's quantile with two degrees of freedom; the printed student is a fourth.
        assert found["tolerance"] == pytest.approx(multiple(2) * 0.2 * (4 / 3) ** 0.5)
        statuses[accuracy] = found["status"], found["note"]
    # Another kind of student, and three are too few to tell rows apart: what agrees says so.
    assert (statuses[0.978][0], statuses[0.93][0]) == ("weak", "differs")
    assert "virtual adversarial training" in statuses[0.978][1]
    assert "printed lnmax-1000 (98.1)" in statuses[0.978][1]
    # Without them the row has the student of our own votes, which is not comparable.
    del made["authors_labels"]
    assert reproduced(made)[key].note.startswith(OURS)


def altered_tasks(printed, config):
    """The tasks whose numbers are no claims: in the comparison, and for the ledger."""
    run = check(config).pate.parameters([*PAPER, "digits"])
    keys = [Key("pate", "table1", task, "confident", "epsilon") for task in PAPER]
    found = {key.dataset for key in keys if altered(paper("pate"), key, "table1", run)}
    assert set(claims_of(printed, run)["dataset"]) == set(PAPER) - found
    return found


def test_parameters_of_the_paper_are_those_of_the_configuration(printed):
    config = yaml.safe_load(CONFIG.read_text())
    assert altered_tasks(printed, config) == set()
    for keys, value in (
        (("mnist", "K"), 249),
        (("svhn", "delta"), 1e-5),
        (("adult", "confident", "threshold"), 299),
        (("glyph", "lnmax", "scale"), 99),
        (("glyph", "two_rounds", "second", "sigma1"), 1),
    ):
        changed = copy.deepcopy(config)
        section = changed["pate"]["tasks"]
        for key in keys[:-1]:
            section = section[key]
        section[keys[-1]] = value
        assert altered_tasks(printed, changed) == {keys[0]}


def test_other_parameters_than_the_papers_are_not_called_the_same(printed):
    run = {"mnist": paper("pate").parameters["mnist"] | {"K": 249}}
    start = {"mnist": "Not the paper's parameters, and votes of our own.", "glyph": SYNTHETIC}
    for key, note in notes_of(reproduced(tables(PAPER, printed), run)).items():
        assert note.startswith(start.get(key.dataset, OURS))


def test_stand_ins_are_never_compared(printed):
    table = compared(printed, ["mnist"], stand_in=True)
    assert notes_of(reproduced(tables(["mnist"], printed, stand_in=True))) == {}
    assert "not_comparable" not in set(table["status"])


def test_a_run_without_any_table_compares_nothing(printed):
    assert reproduced({}) == {}
    only = {"printed_arithmetic": arithmetic(printed)}
    numbers = reproduced(only)
    assert len(numbers) == len(only["printed_arithmetic"])
    assert notes_of(numbers) == {}


def test_what_was_not_run_says_how_it_could_be(printed):
    table = compared(printed, ["glyph"], data="embedded")
    answered = table[(table["dataset"] == "svhn") & (table["column"] == "answered")]
    note = answered.set_index("row").loc["confident", "note"]
    assert note == "needs svhn: run with --config data=paper"
    table = compared(printed, ["mnist", "adult", "glyph"])
    missing = table[(table["dataset"] == "svhn") & (table["status"] == "not_run")]
    assert len(missing) == 7
    assert missing["note"].str.contains("put them under data/raw/svhn").all()
