"""What NZC states of its privacy is judged by what is true, and not by the formula it came from."""

import math

import mpmath
import pytest

from private_ensembles.nzc.truth import claimed_readings, lead_one_epsilon
from private_ensembles.published import statements_of_nzc as statements
from private_ensembles.published.comparison import compare
from private_ensembles.published.printed import FOLDER, read_published

PRINTED = read_published(FOLDER.glob("nzc_*.csv"))


@pytest.fixture(scope="module")
def table():
    found = compare(PRINTED, {}, data="embedded")
    return found.set_index(["item", "dataset", "row", "column"]).sort_index()


@pytest.mark.parametrize("row", ["nzc", "nzc-few"])
def test_near_zero_cost_is_what_theorem_4_gives_and_not_the_cost(table, row):
    """A false claim about privacy is no match, though the formula behind it gives the digits."""
    found = table.loc["table1", "svhn", row, "claimed_epsilon"]
    assert found["status"] == "explained"
    assert found["reproduced"] == pytest.approx(lead_one_epsilon(1e100, 1e10, 1e-6))
    assert found["reproduced"] > 1e89
    assert "claim is false" in found["note"]
    cell = {"dataset": "svhn", "published": "0"}
    assert claimed_readings(1e10, 10_000, 1e-6)["scale"] == pytest.approx(1.05e-7, rel=2e-3)
    assert statements.theorem_4_forgets_the_constant(cell)
    assert not statements.theorem_4_forgets_the_constant(cell | {"published": "62"})


def test_the_cost_of_labels_without_the_constant_is_next_to_nothing(monkeypatch):
    """So that a verdict of another mechanism would be `match`, not `explained`."""
    monkeypatch.setattr(statements, "CONSTANT", 0.0)
    cell = {"dataset": "svhn", "published": "0"}
    assert statements.cost_of_one_label(cell) < 0.005
    assert not statements.theorem_4_forgets_the_constant(cell)


def test_lemma_1_needs_a_larger_constant(table):
    """Two tied counts, Laplace noise of scale 1, c = ln(2 / tau): by quadrature, 1.78 tau."""
    c = mpmath.log(2 / mpmath.mpf(statements.TAU))
    density = lambda z: mpmath.exp(-abs(z)) / 2  # noqa: E731
    above = lambda z: mpmath.exp(-z) / 2 if z > 0 else 1 - mpmath.exp(z) / 2  # noqa: E731
    points = [-mpmath.inf, -c, 0, mpmath.inf]
    exact = mpmath.quad(lambda z: density(z) * above(z + c), points) / statements.TAU
    found = table.loc["lemma1", "simulation", "L=2 tau=1e-5", "failure_over_tau_below"]
    assert found["reproduced"] == pytest.approx(float(exact), rel=1e-9)
    assert found["status"] == "explained"
    assert float(exact) == pytest.approx((2 + math.log(2e5)) / 8)
    # Twice as large a constant is enough.
    assert float(mpmath.exp(-2 * c) * (2 + 2 * c) / 4) < statements.TAU


def test_theorem_3_holds_where_the_lead_is_above_two_and_not_below(table):
    assert table.loc["theorem3", "simulation", "lead above 2", "delta"]["status"] == "match"
    rows = statements.delta_by_lead(9, 3, 0.0, ties="first", constant=1e100, noise_scale=1e10)
    assert max(row.most for row in rows if row.lead > 0) == 1
