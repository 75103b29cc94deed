"""With secure noise no mechanism costs more than it says: every outcome of the noise is listed.

Nothing here knows how a mechanism draws. Its law's `draw` is followed to every end of what it asks
of samplers, so that what is added up is the very law that is released (`drawn`). New mechanisms are
tested by themselves.
"""

import itertools
import math

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import refusal, release_from_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.pate.configured_noise import configured_parameters
from tests.labels.drawn import Followed, noise_law

# Of each of some twenty mechanisms: well over 100 in all, or 200 of each, the same ones first.
SETTINGS = [7, pytest.param(200, marks=pytest.mark.slow)]
# Of sums in floating point, each of fewer than 1e6 positive numbers of sum 1.
ROUNDING = 1e-13


def hockey_stick(p, q, epsilon):
    return float(np.maximum(p - math.exp(min(epsilon, 600.0)) * q, 0).sum())


def sequences(p, q, queries, answers):
    """Both laws of the outcomes of so many queries, stopped after so many answers."""
    here, there = [], []

    def go(left, paid, a, b):
        if left == 0 or paid == 0:
            here.append(a)
            there.append(b)
            return
        for outcome, (x, y) in enumerate(zip(p, q, strict=True)):
            go(left - 1, paid - (outcome > 0), a * x, b * y)

    go(queries, answers, 1.0, 1.0)
    return np.array(here), np.array(there)


def all_noise_delta(moved, epsilon):
    """Of all noisy counts together, each moved by 1: moved lists (how many, sigma)."""
    laws = []
    for counts, sigma in moved:
        x, one = noise_law(sigma)
        law = np.ones(1)
        for _ in range(counts):
            law = np.convolve(law, one)
        s = np.arange(len(law)) + counts * x[0]
        laws.append((law, (2 * s + counts) / (2 * sigma**2)))
    found = 0.0
    (first, losses), rest = laws[0], laws[1:] or [(np.ones(1), np.zeros(1))]
    other, other_losses = rest[0]
    for chance, loss in zip(first, losses, strict=True):
        if chance > 1e-25:
            left = np.minimum(epsilon - loss - other_losses, 0.0)
            found += chance * float(other @ -np.expm1(left))
    return found


def neighbours(n_teachers, n_classes, moved, generator, most=14):
    """Pairs of histograms, in both orders; of three classes some, those of close votes first."""
    if n_classes == 2:
        firsts = [(n_teachers - ones, ones) for ones in range(n_teachers + 1)]
    else:
        firsts = [
            (a, b, n_teachers - a - b)
            for a in range(n_teachers + 1)
            for b in range(n_teachers + 1 - a)
        ]
        generator.shuffle(firsts)
        firsts = sorted(firsts, key=lambda row: sorted(row)[-1] - sorted(row)[-2])
    pairs = [
        (row, tuple(n - moved * (i == a) + moved * (i == b) for i, n in enumerate(row)))
        for row in firsts[:most]
        for a, b in itertools.permutations(range(n_classes), 2)
        if row[a] >= moved
    ]
    return pairs + [(there, here) for here, there in pairs]


def teacher_corners(epsilon, Delta):
    """Pr[a teacher says 1] on both data sets at the ends of what (epsilon, Delta)-DP allows."""
    growth = math.exp(epsilon)
    high, low = (growth + Delta) / (growth + 1), (1 - Delta) / (growth + 1)
    half = [(0.0, 0.0), (Delta, 0.0), (1.0, 1.0), (1.0, 1 - Delta), (high, low)]
    return half + [(q, p) for p, q in half if p != q]


def teachers_delta(label_one, corners, epsilon):
    """The largest delta over all private teachers, every one of which may change its vote."""
    worst, K = 0.0, len(label_one) - 1
    for chosen in itertools.combinations_with_replacement(corners, K):
        ones = []
        for side in (0, 1):
            law = np.ones(1)
            for pair in chosen:
                law = np.convolve(law, [1 - pair[side], pair[side]])
            ones.append(float(law @ label_one))
        p, q = (np.array([1 - one, one]) for one in ones)
        worst = max(worst, hockey_stick(p, q, epsilon))
    return worst


def votes_delta(K, corners, epsilon):
    """The same of all votes themselves, as any number of labels may tell."""
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(corners, K):
        laws = []
        for side in (0, 1):
            law = np.ones(1)
            for pair in chosen:
                law = np.outer(law, [1 - pair[side], pair[side]]).ravel()
            laws.append(law)
        worst = max(worst, hockey_stick(*laws, epsilon))
    return worst


def random_setting(mechanism, generator):
    """A task with secure noise, parameters, and how many votes a record moves; None: refused."""
    size = {
        "epsilon": float(np.exp(generator.uniform(np.log(0.3), np.log(12)))),
        "delta": float(10 ** generator.uniform(-6, -1.3)),
        "queries": int(generator.integers(1, 5)),
        "n_teachers": int(generator.integers(1, 8)) * 2 + 1,
        "n_classes": int(generator.choice([2, 2, 3])),
        "secure": True,
    }
    size["labels"] = int(generator.integers(1, size["queries"] + 1))
    if not mechanism.guarantee.hides_votes:  # every assignment of corners is listed
        size["n_teachers"] = int(generator.choice([3, 5]))
        size["privacy_model"] = sorted(mechanism.guarantee.privacy_models)[0]
        size["teacher_epsilon"] = size["epsilon"] * float(generator.uniform(0.1, 0.9))
        size["teacher_Delta"] = size["delta"] * float(generator.choice([0, 0.05]))
    if mechanism.name == "dpbag":
        noise = BaggingNoise(n_shards=3, k=3, rate=float(generator.uniform(0.05, 1.5)))
        one_label = {"n_teachers": 9, "n_classes": 2, "queries": 1, "labels": 1}
        return Task.from_dict({**size, **one_label}), noise, noise.k
    if mechanism.entry.offer is None:
        confident = {
            "threshold": float(generator.uniform(-2, size["n_teachers"] + 2)),
            "sigma1": float(generator.uniform(0.5, 3)),
            "sigma2": float(generator.uniform(0.5, 2.5)),
        }
        sections = {"lnmax": {"scale": float(generator.uniform(0.3, 6))}, "confident": confident}
        sections["student_score"] = float(generator.uniform())
        size |= {"queries": 1, "labels": 1, "n_classes": 2}
        parameters = configured_parameters(mechanism, sections, 2)
        if parameters is None and mechanism.name == "gnmax":
            parameters = configured_parameters(mechanism, sections, 3)
        assert parameters is not None, f"{mechanism.name}: say here which parameters to test"
        return Task.from_dict({**size}), parameters, 1
    for change in ({}, {"n_classes": 2}, {"n_classes": 2, "queries": 1, "labels": 1}):
        task = Task.from_dict({**size, **change})
        if mechanism.refusal(task) is None:
            free = {
                key: float(generator.uniform(max(low, 0.05), high))
                for key, (low, high) in mechanism.account.free_parameters.items()
            }
            return task, mechanism.calibrate(task, **free), 1
    return None


NAMES = [entry.name for entry in registry.ENTRIES if entry.guarantee.holds]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", NAMES)
def test_delta_of_every_outcome_is_at_most_the_claimed_one(name, settings, monkeypatch):
    mechanism, followed = load_mechanism(name), Followed(monkeypatch)
    generator = np.random.default_rng([15, *name.encode()])
    checked = 0
    while checked < settings:
        setting = random_setting(mechanism, generator)
        if setting is None:
            continue
        task, parameters, moved = setting
        cost = mechanism.cost(task, parameters)
        epsilon = min(cost.claimed, cost.proven)
        bound = task.budget.delta + ROUNDING
        assert refusal(mechanism, parameters, task.ensemble.classes, secure=True) is None
        checked += 1
        if not mechanism.guarantee.hides_votes:
            # Here 1 - p loses digits of a small probability, which e^epsilon magnifies.
            lost = 8 * 2.0**-53 * math.exp(epsilon)
            assert private_teachers(mechanism, followed, task, parameters, epsilon) <= bound + lost
            continue
        laws, worst = {}, (0.0, None)
        for pair in neighbours(task.ensemble.teachers, task.ensemble.classes, moved, generator):
            for row in pair:
                if row not in laws:
                    laws[row] = np.array(followed.law(mechanism.law, parameters, row), dtype=float)
                    assert abs(laws[row].sum() - 1) < 1e-12
            p, q = (laws[row] for row in pair)
            delta = hockey_stick(p, q, epsilon / parameters.labels)
            worst = max(worst, (delta, pair), key=lambda dearest: dearest[0])
        queries = getattr(parameters, "queries", parameters.labels)
        if worst[1] is not None:
            p, q = (laws[row] for row in worst[1])
            both = sequences(p, q, queries, parameters.labels)
            assert hockey_stick(*both, epsilon) <= bound
        # What is noted of the last query: one count of a threshold moves, two of a label.
        noise = [
            (queries if np.ndim(counts) == 1 else 2 * parameters.labels, sigma)
            for sampler, sigma, counts in followed.gaussian
            if sampler == "whole"
        ]
        if noise:
            assert all_noise_delta(noise, epsilon) <= bound


def private_teachers(mechanism, followed, task, parameters, epsilon):
    """Of one teacher that changes on disjoint shards, of all of them where data are shared."""
    K, teacher = task.ensemble.teachers, task.teacher_cost()
    corners = teacher_corners(teacher.epsilon, teacher.delta)
    if "shared_data" not in mechanism.guarantee.privacy_models:
        return votes_delta(1, corners, epsilon)
    if task.wanted.labels > 1:
        return votes_delta(getattr(parameters, "members", K), corners, epsilon)
    laws = [followed.law(mechanism.law, parameters, (K - ones, ones)) for ones in range(K + 1)]
    return teachers_delta(np.array([float(law[2]) for law in laws]), corners, epsilon)


def test_continuous_accounts_would_fail_here():
    """The test can tell: GNMax's sigma for continuous noise exceeds delta on the lattice."""
    task = Task(Ensemble(5, 2), Budget(20.0, 1e-6), Wanted(1))
    parameters = load_mechanism("gnmax_analytic").calibrate(task)
    assert all_noise_delta([(2, parameters.sigma)], 20.0) > 1.9 * task.budget.delta
    with pytest.raises(ValueError, match="noise = secure: gnmax_analytic was calibrated for cont"):
        release_from_counts(
            load_mechanism("gnmax_analytic"), np.array([[3, 2]]), parameters, SecureNoise()
        )


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_a_release_refuses_noise_of_which_its_parameters_prove_nothing(name):
    """Parameters for continuous noise either serve secure noise as they are, or are refused."""
    mechanism = load_mechanism(name)
    task = Task(Ensemble(5, 2, private=Budget(0.1, 0.0)), Budget(3.0, 1e-3), Wanted(4))
    if mechanism.refusal(task):
        task = Task(Ensemble(5, 2, private=Budget(0.1, 0.0)), Budget(3.0, 1e-3), Wanted(1))
    parameters = mechanism.calibrate(task)
    counts = np.array([[3, 2]] * 4)
    release_from_counts(mechanism, counts, parameters, SeededNoise(np.random.default_rng(0)))
    if refusal(mechanism, parameters, 2, secure=True) is None:
        assert release_from_counts(mechanism, counts, parameters, SecureNoise()).shape == (4,)
        # Labels that are charged for what they release may cost less than their noisy counts.
        listed = getattr(parameters, "discrete_gaussian_counts", ())
        if listed and mechanism.entry.offer.analysis != "label":
            noise = [(move.counts, move.sigma) for move in listed]
            assert all_noise_delta(noise, task.budget.epsilon) <= task.budget.delta
        return
    with pytest.raises(ValueError, match=f"noise = secure: {name} "):
        release_from_counts(mechanism, counts, parameters, SecureNoise())


def test_a_false_claim_is_not_released_with_secure_noise():
    from private_ensembles.papers.nzc.law import ImmutableNoise

    with pytest.raises(ValueError, match="nzc has a false privacy claim"):
        release_from_counts(
            load_mechanism("nzc"), np.array([[3, 2]]), ImmutableNoise(), SecureNoise()
        )
