"""Areas under curves: bit for bit scikit-learn's, with ties, and what is refused."""

import math

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from private_ensembles.student.ranking import areas


@pytest.mark.parametrize("records", [2, 3, 10, 1000, 16281])
@pytest.mark.parametrize("levels", [2, 30, None])
def test_areas_are_scikit_learns_bit_for_bit(records, levels):
    """levels: of the scores, most of which then have ties."""
    for seed in range(5):
        source = np.random.default_rng((seed, records))
        labels = source.integers(0, 2, records).astype(np.uint8)
        labels[:2] = 0, 1
        scores = source.random(records) ** 2 + 0.3 * labels
        if levels:
            scores = np.round(scores * levels) / levels
        expected = roc_auc_score(labels, scores), average_precision_score(labels, scores)
        assert areas(labels, scores) == expected


def test_perfect_reversed_and_equal_scores():
    labels = np.array([0, 0, 1, 1, 1])
    rising = np.arange(5.0)
    assert areas(labels, rising) == (1, 1)
    assert areas(labels, -rising)[0] == 0
    assert areas(labels, np.full(5, 0.3)) == (0.5, 0.6)


def test_one_label_has_no_roc_curve():
    for label in (0, 1):
        roc, precision = areas(np.full(4, label), np.arange(4.0))
        assert math.isnan(roc)
        assert precision == label


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([], [], "labels of shape"),
        ([0, 2], [0.1, 0.2], "each 0 or 1"),
        ([0, 1], [0.1], "scores of shape"),
        ([0, 1], [0.1, np.nan], "must be 2 finite numbers"),
    ],
)
def test_what_has_no_areas_is_refused(labels, scores, message):
    with pytest.raises(ValueError, match=message):
        areas(np.array(labels), np.array(scores))
