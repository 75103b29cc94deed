"""Each of DPBag's relations holds for what is printed, and fails for plausible mistakes."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.experiments.dpbag_students import METRICS
from private_ensembles.published.comparison import COLUMNS
from private_ensembles.published.printed import FOLDER, read_published
from private_ensembles.published.relations.comparison import compare_relations
from private_ensembles.published.relations.dpbag import _METHODS, _place_of

PRINTED = read_published(FOLDER.glob("dpbag_*.csv"))
MODELS = {"table5": "logistic", "table7": "boosted_trees"}


def students_as_printed(item, splits=5, draws=2, spread=0.0005):
    """Students of which the means are those printed, give or take what splits differ by."""
    random = np.random.default_rng(0)
    common = spread * random.standard_normal(splits)
    cells = PRINTED[PRINTED["item"] == item]
    rows = {}
    for cell in cells.to_dict("records"):
        metric, _, epsilon = cell["column"].partition(" epsilon=")
        method, n, k = _place_of(cell["row"])
        for split in range(splits):
            for draw in range(draws):
                place = method, n, k, float(epsilon or "nan"), split, draw
                value = float(cell["published"]) + common[split]
                value += spread * random.standard_normal()
                rows.setdefault(str(place), (*place, {}))[-1][metric] = value
    columns = ["method", "n", "k", "epsilon", "seed", "draw"]
    table = pd.DataFrame([dict(zip(columns, row, strict=False)) | row[-1] for row in rows.values()])
    return table.assign(model=MODELS[item], stand_in=False, delta=1e-3)


@pytest.fixture(scope="module")
def as_printed():
    return {f"{item}_by_split": students_as_printed(item) for item in MODELS}


def judged(tables):
    found = compare_relations(PRINTED, {"dpbag": tables}, data="paper")
    assert list(found.columns) == COLUMNS
    return found.set_index(["item", "row", "column"])["status"]


def test_every_relation_of_students_holds_for_the_printed_tables_but_where_they_break_it(
    as_printed,
):
    """AUROC and AUPRC of DPBag- and SAA are printed too close for an order."""
    found = judged(as_printed)
    of_students = found[[item in MODELS for item, *_ in found.index]]
    assert (of_students == "match").sum() >= 14
    assert set(of_students) == {"match", "differs"}
    pooled = of_students[["private students" in row for _, row, _ in of_students.index]]
    assert len(pooled) == 6
    assert set(pooled) == {"match"}


@pytest.mark.parametrize(("one", "other"), [("dpbag", "dpbag_minus"), ("dpbag_minus", "saa")])
@pytest.mark.parametrize("item", list(MODELS))
def test_methods_in_each_other_s_place_break_their_order(as_printed, item, one, other):
    name = f"{item}_by_split"
    table = as_printed[name]
    if other == "saa":
        # SAA has one partition: its numbers at every k take the place of DPBag-'s.
        saa = table[table["method"] == "saa"].drop(columns="k")
        minus = table[table["method"] == "dpbag_minus"]
        place = ["n", "epsilon", "seed", "draw"]
        wrong = minus.drop(columns=list(METRICS)).merge(saa[[*place, *METRICS]], on=place)
        table = pd.concat([table[table["method"] != "dpbag_minus"], wrong])
    else:
        swapped = table["method"].replace({one: other, other: one})
        table = table.assign(method=swapped)
        whole = table.groupby(["n", "k", "epsilon"])["method"].transform("nunique") == 2
        table = pd.concat([table[whole], as_printed[name][~whole.reindex(as_printed[name].index)]])
    found = judged({**as_printed, name: table})
    names = {ours: printed for printed, ours in _METHODS.items()}
    row = f"{names[one]} above {names[other]}"
    assert {found[item, row, f"{metric}: mean difference"] for metric in METRICS} == {"differs"}


@pytest.mark.parametrize("metric", METRICS)
def test_students_all_a_point_below_print_fail_the_mean(as_printed, metric):
    """What single rows cannot see: their tolerances are several points wide."""
    name = "table7_by_split"
    table = as_printed[name]
    found = judged({**as_printed, name: table.assign(**{metric: table[metric] - 0.01})})
    assert found["table7", "all 30 private students", f"{metric}: mean"] == "differs"


def test_one_split_is_no_evidence(as_printed):
    one = {name: table[table["seed"] == 0] for name, table in as_printed.items()}
    found = compare_relations(PRINTED, {"dpbag": one}, data="paper")
    notes = found.loc[found["item"].isin(MODELS), "note"]
    assert notes.str.contains("One split").all()


def test_a_run_of_fewer_shards_judges_nothing(as_printed):
    few = {name: table[table["n"] != 100] for name, table in as_printed.items()}
    found = judged(few)
    assert {found[place] for place in found.index if place[0] in MODELS} == {"not_run"}
