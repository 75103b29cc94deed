"""The ledger's picture is drawn from its table alone, byte for byte the same."""

import pandas as pd

from private_ensembles.report.ledger_figure import draw_ledger


def test_the_ledger_is_drawn_byte_for_byte_equal(root, tmp_path):
    table = pd.read_csv(root / "docs" / "privacy_ledger.csv")
    for suffix in ("png", "pdf"):
        first, second = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        draw_ledger(table, first)
        draw_ledger(table, second)
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 10_000


def test_a_row_without_a_claim_or_an_audit_is_left_out(root, tmp_path):
    table = pd.read_csv(root / "docs" / "privacy_ledger.csv")
    audited = table["exact_epsilon"].fillna(table["lower_epsilon"]).notna()
    shown = table[audited & table["claimed_epsilon"].notna()]
    assert 0 < len(shown) < len(table)
    draw_ledger(table, tmp_path / "all.png")
    draw_ledger(shown, tmp_path / "shown.png")
    assert (tmp_path / "all.png").read_bytes() == (tmp_path / "shown.png").read_bytes()
