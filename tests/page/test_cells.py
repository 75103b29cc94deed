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


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize(
    "value", [0.2676, 1 / 3, 4.00049999, 9.99951, 12345.2, 1.23456e95, 123456789.5, 1e-300]
)
def test_a_bound_is_never_shown_as_less_than_it_is(value, digits):
    shown = float(cells.format_bound(value, digits))
    assert value <= shown <= value * (1 + 10 ** (1 - digits))


def test_losses_are_rounded_up_and_other_numbers_to_the_nearest():
    assert ">0.1234<" in cells.cell("accuracy", 0.12341, True, {})
    assert ">0.1235<" in cells.cell("proven_epsilon", 0.12341, True, {})
    assert ">0.1234<" in cells.cell("lower_epsilon", 0.12341, True, {})
    # Beside a printed number, as that is.
    assert ">0.12341<" in cells.cell("epsilon", 0.123411, True, {}, cells.MORE_DIGITS)
