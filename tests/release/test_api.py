"""release_labels: labels within the budget, drawn by the best mechanism of the stated profile."""

import itertools

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.ballots import deal_absent_ballots
from private_ensembles.labels.planner.api import plan
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Wanted,
)
from private_ensembles.release.api import release_darrm, release_labels, release_statement

BUDGET = Budget(2.0, 1e-5)
PROFILE = ConsensusProfile(3, 0.8, (20, 2), (2, 2), 1.0)
COUNTS, TRUTH = synthetic_counts(PROFILE, 60, 40, np.random.default_rng(0))


def test_it_takes_the_planner_s_first_and_is_right_as_often_as_promised():
    found = release_labels(COUNTS, BUDGET, labels=20, rehearsal=Rehearsal(seed=3))
    # A committee does not apply to counts alone (`Task.counts_only`).
    best = plan(Ensemble(60, 3), BUDGET, Wanted(20, queries=40), rehearsal=Rehearsal())[0]
    assert found.mechanism == best.mechanism
    assert found.epsilon == best.epsilon <= 2
    assert found.delta == 1e-5
    answered = found.labels >= 0
    assert 0 < answered.sum() <= 20
    assert (found.labels[answered] == TRUTH[answered]).mean() > 0.6
    assert not found.secure
    again = release_labels(COUNTS, BUDGET, labels=20, rehearsal=Rehearsal(seed=3))
    assert (again.labels == found.labels).all()
    other = release_labels(COUNTS, BUDGET, labels=20, rehearsal=Rehearsal(seed=4))
    assert (other.labels != found.labels).any()


SOME_ABSENT = Ensemble(60, 3, absent=True)
ABSENT = COUNTS - np.minimum(COUNTS, np.arange(120).reshape(40, 3) % 7)
SMALL_TYPES = ["u1", "i1", "u2", "i2", ">u2", "u8"]


@pytest.mark.filterwarnings("ignore:epsilon = 40")
def test_counts_of_small_types_do_not_overflow():
    """Of 240 teachers, whose sum is beyond eight bits."""
    counts = np.array([[120, 20, 100], [20, 120, 100], [0, 120, 120], [120, 0, 120]])
    stated = {"mechanism": "gnmax_analytic", "rehearsal": Rehearsal(), "anyway": True}
    wide = release_labels(counts, Budget(40.0, 1e-5), **stated)
    for kind in SMALL_TYPES:
        small = release_labels(counts.astype(kind), Budget(40.0, 1e-5), **stated)
        assert small.labels.tolist() == wide.labels.tolist(), kind
        assert small.labels[:2].tolist() == [0, 1]
        assert small.epsilon == wide.epsilon, kind


def test_the_majority_of_darrm_does_not_overflow():
    """Twice a count is beyond 255 and 127, where types of eight bits end."""
    for kind, noise in itertools.product(SMALL_TYPES, (np.random.default_rng(0), SecureNoise())):
        teachers = 127 if kind == "i1" else 255
        counts = np.arange(teachers + 1)
        labels = release_darrm(counts.astype(kind), np.ones(teachers + 1), noise)
        assert labels.tolist() == (2 * counts > teachers).astype(int).tolist(), kind


def test_the_plan_does_not_look_at_the_votes():
    """Another ensemble of the same size: the same mechanism with the same parameters."""
    one, other = (
        release_labels(rows, BUDGET, labels=20, rehearsal=Rehearsal())
        for rows in (COUNTS, np.full_like(COUNTS, 20))
    )
    assert (one.mechanism, one.parameters) == (other.mechanism, other.parameters)


def test_secure_noise_is_the_default_and_no_release_repeats_another():
    flat = np.full((60, 2), 30)
    stated = {"protection": Protection.disjoint(), "mechanism": "gnmax_analytic", "anyway": True}
    drawn = [release_labels(flat, BUDGET, **stated) for _ in range(2)]
    assert all(one.secure and one.mechanism == "gnmax_analytic" for one in drawn)
    assert (drawn[0].labels != drawn[1].labels).any()  # but once in 2^60


@pytest.mark.parametrize(
    ("counts", "more", "says"),
    [
        (COUNTS.astype(float), {}, "counts: float64"),
        (COUNTS[0], {}, r"counts: int64 \(3,\)"),
        (COUNTS[:, :1], {}, "two classes at least"),
        (-COUNTS, {}, "must be numbers of votes"),
        (np.array([[1_000_000, 1]]), {}, "2 to 1,000,000; rows add up to 1000001 to 1000001"),
        (np.array([[500_000, 500_001]]), {}, "2 to 1,000,000; rows add up to 1000001 to 1000001"),
        (np.arange(6).reshape(2, 3), {}, "rows add up to 3 to 12"),
        (np.eye(2, dtype=int), {}, "rows add up to 1 to 1"),
        (COUNTS, {"ensemble": Ensemble(60, 4)}, "counts of 3 classes: must be of 4"),
        (COUNTS, {"protection": None}, "protection: must be stated, Protection.disjoint"),
        (COUNTS, {"mechanism": "argmax"}, "mechanism = 'argmax': must be one of"),
        (COUNTS, {"labels": 41}, "labels = 41: must be at most queries = 40"),
        (COUNTS, {"mechanism": "ladder"}, "no mechanism applies: ladder: for two classes only"),
        (ABSENT, {}, "if ballots may be absent say ensemble="),
        (COUNTS, {"ensemble": Ensemble(59, 3, absent=True)}, "must add up to at most 59 teachers"),
        (
            ABSENT,
            {"ensemble": Ensemble(1, 3, absent=True)},
            "teachers = 1: must be an integer >= 2",
        ),
        (COUNTS, {"profile": {"absent_share": 0.1}}, "absent_share = 0.1: must be 0, unless"),
        (COUNTS, {"ensemble": SOME_ABSENT, "profile": {"absent_share": 1}}, "= 1: must be in"),
    ],
)
def test_bad_values_are_named_in_one_line(counts, more, says):
    with pytest.raises(ValueError, match=says) as caught:
        release_labels(counts, **{"budget": BUDGET, "protection": Protection.disjoint()} | more)
    assert "\n" not in str(caught.value)


def test_absent_ballots_are_dealt_out_and_cost_nothing_more():
    given = {"labels": 20, "rehearsal": Rehearsal(), "mechanism": "gnmax_exact"}
    profile = {"absent_share": 0.1}
    found = release_labels(ABSENT, BUDGET, ensemble=SOME_ABSENT, profile=profile, **given)
    full = release_labels(COUNTS, BUDGET, **given)
    assert (found.epsilon, found.parameters) == (full.epsilon, full.parameters)
    whole = deal_absent_ballots(ABSENT, 60)
    same = release_labels(whole, BUDGET, ensemble=SOME_ABSENT, profile=profile, **given)
    assert (same.labels == found.labels).all()
    assert '"absent": true' in found.terms
    assert '"absent"' not in full.terms
    page = release_statement(found)
    assert "Whether it did is protected as its vote is" in page
    assert "Absent ballots" not in release_statement(full)


def test_a_profile_in_which_everybody_votes_is_warned_of():
    given = {"labels": 20, "rehearsal": Rehearsal(), "mechanism": "gnmax_exact"}
    with pytest.warns(UserWarning, match="absent_share = 0: votes may be absent"):
        release_labels(ABSENT, BUDGET, ensemble=SOME_ABSENT, **given)
