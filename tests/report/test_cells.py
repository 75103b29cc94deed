"""Cells of the page's tables: numbers for reading, names, statuses and notes."""

import pytest

from private_ensembles.report import cells


@pytest.mark.parametrize(
    ("value", "text"),
    [(160.0, "160"), (15.04448, "15.044"), (0.00029, "0.00029"), (float("inf"), "∞")],
)
def test_numbers_are_written_for_reading(value, text):
    assert cells.format_number(value) == text


def test_a_mechanism_and_a_data_set_have_their_real_names():
    assert cells.cell("mechanism", "gnmax_analytic", False, {}) == (
        '<td title="gnmax_analytic">GNMax, analytic σ</td>'
    )
    assert "UCI Adult" in cells.cell("task", "adult (stand-in)", False, {})
    assert (
        cells.cell("mechanism", "<mine>", False, {}) == '<td title="&lt;mine&gt;">&lt;mine&gt;</td>'
    )


def test_a_long_text_that_stands_below_the_table_is_a_number_here():
    assert cells.cell("note", "long", False, {"long": 3}) == '<td data-note="3">note 3</td>'


def test_an_unknown_status_is_one_that_was_not_run():
    assert 'class="not_run"' in cells.cell("status", "odd", False, {})
    assert "3 match" in cells.status_html("match", 3)
