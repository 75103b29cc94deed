"""Labels of sampled voters: what is drawn has the law that is charged, and errors are one line."""

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, NeighboringRelation, PoissonSampledDpEvent
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from scipy.stats import chisquare

from private_ensembles import release_sampled, sampled_epsilon, sampled_scale
from private_ensembles.api import sampling
from private_ensembles.noise.sources import Secure, Seeded

from ..accounting.adaptive.sampled_voters import label_of, label_of_nearest

OPTIONS = {"rate": 0.1, "queries": 30, "delta": 1e-5, "teachers": 50}


@pytest.mark.parametrize("noise", ["secure", "reproducible"])
@pytest.mark.parametrize(
    ("mechanism", "scale", "votes", "classes", "nearest"),
    [
        ("gnmax", 1.2, (0, 0, 1), 2, None),
        ("gnmax", 0.7, (2, 0, 0, 1), 3, None),
        ("gnmax", 0.7, (2, 0, 0, 1), 3, 2),
        ("exponential", 0.8, (1, 1, 0), 2, None),
        ("exponential", 0.8, (1, 1, 0), 2, 1),
    ],
)
def test_labels_have_the_law_of_every_sample_and_a_twin_has_not(
    mechanism, scale, votes, classes, nearest, noise
):
    draws, rate = 4000, 0.4
    source = Secure() if noise == "secure" else Seeded(np.random.default_rng(7))
    rows = np.tile(votes, (draws, 1))
    drawn = sampling._sampled_counts(rows, rate, classes, nearest, source)
    labels = sampling._draw(mechanism, drawn, scale, source)
    if nearest is None:
        counts = tuple(votes.count(label) for label in range(classes))
        law = label_of(mechanism, scale, rate, counts)
    else:
        law = label_of_nearest(mechanism, scale, rate, votes, nearest, classes)
    seen = np.bincount(labels, minlength=classes)
    expected = draws * np.array([float(p) for p in law])
    assert chisquare(seen, expected).pvalue > 1e-5
    if nearest is None:  # of labels with half the noise the same test says so
        twin = label_of(mechanism, scale / 2, rate, counts)
        assert chisquare(draws * np.array([float(p) for p in twin]), expected).pvalue < 1e-5


@pytest.mark.parametrize("source", [Secure(), Seeded(np.random.default_rng(1))])
def test_a_sample_is_fresh_for_every_query_and_voter(source):
    votes = np.tile([0, 1], (5000, 1))
    counts = sampling._sampled_counts(votes, 0.3, 2, None, source)
    seen = np.bincount(counts[:, 0] + 2 * counts[:, 1], minlength=4)
    assert chisquare(seen, 5000 * np.array([0.49, 0.21, 0.21, 0.09])).pvalue > 1e-5
    assert (sampling._sampled_counts(votes, 1.0, 2, None, source) == 1).all()


def test_missing_votes_are_dealt_to_the_classes_in_turn():
    votes = np.array([[2, 2]])
    counts = sampling._sampled_counts(votes, 1.0, 3, 7, Secure())
    assert counts.tolist() == [[2, 2, 3]]
    nearest = sampling._sampled_counts(np.array([[1, 0, 0]]), 1.0, 3, 1, Secure())
    assert nearest.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize("mechanism", ["gnmax", "exponential"])
@pytest.mark.parametrize(
    "case",
    [
        {"adjacency": "add_remove"},
        {"adjacency": "replace_one"},
        {"adjacency": "add_remove", "nearest": 9},
        {"adjacency": "replace_one", "classes": 4},
    ],
)
def test_the_scale_keeps_the_budget_and_five_per_cent_less_does_not(mechanism, case):
    scale = sampled_scale(mechanism, epsilon=0.3, **OPTIONS, **case)
    bounds = sampled_epsilon(mechanism, scale, **OPTIONS, **case)
    assert bounds.lower <= bounds.upper
    assert 0.29 < bounds.upper <= 0.301
    assert (bounds.lower > 0) == ("nearest" not in case)
    assert sampled_epsilon(mechanism, 0.95 * scale, **OPTIONS, **case).upper > 0.3


@pytest.mark.parametrize(("classes", "share"), [(2, 0.58), (10, 0.82)])
def test_labels_need_less_noise_than_their_counts_by_the_best_account_of_these(classes, share):
    """docs/sampled-teachers.md has the table: a fifth less, and in two classes another 29 %."""
    event = PoissonSampledDpEvent(0.2, GaussianDpEvent(7.63))
    counts = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE, 1e-4).compose(event, 100)
    assert 0.99 < counts.get_epsilon(1e-5) < 1.01
    case = {"rate": 0.2, "queries": 100, "delta": 1e-5, "teachers": 250, "classes": classes}
    scale = sampled_scale("gnmax", epsilon=1, adjacency="add_remove", **case)
    assert scale < share * 7.63
    bounds = sampled_epsilon("gnmax", 7.63, adjacency="add_remove", **case)
    assert bounds.lower < bounds.upper < 0.8


def test_noise_is_not_looked_for_where_the_sample_is_enough():
    options = OPTIONS | {"rate": 1e-8}
    scale = sampled_scale("gnmax", epsilon=1, adjacency="add_remove", **options)
    assert scale == 0.05
    assert sampled_epsilon("gnmax", scale, adjacency="add_remove", **options).upper == 0


def test_how_many_voters_there_are_does_not_enter_what_a_coming_voter_costs():
    options = {"mechanism": "gnmax", "scale": 3.0, "rate": 0.2, "delta": 1e-5, "classes": 2}
    options |= {"adjacency": "add_remove", "noise": "reproducible"}
    few, many = (
        release_sampled(np.zeros((5, voters), dtype=int), **options) for voters in (3, 300)
    )
    assert few.epsilon == many.epsilon
    assert few.secure is False
    assert (
        few.labels.tolist()
        == release_sampled(np.zeros((5, 3), dtype=int), **options).labels.tolist()
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise": "no"}, "noise = 'no': must be one of"),
        ({"seed": 1}, "seed = 1: must be None for noise = secure"),
        ({"mechanism": "lnmax"}, "mechanism = 'lnmax': must be one of gnmax, exponential"),
        ({"mechanism": "exponential", "classes": 3}, "exponential is drawn for two classes only"),
        ({"votes": [0, 1]}, r"votes: must be integers \(queries, voters\)"),
        ({"votes": [[0.5]]}, r"votes: must be integers \(queries, voters\)"),
        ({"votes": [[0, -1]]}, r"votes: must be in 0, ..., 1; every voter must vote"),
        ({"votes": [[0, 2]]}, r"votes: must be in 0, ..., 1; every voter must vote"),
        ({"rate": 2.0}, r"rate = 2.0: must be in \(0, 1\]"),
        ({"scale": -1.0}, "scale = -1.0: must be a finite number > 0"),
        ({"classes": 1}, "classes = 1: must be an integer >= 2"),
    ],
)
def test_what_is_refused(changed, message):
    options = {"votes": [[0, 1]], "mechanism": "gnmax", "scale": 2.0, "rate": 0.5, "delta": 1e-5}
    options |= {"adjacency": "add_remove", "classes": 2} | changed
    with pytest.raises(ValueError, match=message):
        release_sampled(options.pop("votes"), **options)


@pytest.mark.parametrize("queries", [0, 10_001])
def test_how_many_queries_are_charged(queries):
    options = {"rate": 0.1, "queries": queries, "delta": 1e-5, "teachers": 5}
    with pytest.raises(ValueError, match=f"queries = {queries}: must be an integer"):
        sampled_epsilon("gnmax", 3.0, adjacency="add_remove", **options)
    with pytest.raises(ValueError, match=f"queries = {queries}: must be an integer"):
        sampled_scale("gnmax", epsilon=1, adjacency="add_remove", **options)
