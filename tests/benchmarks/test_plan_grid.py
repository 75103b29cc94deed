"""The slowest plans of a grid are shown, beside what an older checkout took."""

from benchmarks import plan_grid


def test_the_slowest_plans_stand_beside_those_of_another_checkout(root, monkeypatch):
    monkeypatch.setattr(plan_grid, "QUICK", ((5, 2, 1, 2), (7, 2, 2, 2)))
    monkeypatch.setattr(plan_grid, "NOTED", (7, 2, 2, 2))
    monkeypatch.setattr(plan_grid, "AGAIN", 1)
    monkeypatch.setattr(plan_grid, "SHOWN", 1)
    monkeypatch.setenv("OLD", str(root))
    data = plan_grid.measure(quick=True)
    assert sorted(data["code"]) == ["new", "new", "old", "old"]
    assert (data["seconds"] > 0).all()
    shown = [line for line in plan_grid.section(data).splitlines() if line.startswith("| ")]
    assert len(shown) in (3, 4)  # heading, rule, the slowest, and what is noted
    assert any(line.startswith("| 7 × 2 × 2 | 2 |") for line in shown)
    assert "2 of them take at most 1.5 s" in plan_grid.section(data)


def test_without_another_checkout_there_is_nothing_beside(monkeypatch):
    monkeypatch.setattr(plan_grid, "QUICK", ((5, 2, 1, 2),))
    monkeypatch.setattr(plan_grid, "AGAIN", 0)
    monkeypatch.delenv("OLD", raising=False)
    data = plan_grid.measure(quick=True)
    assert data["code"].tolist() == ["new"]
    assert "| 5 × 2 × 1 | 2 |  | " in plan_grid.section(data)
