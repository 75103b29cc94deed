"""PATE's figures: drawn from one frame, and stamped as not for release."""

import itertools

import numpy as np
import pandas as pd
import pytest

from private_ensembles.figures.pate import (
    draw_noise_comparison,
    draw_students,
    draw_threshold_effects,
)
from private_ensembles.votes.marks import NOT_FOR_RELEASE

STAMP = "data-dependent privacy costs: not for release"


def noise():
    """The columns of `papers.pate.experiment.noise_comparison`."""
    return pd.DataFrame(
        {
            "mechanism": mechanism,
            "teachers": teachers,
            "scale": scale,
            # Laplace noise costs more, and so do small ensembles.
            "epsilon": (400 if mechanism == "lnmax" else 800 / teachers) / scale,
            "accuracy": 0.9 - 0.01 * scale,
            "release": NOT_FOR_RELEASE,
        }
        for mechanism, sizes in (("gnmax", (10, 20)), ("lnmax", (20,)))
        for teachers in sizes
        for scale in (1.0, 2.0, 4.0)
    )


def thresholds():
    """Those of `threshold_histogram` and `answering_cost` together."""
    edges = np.linspace(0, 20, 6)
    bins = [
        {
            "panel": "histogram",
            "mechanism": name,
            "bin_low": low,
            "bin_high": high,
            "answered": share * high,
            # The last bin costs so little that it is not drawn, the first holds nothing.
            "label_rdp": np.nan if low == 0 else 10.0 ** (-2 * high),
            "order": 20.5,
        }
        for name, share in (("lnmax", 1.0), ("moderate", 0.5), ("aggressive", 0.2))
        for low, high in itertools.pairwise(edges)
    ]
    cost = [
        {
            "panel": "cost",
            "mechanism": name,
            "asked": asked,
            "answered": asked / 2,
            "epsilon": 0.1 * asked**0.5,
            "epsilon_selection": np.nan if name == "lnmax" else 0.01 * asked,
        }
        for name in ("lnmax", "moderate", "aggressive")
        for asked in (10, 20, 30)
    ]
    return pd.DataFrame(bins + cost)


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
    tiny.loc[tiny["label_rdp"] < 1e-20, "label_rdp"] = 1e-300
    draw_threshold_effects(tiny, tmp_path / "tiny.svg", source="x")
    assert (tmp_path / "figure.svg").read_bytes() == (tmp_path / "tiny.svg").read_bytes()
