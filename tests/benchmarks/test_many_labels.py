"""The benchmark of many labels calibrates, and its section says what was found and aimed at."""

import pytest

from benchmarks import many_labels


@pytest.fixture(scope="module")
def data(toy):
    with toy(many_labels):
        return many_labels.measure(quick=True)


def test_small_calibrations_are_shown(data):
    assert (data["ratio"] < 0.9).all()
    assert (data["upper"] <= data["epsilon"] * 1.001).all()
    assert (data["lower"] <= data["upper"]).all()
    section = many_labels.section(data)
    assert "| 1 | 2 | 51 | 20 | 23.59 → 20.68 → 19.48 | 17.4 % (71 % of it) | 5.8 % |" in section
    assert "| 2 | 10 | 51 | 10 |" in section


def test_targets_are_among_the_cases_and_a_missed_one_is_named(data, monkeypatch):
    assert set(many_labels.TARGETS) <= set(many_labels.CASES)
    data = data.iloc[:1]
    case = tuple(data[["epsilon", "classes", "teachers", "labels"]].iloc[0])
    for ratio, word in ((1.0, "kept"), (0.5, "MISSED")):
        monkeypatch.setattr(many_labels, "TARGETS", {case: (1000, 10**6, ratio)})
        assert f"ratio {ratio}: {word}\n" in many_labels.section(data)


def test_what_is_saved_is_shared_out_between_charging_labels_and_the_account():
    found = many_labels.shares_saved({"scale": 6.0, "analytic": 10.0, "label_rdp": 8.0})
    assert found == pytest.approx({"ratio": 0.6, "charging": 0.5, "account": 0.25})
