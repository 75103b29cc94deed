"""The door for labels: of which teachers, how many, and of which noise; the marks of release."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels import registry, release_gate, release_marks
from private_ensembles.labels.laws.checked import CheckedNoise, ThresholdedLaw
from private_ensembles.labels.laws.gaussian import GaussianNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import (
    refusal,
    release_from_counts,
    release_from_votes,
)
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
    shards_for_privacy_model,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.nzc.law import ImmutableNoise

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
def test_labels_stop_at_the_cap(name):
    mechanism = load_mechanism(name)
    model = min(mechanism.guarantee.privacy_models)
    facts = {"privacy_model": model, "labels": 3, "queries": 20, "epsilon": 20.0}
    task = Task.from_dict(BASE.to_dict() | facts)
    assert mechanism.refusal(task) is None
    cast = np.random.default_rng(3).integers(0, 2, (60, 9))
    source = SeededNoise(np.random.default_rng(3))
    votes = Votes(2, np.full(60, -1), cast)
    released = release_from_votes(mechanism, votes, mechanism.calibrate(task), source)
    assert released.dtype == np.int64
    assert len(released) == 60
    assert 0 < (released >= 0).sum() <= 3


@pytest.mark.parametrize(
    "name", [name for name in NAMES if load_mechanism(name).law.needs_only_counts]
)
def test_labels_of_a_seed_are_the_same_in_whatever_pieces_queries_come(name, monkeypatch):
    """They are those of one draw for all queries, even of those after the cap."""
    mechanism = load_mechanism(name)
    model = min(mechanism.guarantee.privacy_models)
    facts = {"privacy_model": model, "labels": 31, "queries": 50, "epsilon": 20.0}
    parameters = mechanism.calibrate(Task.from_dict(BASE.to_dict() | facts))
    votes = Votes(2, np.full(60, -1), np.random.default_rng(3).integers(0, 2, (60, 9)))

    def seeded() -> SeededNoise:
        return SeededNoise(np.random.default_rng(3))

    whole = mechanism.law.draw_capped(votes.histogram(), parameters, seeded())
    monkeypatch.setattr(release_gate, "_COUNTS_AT_ONCE", 14)
    released = release_from_votes(mechanism, votes, parameters, seeded())
    np.testing.assert_array_equal(released, whole)


def test_secure_noise_is_drawn_for_no_query_after_the_cap(monkeypatch):
    mechanism, drawn = load_mechanism("confident_gnmax"), []

    def draw(law, counts, parameters, source):
        drawn.append(len(counts))
        return np.zeros(len(counts), np.int64)

    monkeypatch.setattr(ThresholdedLaw, "draw", draw)
    monkeypatch.setattr(release_gate, "_COUNTS_AT_ONCE", 14)
    parameters = CheckedNoise(5, 4.0, 3.0, queries=17, labels=11)
    votes = Votes(2, np.full(60, -1), np.zeros((60, 9), int))
    released = release_from_votes(mechanism, votes, parameters, SecureNoise())
    assert drawn == [7, 7, 3]
    assert released.tolist() == [0] * 11 + [-1] * 49


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


@pytest.mark.parametrize("name", NAMES)
def test_a_release_refuses_noise_of_which_its_parameters_prove_nothing(name):
    """Parameters for continuous noise either serve secure noise as they are, or are refused."""
    mechanism = load_mechanism(name)
    task = Task(Ensemble(5, 2, private=Budget(0.1, 0.0)), Budget(3.0, 1e-3), Wanted(4))
    if mechanism.refusal(task):
        task = replace(task, wanted=Wanted(1))
    parameters = mechanism.calibrate(task)
    counts = np.array([[3, 2]] * 4)
    release_from_counts(mechanism, counts, parameters, SeededNoise(np.random.default_rng(0)))
    if refusal(mechanism, parameters, 2, secure=True) is None:
        assert release_from_counts(mechanism, counts, parameters, SecureNoise()).shape == (4,)
        return
    with pytest.raises(ValueError, match=f"noise = secure: {name} "):
        release_from_counts(mechanism, counts, parameters, SecureNoise())


def test_a_false_claim_is_not_released_with_secure_noise():
    with pytest.raises(ValueError, match="nzc has a false privacy claim"):
        release_from_counts(
            load_mechanism("nzc"), np.array([[3, 2]]), ImmutableNoise(), SecureNoise()
        )


def test_marks_differ_and_what_rests_on_votes_begins_with_not_for_release():
    shown = [
        release_marks.NOT_FOR_RELEASE,
        release_marks.FUNCTION_OF_VOTES,
        release_marks.FREE_OF_VOTES,
    ]
    assert len({*shown, release_marks.PUBLIC}) == 4
    assert release_marks.FUNCTION_OF_VOTES.startswith(release_marks.NOT_FOR_RELEASE)
    assert not any(mark.startswith(release_marks.NOT_FOR_RELEASE) for mark in shown[2:])
