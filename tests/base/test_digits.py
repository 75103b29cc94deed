"""Numbers for readers: short, and a bound is never shown as less than it is."""

import pytest

from private_ensembles.base import digits as written


@pytest.mark.parametrize(
    ("value", "text"),
    [(160.0, "160"), (15.04448, "15.044"), (0.00029, "0.00029"), (float("inf"), "∞")],
)
def test_numbers_are_written_for_reading(value, text):
    assert written.format_number(value) == text


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize(
    "value", [0.2676, 1 / 3, 4.00049999, 9.99951, 12345.2, 1.23456e95, 123456789.5, 1e-300]
)
def test_a_bound_is_never_shown_as_less_than_it_is(value, digits):
    shown = float(written.format_upper_bound(value, digits))
    assert value <= shown <= value * (1 + 10 ** (1 - digits))


@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize(
    "value", [0.2676, 2 / 3, 4.00049999, 9.99951, 12345.8, 123456789.5, 1e-300]
)
def test_a_lower_bound_is_never_shown_as_more_than_it_is(value, digits):
    shown = float(written.format_lower_bound(value, digits))
    assert value * (1 - 10 ** (1 - digits)) <= shown <= value
