"""The profile of public votes: what was stated is found again, and nothing is likelier."""

import numpy as np
import pytest
from scipy.stats import betabinom

from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.profile_fit import MIN_LABELLED_QUERIES, fit_profile

PROFILES = [
    ConsensusProfile(7, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1.0),
    ConsensusProfile(7, easy_share=0.5, easy=(50, 1), hard=(3, 5), confusion=0.3),
    ConsensusProfile(4, easy_share=0.9, easy=(30, 3), hard=(1, 3), confusion=20.0),
]


def drawn(profile, teachers, queries, seed=1):
    return synthetic_counts(profile, teachers, queries, np.random.default_rng(seed))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_stated_profile_is_found_again(profile):
    found = fit_profile(*drawn(profile, 250, 5000))
    assert found.easy_share == pytest.approx(profile.easy_share, abs=0.03)
    assert found.easy == pytest.approx(profile.easy, rel=0.12)
    assert found.hard == pytest.approx(profile.hard, rel=0.25)
    assert found.confusion == pytest.approx(profile.confusion, rel=0.1)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("teachers", "queries"), [(40, 300), (5, 1000), (11, 60)])
def test_the_profile_stated_is_not_likelier_than_the_one_that_is_found(profile, teachers, queries):
    """SciPy's beta-binomial, of right votes, in place of our own likelihood."""
    counts, labels = drawn(profile, teachers, queries)
    right = counts[np.arange(queries), labels]

    def likelihood(one):
        easy, hard = (betabinom.pmf(right, teachers, *shape) for shape in (one.easy, one.hard))
        return np.log(one.easy_share * easy + (1 - one.easy_share) * hard).sum()

    found = fit_profile(counts, labels)
    assert likelihood(found) >= likelihood(profile) - 1e-2  # four digits of the parameters
    assert sum(found.easy) > 0
    assert found.easy[0] / sum(found.easy) >= found.hard[0] / sum(found.hard)


def test_another_number_of_teachers_gives_the_same_profile_up_to_chance():
    few, many = (fit_profile(*drawn(PROFILES[0], teachers, 5000)) for teachers in (30, 300))
    assert few.easy_share == pytest.approx(many.easy_share, abs=0.05)
    assert few.hard == pytest.approx(many.hard, rel=0.3)


def test_queries_without_a_label_are_left_out_and_two_classes_say_nothing_of_confusion():
    counts, labels = drawn(PROFILES[0], 40, 200)
    unknown = np.concatenate([labels, np.full(50, -1)])
    more = np.concatenate([counts, counts[:50]])
    assert fit_profile(more, unknown) == fit_profile(counts, labels)
    two = ConsensusProfile(2, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=9.0)
    assert fit_profile(*drawn(two, 40, 300)).confusion == 1.0


@pytest.mark.parametrize(
    ("counts", "labels", "message"),
    [
        (np.ones((30, 3), int), np.zeros(29, int), "must be (queries, classes), (queries,)"),
        (np.ones((30, 1), int), np.zeros(30, int), "must be (queries, classes), (queries,)"),
        (np.eye(30, 2, dtype=int), np.zeros(30, int), "same number of teachers, 2 at least"),
        (
            np.ones((30, 3), int),
            np.full(30, -1),
            f"0 queries have a known one: must be at least {MIN_LABELLED_QUERIES}",
        ),
    ],
)
def test_what_no_profile_can_be_fitted_to_is_refused(counts, labels, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit_profile(counts, labels)
    assert message in str(caught.value)


def test_absent_ballots_are_left_out_and_their_share_is_found():
    generator = np.random.default_rng(2)
    counts, labels = drawn(PROFILES[0], 60, 2000)
    there = generator.binomial(counts, 0.8)
    found, full = fit_profile(there, labels, 60), fit_profile(counts, labels)
    assert found.absent_share == pytest.approx(0.2, abs=0.005)
    assert found.absent_share == float(f"{1 - there.sum() / 120_000:.4g}")
    assert found.easy_share == pytest.approx(full.easy_share, abs=0.03)
    assert found.easy == pytest.approx(full.easy, rel=0.1)
    assert found.hard == pytest.approx(full.hard, rel=0.1)
    assert fit_profile(counts, labels, 60) == full
    with pytest.raises(ValueError, match="every row must add up to at most 59 teachers"):
        fit_profile(counts, labels, 59)
