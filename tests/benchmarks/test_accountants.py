"""The same labels by other accountants: none is below ours, and what is absent is said."""

import math
from importlib import util

import pytest

from benchmarks import accountants


def test_what_is_not_installed_is_skipped_with_its_reason(monkeypatch):
    """No row is worked out without its package, and every row keeps its place."""
    there = {"dp_accounting", "private_ensembles"}
    monkeypatch.setattr(accountants.util, "find_spec", lambda name: name in there or None)
    chosen = [row for row in accountants.list_calls() if row[1] in ("syft", "autodp")]
    monkeypatch.setattr(accountants, "list_calls", lambda: iter(chosen))
    data = accountants.measure(quick=True)
    assert (data["skipped"] == "not installed").all()
    assert data["epsilon"].isna().all()
    assert accountants.section(data).count("not installed") == len(chosen) == 3


def test_the_exponential_mechanism_costs_less_than_black_boxes():
    case = accountants.SELECTION
    boxes, ours = accountants._dp_accounting_pure(), accountants._label_epsilon(case)
    assert boxes == pytest.approx(13.895, abs=1e-3)
    assert ours == pytest.approx(6.142, abs=1e-3)
    assert ours <= accountants._label_loss_epsilon(case) < boxes


def test_the_counts_are_the_gaussian_mechanism_that_they_are():
    from private_ensembles.accounting.gaussian import gaussian_delta

    mu = math.sqrt(2 * accountants.LABELS) / accountants.NORMAL[1]
    assert float(gaussian_delta(mu, accountants._dp_accounting_gaussian())) == pytest.approx(
        1e-5, rel=1e-2
    )
    assert util.find_spec("dp_accounting")
