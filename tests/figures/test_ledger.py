"""The ledger's picture is drawn from its table alone, byte for byte the same."""

import functools

import pandas as pd
import pytest

from private_ensembles.figures import style
from private_ensembles.figures.ledger import draw_ledger

from .twice import assert_equal_bytes


def test_the_ledger_is_drawn_byte_for_byte_equal(root, tmp_path):
    table = pd.read_csv(root / "docs" / "privacy_ledger.csv")
    assert_equal_bytes(functools.partial(draw_ledger, table), tmp_path, least=10_000)


def test_a_row_without_a_second_number_is_left_out(root, tmp_path):
    table = pd.read_csv(root / "docs" / "privacy_ledger.csv")
    bare = table.iloc[:1].assign(exact_epsilon=None, lower_epsilon=None, proven_epsilon=None)
    draw_ledger(table, tmp_path / "without.png")
    draw_ledger(pd.concat([table, bare]), tmp_path / "with.png")
    assert (tmp_path / "with.png").read_bytes() == (tmp_path / "without.png").read_bytes()


@pytest.mark.parametrize("verdict", ["unproven", "fails"])
def test_what_is_not_proven_is_crossed_out_and_called_not_for_release(
    root, tmp_path, monkeypatch, verdict
):
    """One row of one mechanism, whose verdict alone differs: another picture, another legend."""
    drawn = []
    monkeypatch.setattr(style, "save", lambda figure, *paths: drawn.append(texts(figure)))
    table = pd.read_csv(root / "docs" / "privacy_ledger.csv")
    row = table[table["verdict"] == "holds"].iloc[:1]
    draw_ledger(row, tmp_path / "a.png")
    draw_ledger(row.assign(verdict=verdict), tmp_path / "b.png")
    (words, crosses), (_, more) = drawn
    assert f"{verdict}: not for release" in words
    assert more == crosses + 1


def texts(figure):
    """The words of the legend, and how many lines of the picture are crossed out."""
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    lines = figure.axes[0].get_lines()
    return words, sum(line.get_marker() == "x" for line in lines)
