"""NZC's printed numbers: which of ours stand beside them."""

import math

import pandas as pd
import pytest

from private_ensembles.published import comparison
from private_ensembles.published.declarations import paper as declared
from private_ensembles.published.printed import (
    FOLDER,
    equals_printed,
    key_of,
    read_published,
)

FACTS = {"mnist": {"n_train": 60000, "n_test": 10000, "pool": 9000}}


@pytest.fixture(scope="module")
def printed():
    return read_published(FOLDER.glob("nzc_*.csv"))


def tables(stand_in=False):
    common = {"task": "mnist", "stand_in": stand_in}
    table1 = pd.DataFrame(
        [
            {
                **common,
                "aggregator": name,
                "queries": queries,
                "claimed_epsilon": epsilon,
                "true_epsilon": 1e90 if name.startswith("nzc") else None,
                "student_accuracy": 0.9,
                "student_accuracy_sd": 0.01,
            }
            for name, queries, epsilon in (
                ("lnmax-100", 100, 2.5),
                ("lnmax-5000", 5000, 40.0),
                ("nzc", 9000, 9.1e-8),
                ("nzc-5", 9000, 9.1e-8),
                ("clean", 9000, float("nan")),
                ("truth", 9000, None),
            )
        ]
    )
    table2 = pd.DataFrame([{**common, "aggregator": "nzc", "label_accuracy": 0.95}])
    return {"table1": table1, "table2": table2}


def compare(printed, given, facts=FACTS, data="paper"):
    sizes = pd.DataFrame({"dataset": name, **counts} for name, counts in facts.items())
    tables = {"nzc": given | {"sizes": sizes}}
    table = comparison.compare(printed, tables, {"nzc": facts}, data=data)
    return table.set_index(["item", "dataset", "row", "column"])


def test_every_printed_number_has_a_row_and_a_place(printed):
    counts = {"table1": 42, "section5.1": 8, "table2": 6}
    counts |= {"lemma1": 1, "theorem3": 1, "section5.2": 1}
    assert printed["item"].value_counts().to_dict() == counts
    table = compare(printed, tables())
    assert len(table) == len(printed)
    sizes = table.loc["section5.1"].loc["mnist"]
    pool = sizes.index.get_level_values("column") == "pool"
    assert set(sizes.loc[~pool, "status"]) == {"match"}
    assert set(sizes.loc[pool, "status"]) == {"input"}


def test_what_a_label_costs_is_compared_and_what_rests_on_votes_is_not(printed):
    table = compare(printed, tables())
    for row in ("nzc", "nzc-few"):
        found = table.loc["table1", "mnist", row, "claimed_epsilon"]
        assert (found["status"], found["reproduced"]) == ("explained", 1e90)
        assert "claim is false" in found["note"]
        student = table.loc["table1", "mnist", row, "student_accuracy"]
        assert (student["status"], student["reproduced"]) == ("not_comparable", 90)
        assert "claim is false" in student["note"]
    assert table.loc["table1", "mnist", "lnmax-100", "claimed_epsilon"]["reproduced"] == 2.5
    above = table.loc["table1", "mnist", "lnmax-5000", "claimed_epsilon_above"]
    assert "lower bound" in above["note"]
    assert above["status"] == "not_comparable"
    assert table.loc["table2", "mnist", "nzc", "label_accuracy"]["reproduced"] == 95


def cell(printed, item, row, column, dataset="mnist", paper="nzc"):
    """A printed number, as text."""
    key = {"paper": paper, "item": item, "dataset": dataset, "row": row, "column": column}
    found = printed[(printed[list(key)] == pd.Series(key)).all(axis=1)]
    return found["published"].item()


def doubted(printed, words, **where):
    """The doubts about single printed numbers that say these words, by key."""
    keys = [key_of(cell) for cell in printed.to_dict("records")]
    return {
        key: rule.note
        for key in keys
        for rule in declared("nzc").doubts
        if rule.dataset != ["*"]
        if rule.fits(key) and words in rule.note and where.items() <= key._asdict().items()
    }


def test_epsilons_of_lnmax_are_pates_very_numbers(printed):
    pate = read_published([FOLDER / "pate_table1.csv"])
    remarked = [key[1:] for key in doubted(printed, "very number") if key.row.startswith("lnmax")]
    assert len(remarked) == 4
    for item, task, row, column in remarked:
        copied = cell(pate, item, row, "epsilon", task, "pate")
        assert cell(printed, item, row, column, task) == copied


@pytest.mark.parametrize(("task", "pool", "count"), [("mnist", 9000, 3), ("svhn", 10000, 2)])
def test_printed_shares_of_right_labels_are_whole_labels_few_of_which_differ(
    printed, task, pool, count
):
    """Numbers of right labels that round to what is printed for NZC and for no noise."""
    ways = [
        [k for k in range(pool) if equals_printed(100 * k / pool, text)]
        for text in (
            cell(printed, "table2", row, "label_accuracy", task) for row in ("nzc", "clean")
        )
    ]
    assert {abs(a - b) for a in ways[0] for b in ways[1]} == {count}
    (remark,) = doubted(printed, "these votes had", dataset=task).values()
    assert remark.startswith(f"It is printed {count} labels of {pool:,}")


def test_printed_epsilons_of_lnmax_need_dearer_votes_than_ours(printed):
    """At order 9, the largest of PATE 2017's: what a query must have cost on average."""
    floor = math.log(1e5) / 8
    needed = {
        queries: 8
        * (float(cell(printed, "table1", f"lnmax-{queries}", "claimed_epsilon")) - floor)
        / queries
        for queries in (100, 1000)
    }
    # One order explains both numbers, as queries drawn at random from the same votes must have.
    assert needed == pytest.approx({100: 0.048, 1000: 0.053}, abs=5e-4)
    # Beside the cost of a query on which nobody agrees, 2 gamma^2 l (l + 1): every seventh query.
    nobody_agrees = 2 * 0.05**2 * 8 * 9
    assert all(0.1 < cost / nobody_agrees < 0.15 for cost in needed.values())


def test_remarks_stand_where_the_numbers_do(printed):
    given = tables()
    given["table2"]["label_accuracy"] = 0.945
    table = compare(printed, given)
    for key, remark in doubted(printed, "").items():
        if table.loc[key[1:], "status"] != "not_run":
            assert remark in table.loc[key[1:], "note"]
    assert (
        "trained teachers of its own"
        in table.loc["table1", "mnist", "lnmax-100", "claimed_epsilon"]["note"]
    )
    gap = [float(cell(printed, "table1", r, "student_accuracy")) for r in ("nzc", "clean")]
    assert gap[0] - gap[1] == pytest.approx(0.6)


def test_stand_ins_are_never_compared_and_reasons_are_named(printed):
    table = compare(printed, tables(stand_in=True), facts={}, data="embedded")
    # Of SVHN something is known without its images.
    assert set(table.loc[:, "mnist", :, :]["status"]) == {"not_run"}
    rest = table[table["status"] == "not_run"].drop(index="section5.2")
    assert set(table["status"]) == {"not_run", "bounded", "input", "match", "explained"}
    for name in ("mnist", "svhn"):
        reason = f"needs the images of {name}: run with --config data=paper"
        assert rest.loc[:, name, :, :]["note"].str.startswith(reason).all()
    table = compare(printed, tables())
    assert "data/raw/svhn" in table.loc["table2", "svhn", "nzc", "label_accuracy"]["note"]


def test_the_gan_that_nzc_could_not_make_as_good_is_pate_s_and_has_a_row(printed, root):
    """PATE prints 98.0 for it; the reason why there is no verdict says what ours is."""
    pate = read_published([FOLDER / "pate_table1.csv"])
    wanted = cell(pate, "table1", "lnmax-100", "student_accuracy", paper="pate")
    place = "section5.2", "mnist", "GAN student of 100 labels", "student_accuracy"
    found = compare(printed, tables()).loc[place]
    assert (found["published"], found["status"]) == (wanted, "not_run")
    students = pd.read_csv(root / "docs" / "benchmarks" / "students.csv")
    few = students[(students["student"] == "gan") & (students["labels"] == 100)]
    assert f"{100 * few.sort_values('epoch')['accuracy'].iloc[-1]:.1f} %" in found["note"]
