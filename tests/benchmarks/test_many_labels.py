"""The benchmark of many labels calibrates, and its page says what was found and aimed at."""

import pandas as pd
import pytest

from benchmarks import many_labels


def here(module, what, **arguments):
    return getattr(many_labels, what)(**arguments)


@pytest.fixture(scope="module")
def data():
    """What the quick cases measure, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_labels.process, "in_a_process", here)
        return many_labels.measure(quick=True)


def test_small_calibrations_stand_on_the_page(data):
    gaussian = data["law"] == "gnmax_exact"
    assert (data.loc[gaussian, "ratio"] < 0.9).all()
    assert set(data.loc[~gaussian, "law"]) == set(many_labels.LAWS)
    # Composition of pure labels is as good for a few labels of permute-and-flip.
    ratios = data[~gaussian].set_index("law")["ratio"]
    assert (
        ratios < pd.Series({"lnmax_exact": 0.75, "exponential": 0.95, "permute_and_flip": 1.02})
    ).all()
    assert (data["upper"] <= many_labels.EPSILON * 1.001).all()
    assert (data["lower"] <= data["upper"]).all()
    page = many_labels.page(data)
    assert "| 2 | 51 | 10 |" in page
    assert "| 10 | 51 | 10 |" in page
    assert "| lnmax_exact | 51 | 10 |" in page


def test_targets_are_among_the_cases_and_a_missed_one_is_named(data, monkeypatch):
    assert set(many_labels.TARGETS) <= set(many_labels.CASES)
    data = data.iloc[:1]
    case = tuple(data[["classes", "teachers", "labels"]].iloc[0])
    for ratio, word in ((1.0, "kept"), (0.5, "MISSED")):
        monkeypatch.setattr(many_labels, "TARGETS", {case: (1000, 10**6, ratio)})
        assert many_labels.page(data).splitlines()[-1].endswith(word)


def test_the_noise_that_counts_need_keeps_the_budget():
    # (2, 1e-5), 100 labels: DESIGN 5.12.
    assert many_labels.analytic(100) == pytest.approx(28.20, abs=0.01)
