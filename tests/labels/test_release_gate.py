"""The door for labels: of which teachers, how many, and of which noise."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels import registry
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import release_from_counts, release_from_votes
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    shards_for_privacy_model,
)
from private_ensembles.labels.votes import Votes

NAMES = registry.offered_mechanisms()


BASE = Task(Ensemble(9, 2, private=Budget(0.3, 0.0)), Budget(1.0, 1e-5), Wanted(40, 60))


def test_no_label_is_released_beyond_those_paid_for():
    gnmax = load_mechanism("gnmax")
    parameters = gnmax.calibrate(replace(BASE, wanted=replace(BASE.wanted, labels=3)))
    counts = np.tile([9, 0], (5, 1))
    released = release_from_counts(gnmax, counts, parameters, SeededNoise(np.random.default_rng(0)))
    assert released[3:].tolist() == [-1, -1]
    assert (released[:3] >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_other_teachers_than_it_was_calibrated_for_are_refused(name):
    """They would be released at a cost that nobody proved."""
    mechanism = load_mechanism(name)
    private = mechanism.guarantee.teachers == "private"
    task = replace(
        BASE,
        wanted=replace(BASE.wanted, labels=1),
        protection=Protection(
            shards_for_privacy_model(
                sorted(mechanism.guarantee.privacy_models)[-1 if name == "committee" else 0]
            ),
            adjacency="add_remove" if private else "replace_one",
        ),
    )
    parameters = mechanism.calibrate(task)
    noise = SeededNoise(np.random.default_rng(0))
    assert release_from_counts(mechanism, np.array([[9, 0]]), parameters, noise).shape == (1,)
    bad = [
        ([[9, 1]], "add up to 10 to 10: must add up to the 9 teachers"),
        ([[4, 4]], "add up to 8 to 8: must add up to the 9 teachers"),
        ([[10, -1]], "must be numbers of votes, at least 0"),
        ([[4.5, 4.5]], "must be integers"),
    ]
    for counts, message in bad:
        with pytest.raises(ValueError, match=message):
            release_from_counts(mechanism, np.array(counts), parameters, noise)
    if mechanism.name != "committee":
        with pytest.raises(ValueError, match="add up to 8 to 9"):
            release_from_counts(mechanism, np.array([[9, 0], [4, 4]]), parameters, noise)
    votes = Votes(2, np.array([-1]), np.zeros((1, 8), np.uint8))
    with pytest.raises(ValueError, match=r"9 (teachers|of whom)"):
        release_from_votes(mechanism, votes, parameters, noise)


def test_counts_of_no_given_size_must_be_of_one_size():
    parameters = GaussianNoise(3.0, 5)
    noise = SeededNoise(np.random.default_rng(0))
    assert release_from_counts(
        load_mechanism("gnmax"), np.array([[2, 0]]), parameters, noise
    ).shape == (1,)
    with pytest.raises(ValueError, match="add up to 2 to 3"):
        release_from_counts(load_mechanism("gnmax"), np.array([[2, 0], [3, 0]]), parameters, noise)
    with pytest.raises(ValueError, match="n_teachers = 1000001: must be at most 1,000,000"):
        release_from_counts(load_mechanism("gnmax"), np.array([[1_000_000, 1]]), parameters, noise)
