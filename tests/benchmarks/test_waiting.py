"""What a plan takes is measured in a process of its own, by the code of a checkout."""

from benchmarks import waiting


def test_a_row_says_what_one_plan_took_and_is_shown(root, monkeypatch):
    monkeypatch.setattr(waiting, "QUICK", ((11, 2, 5, 5, "reproducible"),))
    monkeypatch.setenv("OLD", str(root))
    data = waiting.measure(quick=True)
    assert data["code"].tolist() == ["new", "old"]
    assert (data[["seconds", "wall_seconds", "mib"]] > 0).all(axis=None)
    assert data["best"].nunique() == 1
    assert "11 x 2 x 5, 5 labels, reproducible noise" in waiting.section(data)
