"""Areas under curves: by their definitions, with ties, and what is refused."""

import math

import numpy as np
import pytest

from private_ensembles.training.student.ranking_metrics import roc_and_pr_auc


def test_areas_are_the_share_of_pairs_in_order_and_the_mean_precision_at_each_hit():
    """From the definitions; levels: of the scores, most of which then have ties."""
    for seed, levels in enumerate((2, 30, 10**6)):
        source = np.random.default_rng(seed)
        labels = source.integers(0, 2, 50)
        scores = np.round((source.random(50) + 0.3 * labels) * levels) / levels
        ones, zeros = scores[labels == 1], scores[labels == 0]
        above, tied = ones[:, None] > zeros, ones[:, None] == zeros
        precision = [labels[scores >= score].mean() for score in ones]
        roc, mean_precision = roc_and_pr_auc(labels, scores)
        assert roc == pytest.approx((above + tied / 2).mean())
        assert mean_precision == pytest.approx(np.mean(precision))


def test_perfect_reversed_and_equal_scores():
    labels = np.array([0, 0, 1, 1, 1])
    rising = np.arange(5.0)
    assert roc_and_pr_auc(labels, rising) == (1, 1)
    assert roc_and_pr_auc(labels, -rising)[0] == 0
    assert roc_and_pr_auc(labels, np.full(5, 0.3)) == (0.5, 0.6)


def test_one_label_has_no_roc_curve():
    for label in (0, 1):
        roc, precision = roc_and_pr_auc(np.full(4, label), np.arange(4.0))
        assert math.isnan(roc)
        assert precision == label
