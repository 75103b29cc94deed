import argparse

import pytest

from private_ensembles.command.numbers import parse_integer, parse_real


@pytest.mark.parametrize(("text", "value"), [("12", 12), ("-7", -7), ("+3", 3), (" 4 ", 4)])
def test_a_whole_number_is_read(text, value):
    assert parse_integer(text) == value


@pytest.mark.parametrize(("text", "value"), [("1e-5", 1e-5), (".5", 0.5), ("3", 3.0)])
def test_a_number_is_read(text, value):
    assert parse_real(text) == value


# Python reads the first three as 10, 12 and 12.
@pytest.mark.parametrize("text", ["1_0", "١٢", "１２", "", "1.5.2", "0x10", "one"])
@pytest.mark.parametrize("kind", [parse_integer, parse_real])
def test_other_digits_underscores_and_words_are_refused_with_what_was_given(kind, text):
    with pytest.raises(argparse.ArgumentTypeError, match="must be a") as refused:
        kind(text)
    assert repr(text) in str(refused.value)


def test_a_whole_number_has_no_fraction():
    with pytest.raises(argparse.ArgumentTypeError, match="must be a whole number"):
        parse_integer("1.0")
