"""The ledger's picture is drawn from its table alone, and says what is not for release."""

import pandas as pd
import pytest

from private_ensembles.papers.ledger.figure import draw_ledger


def test_a_row_without_a_second_number_is_left_out(published, tmp_path):
    table = published("privacy_ledger")
    bare = table.iloc[:1].assign(exact_epsilon=None, lower_epsilon=None, proven_epsilon=None)
    draw_ledger(table, tmp_path / "without.png")
    draw_ledger(pd.concat([table, bare]), tmp_path / "with.png")
    assert (tmp_path / "with.png").read_bytes() == (tmp_path / "without.png").read_bytes()


@pytest.mark.parametrize("verdict", ["unproven", "fails"])
def test_what_is_not_proven_is_crossed_out_and_called_not_for_release(published, drawn, verdict):
    """One row of one mechanism, whose verdict alone differs: another picture, another legend."""
    table = published("privacy_ledger")
    row = table[table["verdict"] == "holds"].iloc[:1]
    draw_ledger(row)
    draw_ledger(row.assign(verdict=verdict))
    words = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert f"{verdict}: not for release" in words
    crosses = [
        sum(line.get_marker() == "x" for line in figure.axes[0].get_lines()) for figure in drawn
    ]
    assert crosses[1] == crosses[0] + 1
