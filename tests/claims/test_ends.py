"""Labels are drawn whatever the votes, at the ends of what is accepted, by all mechanisms.

What a mechanism asks of its sampler (scales, numbers and sizes of draws) is the same for all votes
of an ensemble, those with most votes and with none included: one never gets an error where its
neighbour gets a label.
"""

import numpy as np
import pytest

from private_ensembles.base import secure
from private_ensembles.base.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels import registry
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

ENDS = [
    (2, 2),
    pytest.param((MOST_TEACHERS, 2), marks=pytest.mark.slow),
    pytest.param((2, MOST_CLASSES), marks=pytest.mark.slow),
    pytest.param((MOST_TEACHERS, MOST_CLASSES), marks=pytest.mark.slow),
]


def histograms(teachers, classes):
    """All votes for one class, ties, powers of two and one less, and all classes alike."""
    firsts = {teachers, teachers - 1, (teachers + 1) // 2, teachers // 2, 1, 0}
    firsts |= {n for power in (8, 15, 16, 19) for n in (1 << power, (1 << power) - 1)}
    found = []
    for first in sorted(n for n in firsts if n <= teachers):
        row = np.zeros(classes, dtype=np.int64)
        row[0], row[-1] = first, teachers - first
        found += [row, row[::-1]]
    row = np.full(classes, teachers // classes)
    row[: teachers - row.sum()] += 1
    return np.array([*found, row])


def votes_of(counts):
    voted = [np.repeat(np.arange(len(row), dtype=np.uint16), row) for row in counts]
    return Votes(counts.shape[1], np.full(len(counts), -1), np.array(voted))


@pytest.mark.parametrize("size", ENDS, ids=str)
@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_no_votes_stop_a_release(name, size, monkeypatch):
    mechanism = load_mechanism(name)
    private = mechanism.guarantee.teachers == "private"
    model = sorted(mechanism.guarantee.privacy_models)[-1 if name == "committee" else 0]
    task = Task(
        Ensemble(*size, private=Budget(0.3, 0.0) if private else None),
        Budget(2.0, 1e-5),
        Wanted(1),
        Protection(
            shards_for_privacy_model(model), adjacency="add_remove" if private else "replace_one"
        ),
        secure=True,
    )
    if mechanism.refusal(task) is not None:
        return
    parameters = mechanism.calibrate(task)
    asked = []
    drawn = secure._gaussian

    def gaussian(sigma):
        return lambda units: asked.append((sigma, len(units))) or drawn(sigma)(units)

    monkeypatch.setattr(secure, "_gaussian", gaussian)
    asked_of_votes = []
    for row in histograms(*size):
        asked.clear()
        if name == "committee":
            labels = release_from_votes(mechanism, votes_of(row[None]), parameters, SecureNoise())
        else:
            labels = release_from_counts(mechanism, row[None], parameters, SecureNoise())
        assert labels.shape == (1,)
        assert labels.dtype == np.int64
        assert -1 <= labels[0] < size[1]
        asked_of_votes.append(tuple(asked))
    assert len(set(asked_of_votes)) == 1
