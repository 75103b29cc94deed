"""The optimal label: where it stands among the others, one label and several."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.accounting.adaptive.account import adaptive_epsilon, curve
from private_ensembles.audit import epsilon_lower_bound
from private_ensembles.audit.histograms import both_counts
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.accounts import label
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.noise.streams import generator
from private_ensembles.optimal_label.objective import profile_weights, right_weights
from private_ensembles.optimal_label.sorted_histograms import tie_groups
from private_ensembles.planner.ranking import best_parameters, plan
from private_ensembles.votes.synthetic import ConsensusProfile, synthetic_counts

MECHANISM = load("optimal_label")
ONE = Task(epsilon=0.7, delta=1e-5, queries=1, labels=1, n_teachers=9, n_classes=4)


def right(name, task, accuracy):
    """Expected right labels of one label at a profile, exactly."""
    mechanism, groups = load(name), tie_groups(task.n_teachers, task.n_classes)
    free = {"accuracy": accuracy} if name == MECHANISM.name else {}
    p = np.empty(len(groups.sizes))
    p[groups.groups] = mechanism.law.distribution(groups.counts, mechanism.calibrate(task, **free))
    return right_weights(groups, accuracy) @ p


@pytest.mark.parametrize("accuracy", [0.4, 0.6, 0.9])
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0])
@pytest.mark.parametrize(("K", "C"), [(3, 3), (9, 4), (11, 10), (14, 5)])
def test_no_other_mechanism_is_right_more_often(K, C, epsilon, accuracy):
    """All that serve more than two classes, with noise for one label at the same budget."""
    task = replace(ONE, n_teachers=K, n_classes=C, epsilon=epsilon)
    best = right(MECHANISM.name, task, accuracy)
    others = [
        name
        for name in registry.offered()
        if load(name).entry.hides_votes
        and not load(name).entry.data_dependent
        and load(name).refusal(task) is None
    ]
    assert {"permute_and_flip", "exponential", "gnmax_exact"} <= set(others)
    for name in others:
        assert right(name, task, accuracy) <= best + 1e-9, name


@pytest.mark.parametrize("labels", [1, 12])
@pytest.mark.parametrize("K", [4, 11])
def test_two_classes_are_the_ladder_s(K, labels):
    ladder = load("ladder")
    task = replace(ONE, n_teachers=K, n_classes=2, labels=labels, queries=labels)
    parameters, wanted = MECHANISM.calibrate(task, accuracy=0.3), ladder.calibrate(task)
    both = both_counts(K)
    np.testing.assert_array_equal(
        MECHANISM.law.distribution(both, parameters), ladder.law.distribution(both, wanted)
    )
    assert MECHANISM.cost(task, parameters) == ladder.cost(task, wanted)
    assert parameters == MECHANISM.calibrate(task, accuracy=0.9)


def test_accuracies_are_rounded_to_tenths_above_chance():
    stated = (0.0, 0.26, 0.44, 0.9)
    rounded = [MECHANISM.calibrate(ONE, accuracy=accuracy).accuracy for accuracy in stated]
    assert rounded == [0.3, 0.3, 0.4, 0.9]
    three = replace(ONE, n_classes=3)
    assert MECHANISM.calibrate(three, accuracy=0.1).accuracy == 0.4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"n_teachers": 20, "n_classes": 10, "queries": 5, "labels": 5},
            "for at most 150 sorted histograms for several labels, not 530",
        ),
        ({"queries": 11_000, "labels": 11_000, "n_classes": 2}, "for at most 10,000 labels"),
    ],
)
def test_what_takes_too_long_is_refused(change, reason):
    assert MECHANISM.refusal(ONE) is None
    assert reason in MECHANISM.refusal(replace(ONE, **change))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_secure_labels_follow_the_distribution(n_classes):
    """Exact dice: ties, an empty class and a clear lead; and the audit's twin is caught."""
    task = replace(ONE, n_classes=n_classes, secure=True, delta=1e-3)
    assert MECHANISM.refusal(task) is None
    parameters, runs = MECHANISM.calibrate(task), 6000
    rows = np.array([[4, 4, 1, 0], [0, 3, 3, 3], [7, 1, 1, 0]])
    rows = rows if n_classes == 4 else both_counts(9)[[4, 5, 8]]
    for row, chances in zip(rows, MECHANISM.law.distribution(rows, parameters), strict=True):
        drawn = release(
            MECHANISM, np.tile(row, (runs, 1)), replace(parameters, labels=runs), Secure()
        )
        shares = np.bincount(drawn, minlength=n_classes) / runs
        # Hoeffding: twelve such shares are wrong together less than once in 1e7.
        assert np.abs(shares - chances).max() < np.sqrt(np.log(2.4e8) / (2 * runs))


def test_secure_labels_of_many_classes_keep_to_the_audit_and_a_twin_does_not():
    task = replace(ONE, n_teachers=5, n_classes=3, secure=True, delta=1e-3)
    parameters = MECHANISM.calibrate(task)
    honest, twin = (
        MECHANISM.law.audited(task, noise)
        for noise in (parameters, MECHANISM.law.less_noise(parameters, 0.5))
    )
    exact = honest.worst(task.delta * (1 + 1e-6))
    assert exact.epsilon <= task.epsilon * (1 + 1e-9)

    def lower(audited, at, name):
        return epsilon_lower_bound(
            audited.draw,
            at.first,
            at.second,
            task.delta,
            labels=audited.names,
            runs=60_000,
            generator=generator(0, "audit", "optimal_label", name),
            confidence=1 - 1e-6,
        ).value

    assert 0 < lower(honest, exact, "secure") <= exact.epsilon
    assert lower(twin, twin.worst(task.delta * 1.01), "twin") > exact.epsilon


@pytest.mark.parametrize("secure", [False, True])
def test_votes_are_drawn_where_all_are_too_many(monkeypatch, secure):
    """Audited over all histograms, its twin as well; and drawn as it says."""
    monkeypatch.setattr(label, "_MOST", 9)
    task = replace(ONE, n_teachers=12, n_classes=3, secure=secure, delta=1e-4)
    parameters = MECHANISM.calibrate(task, accuracy=0.6)
    assert parameters.drawn == 7
    assert MECHANISM.cost(task, parameters).proven == task.epsilon
    exact = MECHANISM.law.audited(task, parameters).worst(task.delta * (1 + 1e-6)).epsilon
    assert 0.8 * task.epsilon < exact <= task.epsilon * (1 + 1e-9)
    twin = MECHANISM.law.audited(task, MECHANISM.law.less_noise(parameters, 0.5))
    assert twin.at_least(task.delta) > 1.5 * task.epsilon
    row, runs = np.array([[7, 3, 2]]), 6000
    noise = Secure() if secure else Seeded(generator(0, "audit", "optimal_label", "drawn"))
    drawn = release(
        MECHANISM, np.repeat(row, runs, axis=0), replace(parameters, labels=runs), noise
    )
    chances = MECHANISM.law.distribution(row, parameters)[0]
    # Hoeffding, as above.
    shares = np.bincount(drawn, minlength=3) / runs
    assert np.abs(shares - chances).max() < np.sqrt(np.log(2.4e8) / (2 * runs))


def test_drawn_votes_beat_permute_and_flip_where_the_budget_is_small():
    """250 teachers, ten classes: below an epsilon of 0.04 or so (docs/best-label.md)."""
    profile = ConsensusProfile(10, 0.7, (20, 2), (2, 2), confusion=1)
    counts, labels = synthetic_counts(profile, 250, 300, np.random.default_rng(0))
    for epsilon, better in ((0.02, True), (0.1, False)):
        task = replace(ONE, n_teachers=250, n_classes=10, epsilon=epsilon, profile=profile)
        names = ["permute_and_flip", "optimal_label"]
        ranked = plan(replace(task, queries=300), counts, labels, names)
        assert (ranked[0].mechanism == "optimal_label") == better


def test_several_labels_are_charged_for_all_moves_and_cost_no_more_than_in_parts():
    """The account's pairs give what all pairs of the audit's histograms give."""
    task = replace(ONE, n_teachers=6, n_classes=3, queries=20, labels=20)
    parameters = MECHANISM.calibrate(task)
    assert (
        parameters.label_epsilon
        > 1.1 * MECHANISM.account.start.find(MECHANISM.law, task, 20).label_epsilon
    )
    assert MECHANISM.cost(task, parameters).proven <= task.epsilon
    family = MECHANISM.law.pairs(task, parameters)
    every = MECHANISM.law.audited(task, parameters).label_pairs()
    for labels in (1, 2, 20):
        ours, theirs = (adaptive_epsilon(each, labels, 1e-5) for each in (family, every))
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-3)
    assert adaptive_epsilon(family, 20, task.delta).lower > 0.95 * task.epsilon
    # Half the noise for several labels is caught.
    twin = MECHANISM.law.pairs(task, MECHANISM.law.less_noise(parameters, 0.5))
    assert curve(twin, 20, task.epsilon, task.delta).least_delta(task.epsilon) > task.delta


def test_of_a_profile_it_is_better_than_of_any_accuracy():
    """On the profile itself; a planner then searches nothing."""
    profile = ConsensusProfile(4, 0.5, (12, 2), (2, 2), confusion=0.5)
    task = replace(ONE, profile=profile, epsilon=0.4)
    groups = tie_groups(task.n_teachers, task.n_classes)
    weights = profile_weights(groups, profile)

    def worth(name, **free):
        mechanism, p = load(name), np.empty(len(weights))
        parameters = mechanism.calibrate(task, **free)
        p[groups.groups] = mechanism.law.distribution(groups.counts, parameters)
        return weights @ p

    best = worth(MECHANISM.name)
    by_accuracy = [worth(MECHANISM.name, accuracy=tenths / 10) for tenths in range(3, 10)]
    assert max(by_accuracy) < best < 1.02 * max(by_accuracy)
    assert max(worth("permute_and_flip"), worth("exponential"), worth("gnmax_exact")) < best
    assert MECHANISM.account.searched(task) == ()
    assert MECHANISM.account.searched(ONE) == ("accuracy",)
    counts, labels = synthetic_counts(profile, 9, 400, np.random.default_rng(1))
    chosen = best_parameters(MECHANISM, task, counts, labels)
    assert chosen == MECHANISM.calibrate(task)
    assert set(chosen.shown()) == {"label_epsilon", "label_delta", "labels"}
    assert MECHANISM.cost(task, chosen).proven == task.epsilon


def test_the_planner_chooses_the_accuracy_and_ranks_it_first():
    """Teachers who are right half of the time: no other mechanism comes near."""
    task = replace(ONE, epsilon=1.0, queries=300)
    counts = np.random.default_rng(0).multinomial(9, [0.5, 0.2, 0.2, 0.1], size=300)
    labels = np.zeros(300, dtype=int)
    ranked = plan(task, counts, labels, ["permute_and_flip", "optimal_label", "gnmax_exact"])
    assert ranked[0].mechanism == "optimal_label"
    chosen = best_parameters(MECHANISM, task, counts, labels).accuracy
    values = {
        tenths / 10: MECHANISM.law.expected(
            counts, labels, task, MECHANISM.calibrate(task, accuracy=tenths / 10)
        )[1]
        for tenths in range(3, 10)
    }
    assert values[chosen] == max(values.values())
