"""Cells of the page's tables: numbers for reading, names, statuses and notes."""

import pytest

from private_ensembles.page import cells


@pytest.mark.parametrize(
    ("value", "text"),
    [(160.0, "160"), (15.04448, "15.044"), (0.00029, "0.00029"), (float("inf"), "∞")],
)
def test_numbers_are_written_for_reading(value, text):
    assert cells.format_number(value) == text


def test_a_mechanism_and_a_data_set_have_their_real_names():
    named = cells.cell("mechanism", "gnmax_analytic", False, {})
    assert named == ("GNMax, analytic σ", {"title": "gnmax_analytic"})
    marked = cells.cell("task", "adult (stand-in)", False, {})
    assert marked.content == 'UCI Adult <span class="standin">stand-in</span>'
    assert "&lt;b&gt;" in cells.cell("task", "<b> (synthetic)", False, {}).content


def test_a_long_text_that_stands_below_the_table_is_a_number_here():
    assert cells.cell("note", "long", False, {"long": 3}) == ("note 3", {"data-note": 3})


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize(
    "value", [0.2676, 1 / 3, 4.00049999, 9.99951, 12345.2, 1.23456e95, 123456789.5, 1e-300]
)
def test_a_bound_is_never_shown_as_less_than_it_is(value, digits):
    shown = float(cells.format_bound(value, digits))
    assert value <= shown <= value * (1 + 10 ** (1 - digits))


def test_losses_are_rounded_up_and_other_numbers_to_the_nearest():
    assert cells.cell("accuracy", 0.12341, True, {}).content == "0.1234"
    assert cells.cell("proven_epsilon", 0.12341, True, {}).content == "0.1235"
    assert cells.cell("lower_epsilon", 0.12341, True, {}).content == "0.1234"
    # Beside a printed number, as that is.
    assert cells.cell("epsilon", 0.123411, True, {}, cells.MORE_DIGITS).content == "0.12341"
