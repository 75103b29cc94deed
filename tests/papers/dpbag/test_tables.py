"""DPBag's tables and figures: means over splits and draws, and what each epsilon promises."""

import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.dpbag import figures
from private_ensembles.papers.dpbag.tables import (
    affordable_labels,
    counts_by_split,
    label_counts,
    student_accuracy,
    students_by_split,
)


def _students():
    base = {"dataset": "d", "stand_in": True, "model": "logistic", "n": 10, "delta": 1e-5}
    base |= {"plain_epsilon": 0.5, "labels": 7, "label_accuracy": 0.9, "auroc": 0.8, "auprc": 0.7}
    rows = []
    for method, k in (("saa", 1), ("dpbag", 5)):
        for seed, draw, accuracy in ((0, 0, 0.5), (0, 1, 0.7), (1, 0, 0.6), (1, 1, 0.8)):
            rows.append(
                base
                | {"method": method, "k": k, "epsilon": 1.0, "seed": seed, "draw": draw}
                | {"accuracy": accuracy, "plain_epsilon": 0.5 + 0.1 * seed}
            )
    return pd.DataFrame(rows)


def test_means_and_deviations_are_over_splits_and_draws():
    table = student_accuracy(_students())
    assert table["method"].tolist() == ["saa", "dpbag"]
    row = table.iloc[1]
    assert row["accuracy_mean"] == pytest.approx(0.65)
    assert row["accuracy_sd"] == pytest.approx(np.std([0.5, 0.7, 0.6, 0.8], ddof=1))
    assert row["accuracy_sd_splits"] == pytest.approx(np.std([0.6, 0.7], ddof=1))
    assert (row["splits"], row["draws"], row["labels"]) == (2, 4, 7)
    assert row["plain_epsilon"] == pytest.approx(0.6)
    assert row["guarantee"].startswith("personalised (epsilon, delta), weaker than DP")
    assert table.iloc[0]["guarantee"] == "(epsilon, delta)-DP for everyone"
    assert set(table["adjacency"]) == {"replace_one"}


def test_a_mean_of_students_is_that_of_its_rows_by_split():
    students = _students()
    kept = students_by_split(students)
    assert len(kept) == len(students)
    means = kept.groupby("method", sort=False)["accuracy"].mean()
    assert means.tolist() == student_accuracy(students)["accuracy_mean"].tolist()
    with pytest.raises(ValueError, match="students: lacks the columns draw"):
        students_by_split(students.drop(columns="draw"))
    with pytest.raises(ValueError, match="counts: lacks the columns dataset"):
        counts_by_split(pd.DataFrame({"seed": [0]}))


def test_students_without_a_label_stay_without_a_number():
    students = _students().assign(accuracy=np.nan)
    assert student_accuracy(students)["accuracy_mean"].isna().all()
    with pytest.raises(ValueError, match=r"students: accuracy must be in \[0, 1\]"):
        student_accuracy(_students().assign(accuracy=1.5))
    with pytest.raises(ValueError, match="students: lacks the columns auroc"):
        student_accuracy(_students().drop(columns="auroc"))


def test_label_counts_stand_beside_what_holds_for_everyone():
    base = {"dataset": "d", "stand_in": True, "model": "logistic", "n": 20, "delta": 1e-3}
    base |= {"rms_m": 0.9, "plain_epsilon": 1.5}
    counts = [
        base
        | {"k": k, "accounting": accounting, "epsilon": 5.0, "seed": seed}
        | {"releasable": labels, "first_exceeding": first, "release": "x"}
        for k, accounting, labels, first in (
            (1, "data_independent", (33, 33), (34, 34)),
            (5, "personalised", (36, 40), (37, math.nan)),
            (7, "conjectured", (None, None), (50, 52)),
        )
        for seed, labels, first in zip((0, 1), labels, first, strict=True)
    ]
    affordable = affordable_labels([20], [5], [1e-3], noise=2, order_max=80)
    assert affordable["data_independent"].tolist() == [33]
    assert affordable["first_exceeding"].tolist() == [34]
    table = label_counts(pd.DataFrame(counts), affordable).set_index("k")
    assert table.loc[1, "releasable_mean"] == 33
    assert table.loc[1, "gain"] == 1
    assert table.loc[5, "releasable_mean"] == 38
    assert table.loc[5, "gain"] == pytest.approx(38 / 33)
    assert math.isnan(table.loc[5, "first_exceeding_mean"])  # a split's queries end first
    assert table.loc[7, "first_exceeding_mean"] == 51
    assert table.loc[7, ["releasable_mean", "gain"]].isna().all()  # it releases nothing
    assert (table["plain_labels"] > 100).all()
    with pytest.raises(ValueError, match="counts: lacks the columns releasable"):
        label_counts(pd.DataFrame(counts).drop(columns="releasable"), affordable)


# Figures ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counts(published):
    return published("dpbag/table6", "dpbag/table8")


@pytest.fixture(scope="module")
def students(published):
    return published("dpbag/table5", "dpbag/table7")


def lines(axis):
    """Name -> [(epsilon, value), ...] of the lines with a name."""
    named = zip(*axis.get_legend_handles_labels(), strict=True)
    return {
        name: list(zip(*(bar.lines[0] if hasattr(bar, "lines") else bar).get_data(), strict=True))
        for bar, name in named
    }


def panel(figure, title):
    (axis,) = [axis for axis in figure.axes if axis.get_title() == title and axis.get_visible()]
    return lines(axis)


def test_labels_drawn_are_those_of_the_tables_at_one_delta(counts, drawn):
    figures.draw_labels(counts, 1e-3, "unused.png")
    shown = panel(drawn[0], "logistic, 100 shards")
    mine = counts[(counts["model"] == "logistic") & (counts["n"] == 100)]
    mine = mine[mine["delta"] == 1e-3]
    alone = mine[(mine["accounting"] != "personalised") & (mine["k"] == 1)]
    saa = alone.drop_duplicates("epsilon").set_index("epsilon")["releasable_mean"]
    for k in (10, 50, 100):
        rows = mine[(mine["accounting"] == "personalised") & (mine["k"] == k)]
        base = saa.loc[rows["epsilon"]].to_numpy()
        wanted = list(zip(rows["epsilon"], rows["releasable_mean"] / base, strict=True))
        found = shown[f"DPBag, {k} partitions"]
        assert np.allclose([y for _, y in found], [y for _, y in wanted])
        # Bars of one epsilon stand beside each other, and nearer to it than to the next.
        assert [round(x) for x, _ in found] == [x for x, _ in wanted]
    assert len({points[0][0] for name, points in shown.items() if "partitions" in name}) == 3
    plain = dict(shown[figures.PLAIN])
    assert len(plain) == mine["epsilon"].nunique()
    # What the finding of the published run says.
    for name, points in shown.items():
        if "partitions" in name:
            assert all(plain[round(x)] > y > 1 for x, y in points)
    for axis in drawn[0].axes:
        low, high = axis.get_ylim()
        assert all(low <= y <= high for points in lines(axis).values() for _, y in points)


def test_students_drawn_are_those_of_the_tables_with_the_one_without_privacy(students, drawn):
    figures.draw_students(students, 1e-3, "unused.png")
    shown = panel(drawn[0], "boosted trees, 150 shards")
    rows = students[(students["model"] == "boosted_trees") & (students["n"] == 150)]
    rows = rows[(rows["delta"] == 1e-3) & (rows["method"] == "dpbag") & (rows["k"] == 50)]
    found = shown["DPBag, 50 partitions"]
    assert [y for _, y in found] == rows["accuracy_mean"].tolist()
    assert [round(x) for x, _ in found] == rows["epsilon"].tolist()
    free = students[(students["method"] == "npb") & (students["model"] == "boosted_trees")]
    assert shown["without privacy (NPB)"][0][1] == free["accuracy_mean"].iloc[0]


def test_figures_need_rows_at_their_delta(students):
    with pytest.raises(ValueError, match=r"students: must have rows at delta = 0\.5"):
        figures.draw_students(students, 0.5, "unused.png")
