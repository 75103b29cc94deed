"""Names: one per value, readable back, safe in paths and links."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.base.parameter_names import (
    NUMBER,
    join_parameters,
    link,
    m_fold_delta,
    multiply,
    parse_parameters,
    write_lower_bound,
    write_number,
    write_upper_bound,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (1e-5, "1e-05"),
        (0.2676, "0.2676"),
        (1e22, "1e+22"),
        (2**60, str(2**60)),
    ],
)
def test_number_is_written_in_its_shortest_form(value, text):
    assert write_number(value) == text


@given(finite)
def test_number_reads_back_as_the_same_value_and_fits_the_wildcard(value):
    import re

    assert float(write_number(value)) == value
    assert re.fullmatch(NUMBER, write_number(value))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "3", None])
def test_number_refuses_what_is_no_finite_number(value):
    with pytest.raises(ValueError, match="number = "):
        write_number(value)


def test_instance_names_the_grid_point_of_the_paper():
    name = join_parameters(K=11, m=3, epsilon=0.1, Delta=1e-5, delta=2e-5, prior="uniform:0.5,1")
    assert name == "K=11,m=3,epsilon=0.1,Delta=1e-05,delta=2e-05,prior=uniform:0.5,1"


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True),
        st.one_of(finite, st.integers(), st.just("uniform:0.5,1"), st.just("gnmax")),
        min_size=1,
    )
)
def test_instance_reads_back(parameters):
    # The empty key of a piece without "=" can only be told apart because values hold no "=".
    assert parse_parameters(join_parameters(**parameters)) == parameters


@pytest.mark.parametrize("value", ["a/b", "a=b", "", "a b", ",a", "a,", "{x}", "../x"])
def test_instance_refuses_text_that_breaks_a_path_or_a_name(value):
    with pytest.raises(ValueError, match="prior = "):
        join_parameters(prior=value)


@pytest.mark.parametrize("text", ["", "K", "K=", "=3", "K=1,K=2", "K=1,,m=2", "3K=1"])
def test_parse_instance_refuses_what_instance_never_writes(text):
    with pytest.raises(ValueError, match="instance = "):
        parse_parameters(text)


def test_instance_needs_a_parameter():
    with pytest.raises(ValueError, match="at least one parameter"):
        join_parameters()


@pytest.mark.parametrize(
    ("m", "epsilon", "product"),
    [(3, 0.0892, 0.2676), (3, 0.0852, 0.2556), (7, 0.0892, 0.6244), (3, 1e-4, 3e-4)],
)
def test_multiply_gives_the_decimals_that_the_paper_prints(m, epsilon, product):
    assert multiply(m, epsilon) == product


@given(st.integers(1, 1000), st.floats(1e-9, 1e3))
def test_multiply_is_the_float_nearest_to_the_decimal_product(m, epsilon):
    assert multiply(m, epsilon) == float(Fraction(repr(epsilon)) * m)


@given(st.integers(0, 200), st.floats(0, 0.999))
def test_delta_of_is_one_minus_the_power_without_cancellation(m, Delta):
    exact = 1 - (1 - Fraction(Delta)) ** m
    assert m_fold_delta(m, Delta) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_delta_of_covers_its_ends_and_refuses_what_lies_beyond():
    assert m_fold_delta(3, 1) == 1
    assert m_fold_delta(0, 1) == 0
    with pytest.raises(ValueError, match=r"Delta = -0\.1"):
        m_fold_delta(3, -0.1)
    with pytest.raises(ValueError, match="m = -1"):
        m_fold_delta(-1, 0.1)


def test_link_quotes_all_that_means_something_in_an_address():
    assert link("a/K=1,b:2.csv") == "a/K%3D1%2Cb%3A2.csv"


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_bound_in_words_is_still_a_bound(value):
    assert value <= float(write_upper_bound(value)) <= value * (1 + 1.1e-4)
    assert len(write_upper_bound(value).partition("e")[0].replace(".", "").strip("0")) <= 5


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(3, 6))
def test_a_lower_bound_in_words_is_still_one(value, digits):
    assert value * (1 - 10.0 ** (1 - digits)) <= float(write_lower_bound(value, digits)) <= value
