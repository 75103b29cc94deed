"""The page of own votes: the choice, its cost, a warning where noise is not secret."""

import pandas as pd
import pytest

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


@pytest.fixture
def made(tmp_path):
    (tmp_path / "a.png").write_bytes(b"PNG")
    return lambda **facts: build(
        TABLE, LABELS, {"queries": 3, **facts}, figure=tmp_path / "a.png", root=tmp_path
    )


def test_the_page_names_the_chosen_mechanism_and_its_cost(made):
    page = made(noise="secure")
    assert "Your votes: 3 labels released" in page
    assert "By GNMax &amp; more, at ε = 0.98765 and δ = 1e-05" in page
    assert "<dt>queries</dt><dd>3</dd>" in page


def test_noise_from_a_seed_is_warned_of(made):
    assert "Noise from a seed" in made(noise="reproducible")
    assert "Noise from a seed" not in made(noise="secure")
