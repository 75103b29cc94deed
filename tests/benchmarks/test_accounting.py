"""The benchmark of PATE's account runs both ways, finds the same and shows what it measured."""

from benchmarks import accounting
from benchmarks.smooth_sensitivity import CASES


def test_both_ways_find_the_same_and_stand_on_the_page(monkeypatch):
    def here(module, what, **arguments):
        return getattr(accounting, what)(**arguments)

    monkeypatch.setattr(accounting.process, "in_a_process", here)
    monkeypatch.setattr(accounting, "CASES", {"MNIST": CASES["MNIST"]})
    monkeypatch.setattr(accounting, "ROUNDS", 1)
    data = accounting.measure()
    assert data["way"].tolist() == list(accounting.WAYS)
    assert data["sanitized_upper"].nunique() == 1
    page = accounting.page(data)
    assert "| MNIST | 640 × 10 |" in page
    assert "| 0.0e+00 |" in page
