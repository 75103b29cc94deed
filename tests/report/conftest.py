"""A folder of results as a whole run leaves it, from the tables and figures in docs/."""

import shutil

import pytest

from private_ensembles.papers.all import ALL
from private_ensembles.papers.common import style
from tests.papers.conftest import drawn  # noqa: F401


@pytest.fixture(autouse=True)
def whole_letters(monkeypatch):
    """Letters are drawn into PDFs one by one: cutting fonts takes most of a small figure's time.

    Byte for byte they are compared in tests/papers/common/test_legible.py.
    """
    monkeypatch.setitem(style.RC, "pdf.fonttype", 3)


@pytest.fixture(scope="session")
def published_results(root, tmp_path_factory):
    """docs/ as the folder results/: tables, figures, the ledger and all comparisons."""
    results = tmp_path_factory.mktemp("run") / "results"
    for paper in (*(paper.name for paper in ALL), "planner", "audit"):
        for kind, pattern in (("tables", "*.csv"), ("figures", "*.png")):
            folder = results / paper / kind
            folder.mkdir(parents=True)
            for path in (root / "docs" / paper).glob(pattern):
                shutil.copy(path, folder)
    for path in (root / "docs").glob("*.csv"):
        shutil.copy(path, results)
    for path in results.rglob("*.png"):
        path.with_suffix(".pdf").write_bytes(b"%PDF")  # every figure has one beside it
    return results
