"""Accuracies of released labels: their summaries, and what is refused."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from private_ensembles.papers.darrm.accuracies import label_accuracy


def labels(accuracy=None):
    """One mechanism, two training seeds, three draws of twenty queries."""
    accuracy = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] if accuracy is None else accuracy
    pairs = itertools.product((0, 1), range(3))
    return pd.DataFrame(
        {
            "dataset": "digits",
            "stand_in": 1,
            "mechanism": "gnmax",
            "m": 3,
            "epsilon": 0.3,
            "delta": 3e-4,
            "privacy_model": "disjoint_shards",
            "adjacency": "replace_one",
            "queries": 20,
            "training_seed": seed,
            "draw": draw,
            "accuracy": value,
            "expected_accuracy": 0.6 if seed == 0 else 0.9,
        }
        for (seed, draw), value in zip(pairs, accuracy, strict=True)
    )


def test_accuracy_is_summarised_over_draws_and_over_training_seeds():
    row = label_accuracy(labels()).iloc[0]
    assert row["accuracy_mean"] == pytest.approx(0.75)
    assert row["accuracy_sd"] == pytest.approx(np.std([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ddof=1))
    assert row["sd_queries"] == pytest.approx(0.1)
    assert row["sd_training"] == pytest.approx(0.3 / math.sqrt(2))
    assert row["expected_accuracy"] == pytest.approx(0.75)
    assert (row["draws"], row["training_seeds"]) == (3, 2)


def test_a_single_draw_has_no_spread():
    single = labels().query("training_seed == 0 and draw == 0")
    row = label_accuracy(single).iloc[0]
    assert row[["accuracy_sd", "sd_queries", "sd_training"]].isna().all()


def test_mechanisms_come_in_the_order_of_the_registry_and_queries_ascend():
    parts = [
        labels().assign(mechanism=name, queries=queries)
        for name, queries in itertools.product(("majority_private", "darrm_opt", "gnmax"), (50, 20))
    ]
    table = label_accuracy(pd.concat(parts))
    order = ["gnmax", "darrm_opt", "majority_private"]
    assert table["mechanism"].tolist() == order * 2
    assert table["queries"].tolist() == [20] * 3 + [50] * 3


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (labels().drop(columns="draw"), "lacks the columns draw"),
        (labels([0.5, 0.6, 0.7, 0.8, 0.9, 1.1]), "accuracy must be in"),
        (labels([0.5, 0.6, 0.7, 0.8, 0.9, math.nan]), "accuracy must be in"),
        (labels().iloc[:-1], "equally many"),
    ],
)
def test_damaged_labels_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        label_accuracy(table)
