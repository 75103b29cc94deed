"""PATE's figures and the data behind them: direct sums, and stamped as not for release."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.pate.experiment import noise_comparison
from private_ensembles.papers.pate.figure_data import (
    answering_cost,
    equal_answers,
    students_figure,
    threshold_histogram,
)
from private_ensembles.papers.pate.figures import (
    draw_noise_comparison,
    draw_students,
    draw_threshold_effects,
)
from private_ensembles.papers.pate.mathematics.lnmax import lnmax_rdp
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp, threshold_rdp
from tests.papers.pate.small_votes import (
    CHECKS,
    COUNTS,
    DELTA,
    ORDERS,
    POOL,
    SETTINGS,
    K,
    accounted,
    bought,
    converted,
    quantities,
)

THRESHOLDS = {"moderate": 12, "aggressive": 16}
STAMP = "data-dependent privacy costs: not for release"


FIGURE_ORDERS = np.arange(1.5, 40)


def votes(teachers):
    """Histograms and labels of 60 queries."""
    source = np.random.default_rng(0)
    return source.multinomial(teachers, [0.8, 0.15, 0.05], 60), np.zeros(60, dtype=int)


def noise():
    scales = {"lnmax": [0.1, 0.2, 0.4], "gnmax": [0.1, 0.2, 0.4]}
    ensembles = [(teachers, *votes(teachers)) for teachers in (10, 20)]
    return noise_comparison(ensembles, scales, 20, 1e-5, FIGURE_ORDERS)


def thresholds():
    counts, _ = votes(20)
    checks = {name: {"threshold": t, "sigma1": 3} for name, t in THRESHOLDS.items()}
    cost = answering_cost(counts, checks, 1.0, 4.0, 1e-5, FIGURE_ORDERS, 5)
    bins = threshold_histogram(counts, checks, 1.0, 2.5)
    return pd.concat([bins, cost], ignore_index=True)


def learning():
    """Those of `students_figure`."""
    parts = []
    for name in ("lnmax", "confident"):
        parts += [
            {
                "panel": "training",
                "aggregator": name,
                "student_seed": seed,
                "epoch": epoch,
                "accuracy": 0.5 + 0.1 * epoch + 0.01 * seed,
            }
            for seed in (0, 1)
            for epoch in (1, 2, 3)
        ]
        parts += [
            {"panel": "cost", "aggregator": name, "answered": 10 * n, "epsilon": 0.3 * n}
            for n in (1, 2)
        ]
        parts += [
            {
                "panel": "consensus",
                "aggregator": name,
                "share_low": n / 4,
                "share_high": (n + 1) / 4,
                "labels": n,
            }
            for n in range(4)
        ]
    return pd.DataFrame(parts)


FIGURES = [
    (draw_noise_comparison, noise, "synthetic votes, 100 queries"),
    (draw_threshold_effects, thresholds, "synthetic votes of 20 teachers"),
    (draw_students, learning, "task digits"),
]


def shown(figure):
    """Lines and bars of a figure, as numbers."""
    lines = [line.get_xydata().tolist() for axis in figure.axes for line in axis.lines]
    bars = [patch.get_extents().bounds for axis in figure.axes for patch in axis.patches]
    return lines, bars


@pytest.mark.parametrize(("draw", "data", "source"), FIGURES)
def test_figure_says_whose_votes_and_that_it_is_not_for_release(drawn, draw, data, source):
    """And other data give another figure."""
    frame = data()
    draw(frame, source=source)
    words = "\n".join(text.get_text() for text in drawn[0].findobj(Text))
    assert source in words
    assert STAMP in words
    # And aggregators have names that can be read.
    assert draw is not draw_students or "Confident-GNMax" in words
    name = "accuracy" if "accuracy" in frame and "panel" not in frame else "epsilon"
    frame[name] *= 0.5
    draw(frame, source=source)
    assert shown(drawn[0]) != shown(drawn[1])


def test_costs_too_small_to_matter_stay_out_of_figure_5(drawn):
    frame = thresholds()
    draw_threshold_effects(frame, source="x")
    small = frame["label_rdp"] < 1e-20
    assert small.any()
    frame.loc[small, "label_rdp"] = 1e-300
    draw_threshold_effects(frame, source="x")
    np.testing.assert_equal(*map(shown, drawn))
    limits = [[axis.get_ylim() for axis in figure.axes] for figure in drawn]
    assert limits[0] == limits[1]


# Data ---------------------------------------------------------------------------------------------


def test_histogram_counts_every_query_once_and_thresholds_by_their_chance():
    table = threshold_histogram(COUNTS, CHECKS, 6.0, 4.0)
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    whole = table[table["mechanism"] == "lnmax"]
    assert whole["answered"].sum() == POOL
    # The unanimous query is in the last bin, not beyond it.
    assert whole["answered"].iloc[-1] >= 1
    most = COUNTS.max(axis=1)
    costs = gnmax_rdp(COUNTS, 6.0, [4.0])[:, 0]
    for name, check in CHECKS.items():
        part = table[table["mechanism"] == name]
        assert len(part) == 25
        for row in part.itertuples():
            last = row.bin_high == K
            inside = (most >= row.bin_low) & ((most < row.bin_high) | last)
            chance = stats.norm.sf((check["threshold"] - most[inside]) / check["sigma1"])
            assert row.answered == pytest.approx(chance.sum(), rel=1e-12, abs=1e-12)
            if inside.any():
                assert row.label_rdp == pytest.approx(costs[inside].mean(), rel=1e-12)
            else:
                assert math.isnan(row.label_rdp)


def test_costs_at_equal_numbers_of_answers_are_direct_sums():
    """Figure 1 compares what both cost when both have answered as much, not when asked as much."""
    settings = {"threshold": 30.0, "sigma1": 15.0, "scale": 3.0, "answers": [20, 55]}
    table = equal_answers(COUNTS, settings, 6.0, DELTA, ORDERS)
    chance = stats.norm.sf((30 - COUNTS.max(axis=1)) / 15)
    label, laplace = gnmax_rdp(COUNTS, 6.0, ORDERS), lnmax_rdp(COUNTS, 3.0, ORDERS)
    thresholds = threshold_rdp(COUNTS, 30.0, 15.0, ORDERS)

    def epsilon(cost):
        return min(cost + math.log(1 / DELTA) / (ORDERS - 1))

    for answers, rows in table.groupby("answers"):
        rows = rows.set_index("aggregator")
        asked = next(n for n in range(1, len(COUNTS)) if chance[:n].sum() >= answers)
        assert rows["asked"].to_dict() == {"lnmax": answers, "confident": asked}
        cost = thresholds[:asked].sum(axis=0) + chance[:asked] @ label[:asked]
        assert rows.loc["confident", "epsilon"] == pytest.approx(epsilon(cost), rel=1e-9)
        cost = laplace[:answers].sum(axis=0)
        assert rows.loc["lnmax", "epsilon"] == pytest.approx(epsilon(cost), rel=1e-9)
    assert set(table["label"]) == {"first label", "second label"}
    # Where the queries do not suffice there is no number.
    few = equal_answers(COUNTS, settings | {"answers": [20, 10_000]}, 6.0, DELTA, ORDERS)
    assert few["epsilon"].isna().tolist() == [False, False, True, True]


def test_answering_cost_is_a_direct_sum():
    table = answering_cost(COUNTS, CHECKS, 6.0, 3.0, DELTA, ORDERS, 7)
    assert set(table["release"]) == {NOT_FOR_RELEASE}
    assert table.groupby("mechanism")["asked"].apply(list).iloc[0][-1] == POOL
    labels, laplace = gnmax_rdp(COUNTS, 6.0, ORDERS), lnmax_rdp(COUNTS, 3.0, ORDERS)
    for row in table.itertuples():
        answered, total, thresholds = 0.0, np.zeros(len(ORDERS)), np.zeros(len(ORDERS))
        for i in range(row.asked):
            if row.mechanism == "lnmax":
                answered, total = answered + 1, total + laplace[i]
                continue
            check = CHECKS[row.mechanism]
            lead = (COUNTS[i].max() - check["threshold"]) / check["sigma1"]
            answered += stats.norm.cdf(lead)
            total = total + stats.norm.cdf(lead) * labels[i]
            thresholds += ORDERS / (2 * check["sigma1"] ** 2)
        assert row.answered == pytest.approx(answered, rel=1e-12)
        assert row.epsilon == pytest.approx(converted(total + thresholds), rel=1e-12)
        if row.mechanism == "lnmax":
            assert math.isnan(row.epsilon_selection)
        else:
            assert row.epsilon_selection == pytest.approx(converted(thresholds), rel=1e-12)


def histories():
    return pd.DataFrame(
        {"task": "digits", "aggregator": name, "student_seed": 0, "epoch": epoch, "accuracy": 0.5}
        for name in ("lnmax-20", "lnmax-40", "confident")
        for epoch in (1, 2)
    )


def test_figure_1_shows_the_longest_lnmax_and_what_was_bought():
    _, arrays = bought()
    data = students_figure(COUNTS, arrays, histories(), SETTINGS, points=5, bins=10)
    assert set(data["release"]) == {NOT_FOR_RELEASE}
    panels = data.groupby(["panel", "aggregator"]).size().to_dict()
    assert panels == {
        ("training", "lnmax"): 2,
        ("training", "confident"): 2,
        ("cost", "lnmax"): 5,
        ("cost", "confident"): 5,
        ("consensus", "lnmax"): 10,
        ("consensus", "confident"): 10,
    }
    consensus = data[data["panel"] == "consensus"].groupby("aggregator")["labels"].sum()
    assert consensus["lnmax"] == 40
    assert consensus["confident"] == (arrays["confident_labels"] >= 0).sum()
    ends = data[data["panel"] == "cost"].groupby("aggregator").last()
    found = quantities(accounted(), "confident")
    assert ends.loc["confident", "epsilon"] == pytest.approx(found["epsilon"], rel=1e-12)
    assert ends.loc["confident", "answered"] == pytest.approx(found["answered"], rel=1e-12)
