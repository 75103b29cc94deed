"""The picture of the adversaries: a panel for each mechanism and what is known of the training."""

import itertools

import pandas as pd
import pytest

from studies.adversaries.figure import draw


@pytest.fixture
def table():
    rows = []
    for mechanism, known in (("gnmax", "everything"), ("darrm_opt", "noise")):
        for place, (record, way) in enumerate(
            itertools.product(("natural", "poisoned"), ("given", "chosen", "repeated"))
        ):
            rows.append(
                {
                    "mechanism": mechanism,
                    "record": record,
                    "queries_are": way,
                    "training_known": known,
                    "delta": 1e-5,
                    "observed_lower": 0.0,
                    "observed_upper": 0.1 * place,
                    "exact_epsilon": float("inf") if place == 5 else 0.1 * place,
                    "proven_epsilon": 1.0 if known == "everything" else None,
                }
            )
    return pd.DataFrame(rows)


def test_every_adversary_has_a_line_and_what_is_proven_is_shown_where_it_is(table, tmp_path, drawn):
    draw(table, tmp_path / "x.png")
    axes = drawn[0].axes
    assert len(axes) == 2
    for axis, proven in zip(axes, (True, False), strict=True):
        assert len(axis.get_yticks()) == 6
        assert any(line.get_linestyle() == "--" for line in axis.get_lines()) == proven
    assert "noise known" in axes[1].get_title(loc="left")
    words = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert len(words) == len(set(words)) == 3


def test_equal_tables_give_equal_bytes(table, tmp_path):
    for name in ("a.png", "b.png"):
        draw(table, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
