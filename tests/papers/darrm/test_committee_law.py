"""Committees: what all labels cost, how often they are right, and that one committee gives all."""

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.audit import exact_epsilon
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner import ranking
from private_ensembles.labels.release_gate import (
    draw_outcomes,
    release_from_counts,
    release_from_votes,
)
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.darrm.committee_law import Members
from private_ensembles.papers.darrm.mathematics.committee import plurality_probabilities
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling
from tests.papers.lanes import slow_but

COMMITTEE = load_mechanism("committee")
SHARED = Task(
    Ensemble(11, 2, private=Budget(0.2, 1e-5)),
    Budget(1.0, 1e-3),
    Wanted(1, 10_000),
    protection=Protection.shared(adjacency="add_remove"),
)


@pytest.mark.parametrize("members", [1, 2, 3, 4, 7, 11])
def test_a_label_is_right_as_often_as_with_gamma_by_subsampling(members):
    chances = COMMITTEE.law.distribution(both_counts(11), Members(members, 1))[:, 1]
    above = np.arange(12) > 5
    gamma = gamma_subsampling(11, members)
    np.testing.assert_allclose(chances, np.where(above, 1 + gamma, 1 - gamma) / 2, atol=1e-15)


def test_many_teachers_and_classes_add_up_to_one_and_agree_with_drawn_committees():
    counts = np.random.default_rng(0).multinomial(250, np.arange(1, 11) / 55, size=20)
    chances = plurality_probabilities(counts, 20)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-12)
    copies = np.tile(counts[:1], (20_000, 1))
    drawn = COMMITTEE.law.draw(copies, Members(20, 1), SeededNoise(np.random.default_rng(1)))
    shares = np.bincount(drawn, minlength=10) / 20_000
    assert np.abs(shares - chances[0]).max() < np.sqrt(np.log(2e10) / 40_000)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_one_label_costs_what_ten_thousand_do(n_classes):
    costs = set()
    for labels in (1, 10_000):
        task = replace(
            SHARED,
            ensemble=replace(SHARED.ensemble, classes=n_classes),
            wanted=replace(SHARED.wanted, labels=labels),
        )
        parameters = COMMITTEE.calibrate(task)
        costs.add((COMMITTEE.cost(task, parameters), parameters.members))
    ((cost, members),) = costs
    assert cost.proven == optimal_composition(0.2, 1e-5, members, 1e-3).epsilon <= 1.0
    # One member more, or two of two classes, would be too many.
    more = members + 1 + (n_classes == 2)
    assert optimal_composition(0.2, 1e-5, more, 1e-3).epsilon > 1.0


def test_all_teachers_sit_on_it_where_the_budget_pays_for_them():
    assert (
        COMMITTEE.calibrate(replace(SHARED, budget=replace(SHARED.budget, epsilon=2.2))).members
        == 11
    )
    assert (
        COMMITTEE.calibrate(replace(SHARED, ensemble=replace(SHARED.ensemble, teachers=1))).members
        == 1
    )


# What is hidden of one teacher, as the worst (epsilon, Delta)-DP pair has it: seen on the first
# data set only, a randomised bit, seen on the second only.
def hidden_laws(epsilon, Delta):
    truth = (1 - Delta) / (1 + np.exp(-epsilon))
    first = np.array([Delta, truth, 1 - Delta - truth, 0.0])
    return first, first[::-1]


@dataclass
class Chosen:
    """A source of noise of which the committee is known; nothing ties."""

    members: np.ndarray

    def subsets(self, number, size, most):
        assert (number, most) == (1, len(self.members))
        return self.members[None]

    def argmax_fair_ties(self, counts):
        return counts.argmax(axis=1)


def joint_laws(answers, members, epsilon, Delta):
    """Pr[all labels] on both data sets by committee, (committees, 2, 2^Q).

    answers: (K, 4, Q), what each teacher votes by what is hidden of it: it is trained once.
    """
    K, _, Q = answers.shape
    hidden = np.array(list(itertools.product(range(4), repeat=K)))
    votes = answers[np.arange(K), hidden].transpose(0, 2, 1).reshape(-1, K)
    every_vote = Votes(2, np.full(len(votes), -1), votes)
    weights = np.stack([law[hidden].prod(axis=1) for law in hidden_laws(epsilon, Delta)])
    laws = []
    for chosen in itertools.combinations(range(K), members):
        labels = draw_outcomes(COMMITTEE, every_vote, Members(members, Q), Chosen(np.array(chosen)))
        outcome = labels.reshape(-1, Q) @ (1 << np.arange(Q))
        laws.append([np.bincount(outcome, law, 1 << Q) for law in weights])
    return np.array(laws)


def delta_of(pair, epsilon):
    return max(np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in (pair, pair[::-1]))


@pytest.mark.parametrize(
    ("K", "members", "Q"),
    slow_but(
        (
            (K, members, Q)
            for K, members in ((3, 1), (3, 3), (4, 3), (5, 3), (5, 1))
            for Q in (2, 3)
        ),
        *((3, 1, 3), (3, 3, 2), (4, 3, 3)),
    ),
)
def test_joint_labels_of_teachers_that_share_data_keep_to_the_claim(K, members, Q):
    """Known or not who sits on it, for many ways in which teachers may answer."""
    epsilon, Delta = 0.4, 0.02
    delta = 1 - (1 - Delta) ** members + 0.01
    claimed = optimal_composition(epsilon, Delta, members, delta).epsilon
    generator = np.random.default_rng([K, members, Q])
    for _ in range(20):
        answers = generator.integers(0, 2, (K, 4, Q))
        answers[generator.random(K) < 0.3, :] = generator.integers(0, 2, Q)  # same whatever is seen
        laws = joint_laws(answers, members, epsilon, Delta)
        np.testing.assert_allclose(laws.sum(axis=2), 1)
        for pair in (*laws, laws.mean(axis=0)):
            assert delta_of(pair, claimed) <= delta + 1e-14
            assert delta_of(pair, members * epsilon) <= members * Delta + 1e-14


def deciding(members):
    """In each of so many queries another member decides, all others are split evenly."""
    answers = np.zeros((members, 4, members), int)
    for q in range(members):
        others = [i for i in range(members) if i != q]
        answers[others[: len(others) // 2], :, q] = 1
        answers[q, :, q] = [1, 1, 0, 0]
    return answers


def test_the_claim_is_attained_and_more_members_than_are_paid_for_are_caught():
    laws = joint_laws(deciding(3), 3, 0.4, 0.0)
    exact = exact_epsilon(laws[0], [(0, 1)], 0.0, relative_error=1e-12)
    assert exact == pytest.approx(3 * 0.4, rel=1e-9)
    delta = 1 - 0.98**3 + 0.01
    claimed = optimal_composition(0.4, 0.02, 3, delta).epsilon
    # Half the noise: teachers of twice the epsilon, and the mechanism's own twin.
    twice = joint_laws(deciding(3), 3, 0.8, 0.02)[0]
    assert delta_of(twice, claimed) > delta
    members = COMMITTEE.law.scale_noise(Members(3, 5), 0.6).members
    assert members == 5
    assert delta_of(joint_laws(deciding(members), members, 0.4, 0.02)[0], claimed) > delta


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(np.random.default_rng(0))])
def test_the_same_members_answer_everything(noise):
    """Every teacher has a vote of its own, so that a committee of one shows who sits on it."""
    K = 5
    votes = Votes(K, np.full(6, -1), np.tile(np.arange(K), (6, 1)))
    seen = Counter()
    for _ in range(100):
        labels = release_from_votes(COMMITTEE, votes, Members(1, 4), noise)
        assert set(labels[4:]) == {-1}
        (member,) = set(labels[:4])
        seen[member] += 1
    assert set(seen) == set(range(K))
    assert max(abs(n - 20) for n in seen.values()) < 30  # 7.5 standard deviations
    with pytest.raises(ValueError, match="needs each teacher's votes, not counts"):
        draw_outcomes(
            COMMITTEE, Votes(2, np.array([0]), counts=np.array([[3, 2]])), Members(1, 1), noise
        )
    with pytest.raises(ValueError, match="counts of 2 queries: a committee needs the votes"):
        release_from_counts(COMMITTEE, np.array([[3, 2], [1, 4]]), Members(1, 2), noise)


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(np.random.default_rng(0))])
def test_ties_are_broken_by_lot(noise):
    votes = Votes(3, np.full(600, -1), np.tile([0, 2], (600, 1)))
    labels = release_from_votes(COMMITTEE, votes, Members(2, 600), noise)
    assert set(labels) == {0, 2}
    assert abs((labels == 0).sum() - 300) < 100


def test_planner_has_it_where_teachers_share_data_for_any_number_of_queries_and_classes():
    counts = np.random.default_rng(0).multinomial(11, [0.7, 0.2, 0.1], size=50)
    task = replace(
        SHARED,
        ensemble=replace(SHARED.ensemble, classes=3),
        wanted=replace(SHARED.wanted, labels=10_000),
    )
    plans = ranking.rank_mechanisms(task, counts, counts.argmax(axis=1))
    assert [plan.mechanism for plan in plans if plan.refusal is None] == ["committee"]
    chances = plurality_probabilities(counts, plans[0].parameters.members)
    right = chances[np.arange(50), counts.argmax(axis=1)].mean()
    assert plans[0].correct == pytest.approx(10_000 * right)
    assert plans[0].answers == pytest.approx(10_000)
    assert plans[0].epsilon <= task.budget.epsilon


def every_committee(row, members):
    """Pr[class wins], by listing all committees of teachers with these counts."""
    votes = [label for label, n in enumerate(row) for _ in range(n)]
    won = [Fraction(0)] * len(row)
    chosen = list(itertools.combinations(votes, members))
    for committee in chosen:
        counts = [committee.count(label) for label in range(len(row))]
        tied = [label for label, n in enumerate(counts) if n == max(counts)]
        for label in tied:
            won[label] += Fraction(1, len(tied) * len(chosen))
    return [float(chance) for chance in won]


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_accuracy_is_that_of_all_committees(n_classes):
    generator = np.random.default_rng(n_classes)
    for _ in range(40):
        K = int(generator.integers(1, 10))
        row = generator.multinomial(K, generator.dirichlet(np.ones(n_classes)))
        members = int(generator.integers(1, K + 1))
        chances = plurality_probabilities(row[None], members)[0]
        assert chances == pytest.approx(every_committee(row, members), abs=1e-14)
