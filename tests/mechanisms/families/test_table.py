"""Labels of a table: seeded ones by their own sampler, secure ones by exact coins."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles import mechanisms
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.noise.sources import Secure

TASK = Task(0.5, 1e-3, 1, 1, n_teachers=5, n_classes=2)


def test_secure_coins_follow_the_table():
    laplace = mechanisms.load("lnmax_pure")
    parameters = laplace.calibrate(replace(TASK, secure=True))
    chances = laplace.table(5, parameters)
    runs = 20_000
    for ones in (1, 3):
        counts = np.tile([5 - ones, ones], (runs, 1))
        share = laplace.sample(counts, parameters, Secure()).mean()
        # Hoeffding: wrong once in 1e8.
        assert abs(share - chances[ones, 1]) < np.sqrt(np.log(4e8) / (2 * runs))


def test_secure_labels_are_for_one_label_of_two_classes():
    laplace = mechanisms.load("lnmax_pure")
    assert laplace.refusal(replace(TASK, secure=True)) is None
    many = replace(TASK, secure=True, queries=2, labels=2)
    assert "noise: secure but for one label of two classes" in laplace.refusal(many)
    with pytest.raises(ValueError, match="noise = secure: lnmax_pure draws it for two classes"):
        laplace.sample(np.array([[3, 1, 1]]), laplace.calibrate(TASK), Secure())


def test_a_mechanism_of_two_classes_has_no_distribution_on_three():
    ladder = mechanisms.load("ladder")
    with pytest.raises(ValueError, match="ladder: is for two classes only"):
        ladder.distribution(np.array([[3, 1, 1]]), ladder.calibrate(TASK))
