"""Ledger rows: what becomes of a claim decides its release, and wrong models are refused."""

import math

import pytest

from private_ensembles.papers.ledger.row import ledger_row

MODEL = {"privacy_model": "disjoint_shards", "adjacency": "replace_one", "delta": 1e-5}


def test_row_has_the_ledgers_columns_and_a_failed_claim_is_not_released():
    row = ledger_row("gnmax", "K=11", claimed_epsilon=1.0, exact_epsilon=0.5, **MODEL)
    assert list(row) == [
        "mechanism",
        "setting",
        "claimed_epsilon",
        "proven_epsilon",
        "exact_epsilon",
        "delta",
        "privacy_model",
        "adjacency",
        "data_dependent",
        "release",
        "verdict",
        "lower_epsilon",
        "proof",
    ]
    assert row["release"]
    assert not ledger_row("gnmax", "", claimed_epsilon=1.0, exact_epsilon=2.0, **MODEL)["release"]
    assert not ledger_row("nzc", "", claimed_epsilon=9e-8, exact_epsilon=1e90, **MODEL)["release"]


@pytest.mark.parametrize(
    ("claimed", "proven", "lower", "expected"),
    [
        (1.0, 1.5, 1.2, "fails"),
        (1.0, None, 1.2, "fails"),
        (1.0, 1.5, 0.9, "unproven"),
        (1.0, 1.0, 0.9, "proven"),
        (1.0, 0.95, 0.9, "holds"),
        (1.0, None, 0.9, "unproven"),
        (None, 1.0, 0.9, "unproven"),
    ],
)
def test_what_is_proven_not_to_be_enough_refutes_a_claim(claimed, proven, lower, expected):
    given = {"claimed_epsilon": claimed, "proven_epsilon": proven, "lower_epsilon": lower}
    row = ledger_row("gnmax", "", **given, **MODEL)
    assert (row["verdict"], row["lower_epsilon"]) == (expected, lower)
    assert row["release"] == (expected in ("holds", "proven"))


def test_a_claim_that_is_its_own_proof_is_called_proven_and_names_it():
    """A number beside itself bears nothing out: what stands behind it is the theorem alone."""
    row = ledger_row("majority_private", "", claimed_epsilon=0.2, proven_epsilon=0.2, **MODEL)
    assert (row["verdict"], row["proof"], row["release"]) == (
        "proven",
        "method.md#private-teachers",
        True,
    )
    given = {"claimed_epsilon": 0.3, "proven_epsilon": 0.2, "proof": "page.md#place"}
    row = ledger_row("majority_private", "", **given, **MODEL)
    assert (row["verdict"], row["proof"]) == ("holds", "page.md#place")


def test_what_nothing_proves_names_no_proof_and_is_not_for_release():
    row = ledger_row("majority_private", "", claimed_epsilon=0.1, proven_epsilon=0.2, **MODEL)
    assert (row["verdict"], row["proof"], row["release"]) == ("unproven", "", False)


def test_wrong_model_and_impossible_proofs_are_refused():
    with pytest.raises(ValueError, match="privacy_model"):
        ledger_row("ladder", "", **(MODEL | {"privacy_model": "shared_data"}))
    with pytest.raises(ValueError, match="adjacency"):
        ledger_row("ladder", "", **(MODEL | {"adjacency": "zero_out"}))
    with pytest.raises(ValueError, match="proven_epsilon"):
        ledger_row("ladder", "", proven_epsilon=0.5, exact_epsilon=0.6, **MODEL)
    with pytest.raises(ValueError, match="proven_epsilon"):
        ledger_row("ladder", "", proven_epsilon=0.5, lower_epsilon=0.6, **MODEL)
    with pytest.raises(ValueError, match="lower_epsilon"):
        ledger_row("ladder", "", lower_epsilon=-1.0, **MODEL)
    with pytest.raises(ValueError, match="claimed_epsilon"):
        ledger_row("ladder", "", claimed_epsilon=math.nan, **MODEL)
    with pytest.raises(ValueError, match="delta"):
        ledger_row("ladder", "", **(MODEL | {"delta": 2.0}))
