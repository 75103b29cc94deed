"""What dealing costs: a case by drawing labels, and the table that docs/ballots.md shows."""

import numpy as np
import pandas as pd

from benchmarks import absent
from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)


def test_a_small_case_is_what_drawn_labels_say():
    data = absent.measure(quick=True)
    row = data[data["labels"] > 0].iloc[0]
    there, full, truth = absent.draw_ballots(11, 200)
    assert (there <= full).all()
    assert (full.sum(axis=1) == 11).all()
    task = Task(Ensemble(11, absent.CLASSES), Budget(absent.EPSILON, absent.DELTA), Wanted(1))
    law, noise = load_mechanism("gnmax_exact").law, load_mechanism("gnmax_exact").calibrate(task)
    counts = absent.deal_absent_ballots(there, 11)
    drawn = [
        (law.draw(counts, noise, SeededNoise(np.random.default_rng(seed))) == truth).mean()
        for seed in range(200)
    ]
    assert abs(np.mean(drawn) - row["dealt"]) < 5 * 0.5 / np.sqrt(200 * 200)
    assert row["dealt"] <= row["uncounted"] < row["full"]


def test_the_page_shows_the_tables(root):
    data = pd.read_csv(root / "docs" / "benchmarks" / "absent.csv")
    page = (root / "docs" / "ballots.md").read_text(encoding="utf-8")
    assert absent.format_accuracy(data) in page
    assert absent.format_threshold(data) in page
    assert set(data["teachers"]) == set(absent.TEACHERS)
