"""Labels of a table: seeded ones by their own sampler, secure ones by exact coins."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.audit.histograms import both_counts
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure

TASK = Task(0.5, 1e-3, 1, 1, n_teachers=5, n_classes=2)


def test_secure_coins_follow_the_table():
    laplace = load("lnmax_pure")
    parameters = laplace.calibrate(replace(TASK, secure=True))
    chances = laplace.law.distribution(both_counts(5), parameters)
    runs = 20_000
    for ones in (1, 3):
        counts = np.tile([5 - ones, ones], (runs, 1))
        share = laplace.law.draw(counts, parameters, Secure()).mean()
        # Hoeffding: wrong once in 1e8.
        assert abs(share - chances[ones, 1]) < np.sqrt(np.log(4e8) / (2 * runs))


def test_secure_labels_are_for_one_label_of_two_classes():
    laplace = load("lnmax_pure")
    assert laplace.refusal(replace(TASK, secure=True)) is None
    many = replace(TASK, secure=True, queries=2, labels=2)
    assert "noise: secure beyond one label of two classes" in laplace.refusal(many)
    with pytest.raises(ValueError, match="noise = secure: drawn for two classes only, not 3"):
        laplace.law.draw(np.array([[3, 1, 1]]), laplace.calibrate(TASK), Secure())


def test_a_mechanism_of_two_classes_has_no_distribution_on_three():
    ladder = load("ladder")
    with pytest.raises(ValueError, match="counts of 3 classes: the law is for two only"):
        ladder.law.distribution(np.array([[3, 1, 1]]), ladder.calibrate(TASK))
