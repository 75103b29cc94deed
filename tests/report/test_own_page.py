"""The page of own votes: the choice, its cost; a rehearsal where noise is not secret."""

import pandas as pd
import pytest

from private_ensembles.experiments.releases import Total
from private_ensembles.report.own_page import build

TABLE = pd.DataFrame(
    {
        "mechanism": ["gnmax", "lnmax"],
        "name": ["GNMax & more", "LNMax"],
        "chosen": [True, False],
        "epsilon": [0.98765432, 1.0],
        "delta": [1e-5, 1e-5],
        "budget_epsilon": [1.0, 1.0],
        "privacy_model": "disjoint_shards",
        "adjacency": "replace_one",
    }
)
LABELS = pd.DataFrame({"query": [0, 1, 2], "label": [1, 0, 1]})


TOTAL = Total(1.98765, 2e-5, "replace_one")


@pytest.fixture
def made(tmp_path):
    (tmp_path / "a.png").write_bytes(b"PNG")
    return lambda noise, name: build(
        TABLE,
        LABELS,
        {"queries": 3, "noise": noise},
        figure=tmp_path / "a.png",
        labels_file=f"results/own/release/{name}",
        total=TOTAL,
    )


def test_the_page_names_the_chosen_mechanism_and_its_cost_rounded_up(made):
    page = made("secure", "labels.csv")
    assert "Your votes: 3 labels released" in page
    assert "By GNMax &amp; more, at ε = 0.98766 and δ = 1e-05" in page
    assert page.count("0.98766") == 2  # once in the table
    assert "<dt>queries</dt><dd>3</dd>" in page
    assert '<a href="labels.csv">' in page


def test_the_page_says_what_all_releases_cost_together(made):
    page = made("secure", "labels.csv")
    assert "together cost at most epsilon = 1.9877 and delta = 2e-05 (replace_one)" in page


def test_a_rehearsal_says_so_first_and_counts_for_nothing(made):
    page = made("reproducible", "rehearsal_labels.csv")
    assert "<h1>A rehearsal, not for release: 3 labels</h1>" in page
    assert page.index("the noise is from a seed") < page.index("GNMax &amp; more")
    assert "<title>A rehearsal</title>" in page
    assert '<a href="rehearsal_labels.csv">' in page
    assert "On record" not in page
    assert "rehearsal" not in made("secure", "labels.csv").lower()
