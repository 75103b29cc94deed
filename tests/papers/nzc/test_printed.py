"""NZC's printed numbers: what the doubts about them rest on.

That ours stand beside what is printed is seen in docs/fidelity.csv (test_comparison.py).
"""

import math

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import compare
from private_ensembles.papers.compare.declarations import load_paper as declared
from private_ensembles.papers.compare.printed import (
    FOLDER,
    KEY,
    equals_printed,
    key_of,
    read_published,
)

PRINTED = read_published(FOLDER.glob("*.csv")).set_index(KEY)["published"]
NZC = read_published(FOLDER.glob("nzc_*.csv"))


def cell(item, row, column, dataset="mnist", paper="nzc"):
    """A printed number, as text."""
    return PRINTED[paper, item, dataset, row, column]


def doubted(words, **where):
    """The doubts about single printed numbers that say these words, by key."""
    return {
        key: rule.note
        for key in map(key_of, NZC.to_dict("records"))
        for rule in declared("nzc").doubts
        if rule.dataset != ["*"]
        if rule.fits(key) and words in rule.note and where.items() <= key._asdict().items()
    }


def test_epsilons_of_lnmax_are_pates_very_numbers():
    remarked = [key for key in doubted("very number") if key.row.startswith("lnmax")]
    assert len(remarked) == 4
    for _, item, task, row, column in remarked:
        assert cell(item, row, column, task) == cell(item, row, "epsilon", task, "pate")


@pytest.mark.parametrize(("task", "pool", "count"), [("mnist", 9000, 3), ("svhn", 10000, 2)])
def test_printed_shares_of_right_labels_are_whole_labels_few_of_which_differ(task, pool, count):
    """Numbers of right labels that round to what is printed for NZC and for no noise."""
    ways = [
        [k for k in range(pool) if equals_printed(100 * k / pool, text)]
        for text in (cell("table2", row, "label_accuracy", task) for row in ("nzc", "clean"))
    ]
    assert {abs(a - b) for a in ways[0] for b in ways[1]} == {count}
    (remark,) = doubted("these votes had", dataset=task).values()
    assert remark.startswith(f"It is printed {count} labels of {pool:,}")


def test_printed_epsilons_of_lnmax_need_dearer_votes_than_ours():
    """At order 9, the largest of PATE 2017's: what a query must have cost on average."""
    floor = math.log(1e5) / 8
    needed = {
        queries: 8
        * (float(cell("table1", f"lnmax-{queries}", "claimed_epsilon")) - floor)
        / queries
        for queries in (100, 1000)
    }
    # One order explains both numbers, as queries drawn at random from the same votes must have.
    assert needed == pytest.approx({100: 0.048, 1000: 0.053}, abs=5e-4)
    # Beside the cost of a query on which nobody agrees, 2 gamma^2 l (l + 1): every seventh query.
    nobody_agrees = 2 * 0.05**2 * 8 * 9
    assert all(0.1 < cost / nobody_agrees < 0.15 for cost in needed.values())


def test_without_data_something_is_known_of_svhn_alone_and_reasons_are_named():
    table = compare(NZC, {}, data="embedded")
    rest = table[(table["status"] == "not_run") & (table["item"] != "section5.2")]
    assert set(table.loc[table["dataset"] == "mnist", "status"]) == {"not_run"}
    assert set(table["status"]) == {"not_run", "bounded", "input", "explained"}
    for row in rest.to_dict("records"):
        reason = f"needs the images of {row['dataset']}: run with --config data=paper"
        assert row["note"].startswith(reason)


def test_the_gan_that_nzc_could_not_make_as_good_is_pate_s_and_has_a_row(root):
    """PATE prints 98.0 for it; the reason why there is no verdict says what ours is."""
    wanted = cell("table1", "lnmax-100", "student_accuracy", paper="pate")
    table = compare(NZC, {}, {"nzc": {"mnist": {}}}, data="paper").set_index(KEY)
    found = table.loc["nzc", "section5.2", "mnist", "GAN student of 100 labels", "student_accuracy"]
    assert (found["published"], found["status"]) == (wanted, "not_run")
    students = pd.read_csv(root / "docs" / "studies" / "gan_student.csv")
    few = students[(students["student"] == "gan") & (students["labels"] == 100)]
    assert f"{100 * few.sort_values('epoch')['accuracy'].iloc[-1]:.1f} %" in found["note"]
