"""Students with less noise are compared with print as the tables are, and nothing is released."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import dpbag_noise
from private_ensembles.papers.dpbag.tables import METRICS, error_of_difference


def students(shift):
    random = np.random.default_rng(0)
    rows = []
    for metric_free in [("dpbag", 50, 10), ("dpbag_minus", 50, 10), ("saa", 50, 1)]:
        for epsilon in (1.0, 3.0):
            for seed in range(5):
                for draw in range(2):
                    place = dict(zip(("method", "n", "k"), metric_free, strict=True))
                    values = 0.8 + shift + 0.01 * random.standard_normal(len(METRICS))
                    row = place | {"epsilon": epsilon, "seed": seed, "draw": draw}
                    rows.append(row | dict(zip(METRICS, values, strict=True)))
    return pd.DataFrame(rows)


def printed():
    places = students(0)[dpbag_noise.PLACE].drop_duplicates()
    index = pd.MultiIndex.from_frame(places)
    return {metric: pd.Series(0.8, index=index) for metric in METRICS}


def test_differences_are_in_errors_of_the_mean_and_chi_square_in_errors_of_a_row():
    mine = students(0.02)
    found = dpbag_noise.against_print(mine, printed())
    assert len(found) == 27
    mine_of = (found["method"] == "saa") & (found["metric"] == "auroc")
    row = found[mine_of & (found["scope"] == "all")].iloc[0]
    saa = mine[mine["method"] == "saa"]
    pooled = saa.groupby(["seed", "draw"])["auroc"].mean()
    assert row["difference"] == pytest.approx(pooled.mean() - 0.8)
    error = error_of_difference(pooled.groupby("seed")).size
    assert row["errors"] == pytest.approx(row["difference"] / error)
    expected = 0.0
    for epsilon, of_epsilon in mine.groupby("epsilon"):
        variances = []
        for _, of_method in of_epsilon.groupby("method"):
            by_split = of_method.groupby("seed")["auroc"]
            variances.append(error_of_difference(by_split).size ** 2)
        gap = saa.loc[saa["epsilon"] == epsilon, "auroc"].mean() - 0.8
        expected += gap**2 / np.mean(variances)
    assert row["chi_square"] == pytest.approx(expected)
    parts = found[mine_of & (found["scope"] != "all")]
    assert parts["scope"].tolist() == ["n = 50, ε = 1", "n = 50, ε = 3"]
    assert parts["chi_square"].sum() == pytest.approx(expected)


def test_students_like_the_printed_ones_are_nearer_than_better_ones():
    near, far = (dpbag_noise.against_print(students(shift), printed()) for shift in (0.0, 0.02))
    whole = far["scope"] == "all"
    assert (far["chi_square"][whole] > 2 * near["chi_square"][whole]).all()


def test_without_a_run_it_says_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setattr(dpbag_noise, "RESULTS", tmp_path)
    with pytest.raises(ValueError, match="at least two splits of logistic"):
        dpbag_noise.measure(model="logistic")


def test_the_printed_students_are_all_private_ones():
    numbers = {
        model: {
            metric: len(values) for metric, values in dpbag_noise.printed_students(model).items()
        }
        for model in dpbag_noise.TABLES
    }
    assert numbers == {
        "logistic": dict.fromkeys(METRICS, 48),
        dpbag_noise.PENALISED: dict.fromkeys(METRICS, 18),
        "boosted_trees": dict.fromkeys(METRICS, 30),
    }


def test_the_page_says_that_such_labels_keep_no_budget():
    data = pd.concat(
        dpbag_noise.against_print(students(shift), printed()).assign(factor=factor)
        for shift, factor in ((-0.02, 1.0), (0.0, 0.6))
    )
    page = dpbag_noise.page(data.assign(model="logistic", splits=5))
    assert "keep no budget" in page
    assert "## logistic, dpbag minus: 2 rows, 5 splits" in page
    assert page.count("\n| 1 |") == 3
    # Students a point below print are nearest to it with less noise.
    assert page.count("| n = 50, ε = 1 | 0.6 |") == 3


def test_the_lead_in_the_docs_is_what_was_measured(root):
    data = pd.read_csv(root / "docs" / "benchmarks" / "dpbag_noise.csv")
    mine = data[(data["model"] == dpbag_noise.PENALISED) & (data["method"] == "dpbag")]
    said = []
    for epsilon in (1, 3, 5):
        rows = mine[mine["scope"] == f"n = 250, ε = {epsilon}"]
        squares = rows.groupby("factor")["chi_square"].sum()
        said.append((squares.idxmin(), round(squares[1.0]), round(squares.min())))
    assert said == [(0.9, 12, 6), (0.75, 25, 12), (0.45, 61, 16)]
    text = " ".join((root / "docs" / "dpbag.md").read_text(encoding="utf-8").split())
    assert "shares of 0.9, 0.75 and 0.45 at ε = 1, 3 and 5" in text
    assert "from 12 to 6, from 25 to 12 and from 61 to 16" in text
    assert set(data["splits"]) == {5}
    whole = data[(data["scope"] == dpbag_noise.ALL) & (data["method"] == "dpbag")]
    squares = whole.groupby(["model", "factor"])["chi_square"].sum().round()
    assert squares["logistic"][[1.0, 0.9]].tolist() == [80, 78]
    assert squares["boosted_trees"][[1.0, 0.9]].tolist() == [91, 34]
    assert "χ² is 80 of 81 with all of the noise and 78 with a share of 0.9" in text
    assert "χ² falls from 91 to 34 of 36" in text
