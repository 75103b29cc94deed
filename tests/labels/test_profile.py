"""The profile of votes: drawn votes have it, public votes give it back, nothing is likelier."""

import itertools

import numpy as np
import pytest
import yaml
from scipy.special import ndtr
from scipy.stats import betabinom

from private_ensembles.labels import profile as synthetic
from private_ensembles.labels.assumed_profile import ASSUMED_PROFILE, is_assumed, name_profile
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts, synthetic_queries
from private_ensembles.labels.profile_fit import MIN_LABELLED_QUERIES, fit_profile
from private_ensembles.labels.votes import Votes


@pytest.fixture(scope="module")
def settings(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    return config["synthetic_votes"]["glyph"]


@pytest.fixture(scope="module")
def glyph(settings):
    return ConsensusProfile(**{k: v for k, v in settings.items() if k != "n_queries"})


@pytest.fixture(scope="module")
def drawn(glyph):
    """Counts and labels of 5,000 teachers on 30,000 queries."""
    return synthetic_counts(glyph, 5000, 30_000, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("threshold", "sigma1", "share"),
    [(1000, 500, 10_762 / 12_000), (3500, 1500, 3_400 / 6_000)],
)
def test_glyph_is_answered_as_often_as_in_the_paper(drawn, threshold, sigma1, share):
    answered = ndtr((drawn[0].max(axis=1) - threshold) / sigma1)
    # Two standard errors of the profile's own mean, and 1 % for "roughly".
    assert abs(answered.mean() - share) < 0.01 * share + 2 * answered.std() / np.sqrt(len(answered))


@pytest.mark.parametrize(
    ("number", "total"), [(50, 2.0), pytest.param(2000, 0.5, marks=pytest.mark.slow)]
)
def test_shares_of_very_many_classes_have_dirichlets_law(monkeypatch, number, total):
    """Of the first class: E p^k = a (a + 1) ... (a + k - 1) over the same of the total."""
    monkeypatch.setattr(synthetic, "_MANY", 5)
    size, a = 4000, total / number
    drawn = synthetic._draw_dirichlet(number, total, size, np.random.default_rng(1))
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=1e-12)
    for k in (2, 3):
        powers = (drawn**k).sum(axis=1)
        exact = number * np.prod([(a + i) / (total + i) for i in range(k)])
        assert abs(powers.mean() - exact) < 4 * powers.std() / np.sqrt(size)
    # Each class alike often.
    halves = drawn[:, : number // 2].sum(axis=1)
    assert abs(halves.mean() - 0.5) < 4 * halves.std() / np.sqrt(size)


def test_very_many_classes_are_drawn_by_their_votes():
    profile = ConsensusProfile(20_000, 0.8, (20, 2), (2, 2), confusion=1.0, absent_share=0.1)
    counts, labels = synthetic_counts(profile, 50, 6, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 50).all()
    assert (counts[np.arange(6), labels] > 10).sum() >= 4


def test_glyphs_plurality_is_right_as_often_as_the_baseline(drawn):
    counts, labels = drawn
    assert abs((counts.argmax(axis=1) == labels).mean() - 0.822) < 0.01


def test_plurality_is_right_the_more_often_the_larger_the_consensus(drawn):
    counts, labels = drawn
    top = counts.max(axis=1)
    right = counts.argmax(axis=1) == labels
    bins = np.digitize(top, [500, 1000, 1500, 2500])
    shares = [right[bins == i].mean() for i in range(5)]
    assert shares[0] < 0.5
    assert all(low <= high + 0.02 for low, high in itertools.pairwise(shares))
    assert right[top > 4000].mean() == pytest.approx(0.9, abs=0.01)  # a tenth is mislabelled


def test_classes_are_as_imbalanced_as_stated(glyph):
    profile = ConsensusProfile(4, 1.0, (1e6, 1), (1, 1), 1.0, imbalance=8)
    _, labels = synthetic_counts(profile, 1, 100_000, np.random.default_rng(0))
    shares = np.bincount(labels) / len(labels)
    assert shares / shares[-1] == pytest.approx([8, 4, 2, 1], rel=0.05)
    assert glyph.imbalance == 5


def test_mislabelled_queries_carry_any_other_label_equally_often():
    profile = ConsensusProfile(3, 1.0, (1e9, 1), (1, 1), 1.0, mislabelled=1.0)
    counts, labels = synthetic_counts(profile, 100, 30_000, np.random.default_rng(0))
    true = counts.argmax(axis=1)
    assert not (labels == true).any()
    assert np.bincount((labels - true) % 3) / len(labels) == pytest.approx([0, 0.5, 0.5], abs=0.01)


def test_votes_are_distributed_as_the_probabilities_say():
    profile = ConsensusProfile(5, 0.5, (8, 2), (2, 3), 2.0)
    probabilities, _ = synthetic_queries(profile, 20, np.random.default_rng(1).spawn(2)[0])
    counts, _ = synthetic_counts(profile, 100_000, 20, np.random.default_rng(1))
    assert probabilities.sum(axis=1) == pytest.approx(1)
    sd = np.sqrt(probabilities * (1 - probabilities) / 100_000)
    assert (np.abs(counts / 100_000 - probabilities) <= 5 * sd + 1e-9).all()


def test_teachers_are_right_as_often_as_the_two_betas_say():
    profile = ConsensusProfile(5, 0.25, (8, 2), (2, 3), 2.0)
    probabilities, true = synthetic_queries(profile, 50_000, np.random.default_rng(0))
    right = probabilities[np.arange(len(true)), true]
    assert right.mean() == pytest.approx(0.25 * 0.8 + 0.75 * 0.4, abs=0.01)


@pytest.mark.parametrize("n_teachers", [1, 100, 5000])
def test_ensembles_of_any_size_are_asked_the_same_queries(glyph, n_teachers):
    counts, labels = synthetic_counts(glyph, n_teachers, 50, np.random.default_rng(3))
    _, others = synthetic_counts(glyph, 7, 50, np.random.default_rng(3))
    again, _ = synthetic_counts(glyph, n_teachers, 50, np.random.default_rng(3))
    assert counts.shape == (50, 150)
    assert (counts.sum(axis=1) == n_teachers).all()
    assert (labels == others).all()
    assert (counts == again).all()
    assert Votes(150, labels, counts=counts).n_teachers == n_teachers


@pytest.mark.parametrize("confusion", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_extreme_profiles_give_proper_votes(confusion, n_classes):
    profile = ConsensusProfile(n_classes, 0.5, (1e3, 1e-3), (1e-3, 1e3), confusion, 100, 0.5)
    counts, labels = synthetic_counts(profile, 10, 500, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 10).all()
    assert set(labels.tolist()) <= set(range(n_classes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_classes": 1}, "n_classes = 1: must be an integer >= 2"),
        ({"n_classes": 2.5}, "n_classes = 2.5: must be an integer"),
        ({"easy_share": 1.1}, r"easy_share = 1.1: must be in \[0, 1\]"),
        ({"easy_share": float("nan")}, "easy_share = nan"),
        ({"easy": (1, 0)}, r"easy = \(1, 0\): must be two positive numbers"),
        ({"hard": (1,)}, r"hard = \(1,\): must be two positive numbers"),
        ({"confusion": 0}, "confusion = 0: must be a finite number > 0"),
        ({"confusion": float("inf")}, "confusion = inf: must be a finite number > 0"),
        ({"imbalance": 0.5}, "imbalance = 0.5: must be a finite number >= 1"),
        ({"mislabelled": -0.1}, r"mislabelled = -0.1: must be in \[0, 1\]"),
    ],
)
def test_profiles_out_of_range_are_refused(settings, changes, message):
    fields = {key: value for key, value in settings.items() if key != "n_queries"}
    with pytest.raises(ValueError, match=message):
        ConsensusProfile(**(fields | changes))


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_numbers_that_are_none_are_refused(glyph, wrong):
    with pytest.raises(ValueError, match=r"n_teachers = .*: must be an integer >= 1"):
        synthetic_counts(glyph, wrong, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"n_queries = .*: must be an integer >= 1"):
        synthetic_counts(glyph, 10, wrong, np.random.default_rng(0))


def test_the_commonest_class_is_as_frequent_as_stated_and_the_others_alike():
    profile = ConsensusProfile(5, 0.5, (8, 2), (2, 3), 2.0, commonest=0.6)
    assert profile.frequencies.tolist() == pytest.approx([0.6, 0.1, 0.1, 0.1, 0.1])
    _, labels = synthetic_counts(profile, 3, 20_000, np.random.default_rng(0))
    found = np.bincount(labels, minlength=5) / 20_000
    assert np.abs(found - profile.frequencies).max() < 0.02
    for wrong, more in ((0.1, {}), (1.0, {}), (0.6, {"imbalance": 2.0})):
        with pytest.raises(ValueError, match=f"commonest = {wrong}: must be at least 1 / 5"):
            ConsensusProfile(5, 0.5, (8, 2), (2, 3), 2.0, commonest=wrong, **more)


def test_absent_ballots_are_missing_as_often_as_stated_and_dealt_out():
    """And without any the votes are those that they were, to the byte."""
    stated = {"easy_share": 0.8, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0}
    none, some = (ConsensusProfile(4, **stated, absent_share=share) for share in (0.0, 0.25))
    full, labels = synthetic_counts(none, 40, 3000, np.random.default_rng(0))
    there, same = synthetic_counts(some, 40, 3000, np.random.default_rng(0))
    assert np.array_equal(labels, same)
    assert (there.sum(axis=1) == 40).all()
    rows = np.arange(3000)
    right = full[rows, labels].mean() / 40
    expected = 0.75 * right + 0.25 / 4
    assert there[rows, labels].mean() / 40 == pytest.approx(expected, abs=0.01)
    with pytest.raises(ValueError, match="absent_share = 1: must be in"):
        ConsensusProfile(4, **stated, absent_share=1)


@pytest.mark.parametrize(
    "known", [{}, {"commonest": 0.6}, {"absent_share": 0.1}, {"easy": [20, 2], "hard": (2, 2)}]
)
def test_what_the_file_tells_makes_no_profile_a_stated_one(known):
    assert is_assumed(ASSUMED_PROFILE | known)
    assert name_profile(ASSUMED_PROFILE | known) == "an assumed profile, not yours"


@pytest.mark.parametrize(
    "stated", [{"easy_share": 0.6}, {"easy": (20, 3)}, {"hard": (2, 3)}, {"confusion": 2}]
)
def test_how_teachers_agree_makes_it_the_stated_one(stated):
    assert not is_assumed(ASSUMED_PROFILE | stated)
    assert name_profile(ASSUMED_PROFILE | stated) == "the stated profile"


PROFILES = [
    ConsensusProfile(7, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=1.0),
    ConsensusProfile(7, easy_share=0.5, easy=(50, 1), hard=(3, 5), confusion=0.3),
    ConsensusProfile(4, easy_share=0.9, easy=(30, 3), hard=(1, 3), confusion=20.0),
]


def votes_of(profile, teachers, queries, seed=1):
    return synthetic_counts(profile, teachers, queries, np.random.default_rng(seed))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_stated_profile_is_found_again(profile):
    found = fit_profile(*votes_of(profile, 250, 5000))
    assert found.easy_share == pytest.approx(profile.easy_share, abs=0.03)
    assert found.easy == pytest.approx(profile.easy, rel=0.12)
    assert found.hard == pytest.approx(profile.hard, rel=0.25)
    assert found.confusion == pytest.approx(profile.confusion, rel=0.1)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("teachers", "queries"), [(40, 300), (5, 1000), (11, 60)])
def test_the_profile_stated_is_not_likelier_than_the_one_that_is_found(profile, teachers, queries):
    """SciPy's beta-binomial, of right votes, in place of our own likelihood."""
    counts, labels = votes_of(profile, teachers, queries)
    right = counts[np.arange(queries), labels]

    def likelihood(one):
        easy, hard = (betabinom.pmf(right, teachers, *shape) for shape in (one.easy, one.hard))
        return np.log(one.easy_share * easy + (1 - one.easy_share) * hard).sum()

    found = fit_profile(counts, labels)
    assert likelihood(found) >= likelihood(profile) - 1e-2  # four digits of the parameters
    assert sum(found.easy) > 0
    assert found.easy[0] / sum(found.easy) >= found.hard[0] / sum(found.hard)


def test_another_number_of_teachers_gives_the_same_profile_up_to_chance():
    few, many = (fit_profile(*votes_of(PROFILES[0], teachers, 5000)) for teachers in (30, 300))
    assert few.easy_share == pytest.approx(many.easy_share, abs=0.05)
    assert few.hard == pytest.approx(many.hard, rel=0.3)


def test_queries_without_a_label_are_left_out_and_two_classes_say_nothing_of_confusion():
    counts, labels = votes_of(PROFILES[0], 40, 200)
    unknown = np.concatenate([labels, np.full(50, -1)])
    more = np.concatenate([counts, counts[:50]])
    assert fit_profile(more, unknown) == fit_profile(counts, labels)
    two = ConsensusProfile(2, easy_share=0.7, easy=(20, 2), hard=(2, 2), confusion=9.0)
    assert fit_profile(*votes_of(two, 40, 300)).confusion == 1.0


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
    counts, labels = votes_of(PROFILES[0], 60, 2000)
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
