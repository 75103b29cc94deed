"""What DPBag's supplement is confident in is worked out again."""

import pytest

from private_ensembles.dpbag import conjecture
from private_ensembles.published import statements_of_dpbag as statements
from private_ensembles.published.comparison import compare
from private_ensembles.published.printed import FOLDER, read_published

PRINTED = read_published([FOLDER / "dpbag_statements.csv"])


def test_equation_3_holds_in_one_direction_only():
    found = compare(PRINTED, {}, data="embedded").set_index("column")
    assert found["status"].to_dict() == {
        "violations_removed": "match",
        "violations_added": "explained",
    }
    assert found.loc["violations_removed", "reproduced"] == 0
    assert found.loc["violations_added", "reproduced"] == 418


def test_a_violation_is_one_by_hand():
    """Lambda = 1, l = 2, a lead of 5 without the record against 3 with it, m = 1."""
    with_record, without = 5.0, 3.0
    p, other = (conjecture.ones_probability(gap, 1.0) for gap in (with_record, without))
    q = conjecture.wrong_probability([with_record], 1.0)
    exact = conjecture.exact_moment(other, p, 2)
    assert exact - conjecture.conjectured_moment(q, 1.0, 1.0, 2) == pytest.approx(0.358, abs=1e-3)
    assert conjecture.condition(q, 1.0, 1.0)


def test_a_formula_that_is_too_small_everywhere_is_no_match(monkeypatch):
    """Half of equation 3 is violated in the direction that holds."""
    whole = conjecture.conjectured_moment
    monkeypatch.setattr(conjecture, "conjectured_moment", lambda *given: whole(*given) / 2)
    cell = {"published": "0", "column": "violations_removed"}
    assert statements.violations_of_equation_3(cell) > 0
    assert not statements.equation_3_covers_one_direction(cell)
