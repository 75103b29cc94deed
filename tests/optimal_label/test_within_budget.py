"""The best label for a number of labels keeps the total, and where it beats the others."""

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon
from private_ensembles.audit.labels import OnCounts
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.optimal_label.best_for_many import best_for_many
from private_ensembles.optimal_label.within_budget import best_within
from private_ensembles.planner.studies import right


def test_ten_labels_are_right_more_often_than_any_other_mechanism_s():
    """The table of docs/best-label.md: the best label for one and GNMax, charged alike."""
    found = best_within(11, 10, 10, 2.0, 1e-5, accuracy=0.5)
    assert found.certificate.holds
    assert round(found.certificate.utility, 2) == 0.28
    task = Task(2.0, 1e-5, 10, 10, 11, 10)
    for name in ("gnmax_exact", "permute_and_flip"):
        mechanism = load(name)
        other = right(mechanism, task, mechanism.calibrate(task), 0.5)
        assert other < found.certificate.utility - 0.03


def test_the_total_is_that_of_all_pairs_of_unsorted_histograms():
    found = best_within(5, 3, 6, 1.0, 1e-4, accuracy=0.6)
    total = found.total(6, 1e-4)
    assert 0.95 < total.lower <= total.upper <= 1.0

    class Table:
        silent = False

        def outcomes(self, counts, parameters, secure):
            return found.distribution(counts)

        def error(self, *_):
            return {"relative_error": 2.0**-52, "absolute_error": 1e-300}

    every = OnCounts(Table(), None, 5, 3, secure=False).label_pairs()
    assert adaptive_epsilon(every, 6, 1e-4).upper == pytest.approx(total.upper, rel=1e-3)
    # Twice the divergence is caught.
    twice = best_for_many(5, 3, found.order, 2 * found.divergence, accuracy=0.6)
    assert twice.total(6, 1e-4).lower > 1.0


def test_more_labels_get_less_each_and_a_total_is_spent():
    shares = []
    for labels in (5, 20, 80):
        found = best_within(7, 3, labels, 1.5, 1e-5, accuracy=0.7)
        assert 0.95 * 1.5 < found.total(labels, 1e-5).upper <= 1.5
        shares.append((found.divergence, found.certificate.utility))
    assert (np.diff(np.array(shares), axis=0) < 0).all()


@pytest.mark.parametrize(
    ("labels", "epsilon", "delta", "words"),
    [
        (0, 1.0, 1e-5, "labels = 0: must be an integer >= 1"),
        (5, 0.0, 1e-5, r"epsilon = 0.0: must be in \(0, 20\]"),
        (5, 1.0, 0.0, r"delta = 0.0: must be in \(0, 1\)"),
    ],
)
def test_arguments_out_of_range_are_refused(labels, epsilon, delta, words):
    with pytest.raises(ValueError, match=words):
        best_within(5, 3, labels, epsilon, delta, accuracy=0.6)
