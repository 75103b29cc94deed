"""PATE's figures: drawn from one frame, and stamped as not for release."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.pate.experiment import noise_comparison
from private_ensembles.papers.pate.figure_data import answering_cost, threshold_histogram
from private_ensembles.papers.pate.figures import (
    draw_noise_comparison,
    draw_students,
    draw_threshold_effects,
)

THRESHOLDS = {"moderate": 12, "aggressive": 16}
STAMP = "data-dependent privacy costs: not for release"


ORDERS = np.arange(1.5, 40)


def votes(teachers):
    """Histograms and labels of 60 queries."""
    source = np.random.default_rng(0)
    return source.multinomial(teachers, [0.8, 0.15, 0.05], 60), np.zeros(60, dtype=int)


def noise():
    scales = {"lnmax": [0.1, 0.2, 0.4], "gnmax": [0.1, 0.2, 0.4]}
    ensembles = [(teachers, *votes(teachers)) for teachers in (10, 20)]
    return noise_comparison(ensembles, scales, 20, 1e-5, ORDERS)


def thresholds():
    counts, _ = votes(20)
    checks = {name: {"threshold": t, "sigma1": 3} for name, t in THRESHOLDS.items()}
    cost = answering_cost(counts, checks, 1.0, 4.0, 1e-5, ORDERS, 5)
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


@pytest.mark.parametrize(("draw", "data", "source"), FIGURES)
def test_figure_says_whose_votes_and_that_it_is_not_for_release(tmp_path, draw, data, source):
    draw(data(), tmp_path / "figure.svg", source=source)
    # Matplotlib leaves the text of each line as a comment beside its outlines.
    text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert f"<!-- {source}" in text
    assert f"{STAMP} -->" in text
    # And aggregators have names that can be read.
    assert draw is not draw_students or "<!-- Confident-GNMax -->" in text


@pytest.mark.parametrize(("draw", "data", "source"), FIGURES)
def test_other_data_give_another_figure(tmp_path, draw, data, source):
    draw(data(), tmp_path / "one.png", source=source)
    changed = data()
    name = "accuracy" if "accuracy" in changed and "panel" not in changed else "epsilon"
    changed[name] *= 0.5
    draw(changed, tmp_path / "two.png", source=source)
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "two.png").read_bytes()


def test_costs_too_small_to_matter_stay_out_of_figure_5(tmp_path):
    draw_threshold_effects(thresholds(), tmp_path / "figure.svg", source="x")
    tiny = thresholds()
    small = tiny["label_rdp"] < 1e-20
    assert small.any()
    tiny.loc[small, "label_rdp"] = 1e-300
    draw_threshold_effects(tiny, tmp_path / "tiny.svg", source="x")
    assert (tmp_path / "figure.svg").read_bytes() == (tmp_path / "tiny.svg").read_bytes()
