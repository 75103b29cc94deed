"""A folder of results as a whole run leaves it, from the tables and figures in docs/."""

import shutil

import pandas as pd
import pytest

from private_ensembles.figures import style

_PLAN = {
    "gnmax_exact": (107.6, 180.5, 322.0, 426.0),
    "confident_gnmax_exact": (107.1, 179.8, 323.4, 442.2),
    "exponential": (87.1, 136.8, 256.3, 396.5),
}


@pytest.fixture(autouse=True)
def whole_letters(monkeypatch):
    """Letters are drawn into PDFs one by one: cutting fonts takes most of a small figure's time.

    Byte for byte they are compared in figures/test_legible.py.
    """
    monkeypatch.setitem(style.RC, "pdf.fonttype", 3)


def plan() -> pd.DataFrame:
    """A planner's table of three mechanisms, and one that does not apply."""
    rows = [
        (name, budget, correct, None)
        for name, values in _PLAN.items()
        for budget, correct in zip((0.25, 0.5, 1.0, 2.0), values, strict=True)
    ]
    rows.append(("ladder", 0.25, 0.0, "for two classes only"))
    columns = ["mechanism", "budget_epsilon", "correct", "not_applicable"]
    return pd.DataFrame(rows, columns=columns).assign(
        delta=1e-5, wanted=500, privacy_model="disjoint_shards", adjacency="replace_one"
    )


def fewer():
    """The same plans with fewer labels, which turn the ranking at the smallest budget round."""
    whole = plan()
    whole = whole[whole["correct"] > 0]
    few = whole.assign(wanted=50, correct=whole["correct"] / 10)
    few.loc[few["mechanism"].eq("exponential") & few["budget_epsilon"].eq(0.25), "correct"] = 40.0
    return pd.concat([few, whole])


@pytest.fixture(scope="session")
def published_results(root, tmp_path_factory):
    """docs/ as the folder results/: tables, figures, the ledger and all comparisons."""
    results = tmp_path_factory.mktemp("run") / "results"
    for paper in ("darrm", "pate", "dpbag", "nzc", "planner", "audit"):
        for kind, pattern in (("tables", "*.csv"), ("figures", "*.png")):
            folder = results / paper / kind
            folder.mkdir(parents=True)
            for path in (root / "docs" / paper).glob(pattern):
                shutil.copy(path, folder)
    for path in (root / "docs").glob("*.csv"):
        shutil.copy(path, results)
    for path in results.rglob("*.png"):
        path.with_suffix(".pdf").write_bytes(b"%PDF")  # every figure has one beside it
    plan().to_csv(results / "planner" / "tables" / "planner.csv", index=False)
    fewer().to_csv(results / "planner" / "tables" / "fewer_labels.csv", index=False)
    return results
