"""With secure noise no mechanism costs more than it says: every outcome of the noise is listed.

Nothing here knows how a mechanism draws. Its law's `draw` is run on as many copies of a query as
the draws have outcomes, with samplers that hand out one outcome each instead of drawing, so that
what is added up is the very law that is released. New mechanisms are tested by themselves.
"""

import itertools
import math

import numpy as np
import pytest

from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.laws.bagging import BaggingNoise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.release import refusal, release
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise import secure
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.papers.pate.given_noise import at_noise

from .drawn import continuous_label

# Of each of some twenty mechanisms: well over 100 in all, or 200 of each, the same ones first.
SETTINGS = [7, pytest.param(200, marks=pytest.mark.slow)]
MOST_OUTCOMES = 150_000
# Of sums in floating point, each of fewer than 1e6 positive numbers of sum 1.
ROUNDING = 1e-13


def noise_law(sigma):
    """N_Z(0, sigma^2) where it is above 1e-18: numbers and probabilities."""
    x = np.arange(-math.ceil(9 * sigma) - 1, math.ceil(9 * sigma) + 2)
    weights = np.exp(-np.square(x / sigma) / 2)
    return x, weights / weights.sum()


class FineLattice(Exception):
    """A lattice too fine to be listed; its label is that of continuous noise but for 1e-12."""


_EXACT = (
    "add_discrete_gaussian",
    "add_fine_gaussian",
    "coins",
    "fair_bits",
    "largest",
    "subsets",
    "weighted",
)


class Listing:
    """Stands in for the exact samplers of `noise.secure`: lists outcomes instead of drawing one.

    The first run, of one query, notes what is drawn; the second gets one copy of it for each
    outcome. draws: of every number drawn, its values and their probabilities. moved: how many
    counts a neighbour moves by 1, with noise of which sigma: one of a threshold, two of a label.
    """

    def __init__(self, patch):
        self.draws, self.moved, self.columns = [], [], None
        for name in _EXACT:
            patch.setattr(secure, name, getattr(self, name))
        for name in ("uniform", "normal"):
            patch.setattr(secure, name, self.refuse)

    def refuse(self, *_):
        raise AssertionError("secure labels come from exact samplers")

    def add_fine_gaussian(self, counts, sigma):
        raise FineLattice(sigma)

    def column(self, values, chances):
        if self.columns is None:
            self.draws.append((np.asarray(values), np.asarray(chances, dtype=float)))
            return self.draws[-1][0][:1]
        return next(self.columns)

    def add_discrete_gaussian(self, counts, sigma):
        assert np.asarray(counts).dtype.kind in "iu"
        law, threshold = noise_law(sigma), np.ndim(counts) == 1
        if self.columns is None:
            self.moved.append((1 if threshold else 2, sigma))
        if threshold:
            return counts + self.column(*law)
        return counts + np.stack([self.column(*law) for _ in range(counts.shape[1])], axis=1)

    def coins(self, probabilities):
        p = float(np.ravel(probabilities)[0])
        assert 0 <= p <= 1
        return self.column([True, False], [p, 1 - p]) & np.ones(len(probabilities), bool)

    def fair_bits(self, shape):
        return self.column([0, 1], [0.5, 0.5])

    def weighted(self, weights):
        assert weights.dtype.kind in "iu"
        row = np.asarray(weights)[0].astype(float)
        return self.column(range(len(row)), row / row.sum())

    def subsets(self, number, size, most):
        every = np.array(list(itertools.combinations(range(size), most)))
        return every[self.column(range(len(every)), np.full(len(every), 1 / len(every)))]

    def largest(self, noisy):
        die = self.column(range(6), [1 / 6] * 6)  # six sides choose among 1, 2 or 3 that tie
        tied = noisy == noisy.max(axis=1, keepdims=True)
        place = die % tied.sum(axis=1)
        return np.argmax(tied & (np.cumsum(tied, axis=1) == place[:, None] + 1), axis=1)

    def law(self, mechanism, parameters, row):
        """Pr[outcome] of one query, outcomes -1, 0, ..., C - 1."""
        self.draws, self.moved, self.columns = [], [], None
        try:
            mechanism.law.draw(np.array([row]), parameters, Secure())
        except FineLattice as found:
            label = np.append(0.0, continuous_label(row, found.args[0]))
            for x, chances in self.draws:  # of a threshold, which comes first and is no fine one
                label *= chances[max(row) + x >= parameters.threshold].sum()
            return label + (1 - label.sum()) * (np.arange(len(label)) == 0)
        sizes = [len(values) for values, _ in self.draws]
        if math.prod(sizes) > MOST_OUTCOMES:
            return None
        places = np.indices(sizes).reshape(len(sizes), -1)
        chances = np.ones(places.shape[1])
        for place, (_, chance) in zip(places, self.draws, strict=True):
            chances *= chance[place]
        self.columns = (v[place] for place, (v, _) in zip(places, self.draws, strict=True))
        copies = np.tile(row, (places.shape[1], 1))
        labels = np.asarray(mechanism.law.draw(copies, parameters, Secure()), dtype=np.int64)
        return np.bincount(labels + 1, chances, minlength=len(row) + 1)


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
    if not mechanism.entry.hides_votes:  # every assignment of corners is listed
        size["n_teachers"] = int(generator.choice([3, 5]))
        size["privacy_model"] = sorted(mechanism.entry.privacy_models)[0]
        size["teacher_epsilon"] = size["epsilon"] * float(generator.uniform(0.1, 0.9))
        size["teacher_Delta"] = size["delta"] * float(generator.choice([0, 0.05]))
    if mechanism.name == "dpbag":
        noise = BaggingNoise(n_shards=3, k=3, rate=float(generator.uniform(0.05, 1.5)))
        one_label = {"n_teachers": 9, "n_classes": 2, "queries": 1, "labels": 1}
        return Task(**{**size, **one_label}), noise, noise.k
    if not mechanism.entry.keeps_budget:
        confident = {
            "threshold": float(generator.uniform(-2, size["n_teachers"] + 2)),
            "sigma1": float(generator.uniform(0.5, 3)),
            "sigma2": float(generator.uniform(0.5, 2.5)),
        }
        sections = {"lnmax": {"scale": float(generator.uniform(0.3, 6))}, "confident": confident}
        sections["student_score"] = float(generator.uniform())
        size |= {"queries": 1, "labels": 1, "n_classes": 2}
        parameters = at_noise(mechanism, sections, 2)
        if parameters is None and mechanism.name == "gnmax":
            parameters = at_noise(mechanism, sections, 3)
        assert parameters is not None, f"{mechanism.name}: say here which parameters to test"
        return Task(**size), parameters, 1
    for change in ({}, {"n_classes": 2}, {"n_classes": 2, "queries": 1, "labels": 1}):
        task = Task(**{**size, **change})
        if mechanism.refusal(task) is None:
            free = {
                key: float(generator.uniform(max(low, 0.05), high))
                for key, (low, high) in mechanism.account.free.items()
            }
            return task, mechanism.calibrate(task, **free), 1
    return None


NAMES = [entry.name for entry in registry.ENTRIES if entry.releasable]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", NAMES)
def test_delta_of_every_outcome_is_at_most_the_claimed_one(name, settings, monkeypatch):
    mechanism, listing = load(name), Listing(monkeypatch)
    generator = np.random.default_rng([15, *name.encode()])
    checked = 0
    while checked < settings:
        setting = random_setting(mechanism, generator)
        if setting is None:
            continue
        task, parameters, moved = setting
        cost = mechanism.cost(task, parameters)
        epsilon = min(cost.claimed, cost.proven)
        bound = task.delta + ROUNDING
        assert refusal(mechanism, parameters, task.n_classes, secure=True) is None
        checked += 1
        if not mechanism.entry.hides_votes:
            # Here 1 - p loses digits of a small probability, which e^epsilon magnifies.
            lost = 8 * 2.0**-53 * math.exp(epsilon)
            assert private_teachers(mechanism, listing, task, parameters, epsilon) <= bound + lost
            continue
        laws, worst = {}, (0.0, None)
        for pair in neighbours(task.n_teachers, task.n_classes, moved, generator):
            for row in pair:
                if row not in laws:
                    laws[row] = listing.law(mechanism, parameters, row)
            p, q = (laws[row] for row in pair)
            if p is not None:
                assert abs(p.sum() - 1) < 1e-12
                delta = hockey_stick(p, q, epsilon / parameters.labels)
                worst = max(worst, (delta, pair), key=lambda dearest: dearest[0])
        if worst[1] is not None:
            queries = getattr(parameters, "queries", parameters.labels)
            p, q = (laws[row] for row in worst[1])
            both = sequences(p, q, queries, parameters.labels)
            assert hockey_stick(*both, epsilon) <= bound
        if listing.moved:  # what is noted of the last query
            queries = getattr(parameters, "queries", parameters.labels)
            times = {1: queries, 2: parameters.labels}
            noise = [(counts * times[counts], sigma) for counts, sigma in listing.moved]
            assert all_noise_delta(noise, epsilon) <= bound


def private_teachers(mechanism, listing, task, parameters, epsilon):
    """Of one teacher that changes on disjoint shards, of all of them where data are shared."""
    K, teacher = task.n_teachers, task.teacher_cost()
    corners = teacher_corners(teacher.epsilon, teacher.delta)
    if "shared_data" not in mechanism.entry.privacy_models:
        return votes_delta(1, corners, epsilon)
    if task.labels > 1:
        return votes_delta(getattr(parameters, "members", K), corners, epsilon)
    laws = [listing.law(mechanism, parameters, (K - ones, ones)) for ones in range(K + 1)]
    return teachers_delta(np.array([law[2] for law in laws]), corners, epsilon)


def test_continuous_accounts_would_fail_here():
    """The test can tell: GNMax's sigma for continuous noise exceeds delta on the lattice."""
    task = Task(20.0, 1e-6, 1, 1, 5, 2)
    parameters = load("gnmax_analytic").calibrate(task)
    assert all_noise_delta([(2, parameters.sigma)], 20.0) > 1.9 * task.delta
    with pytest.raises(ValueError, match="noise = secure: gnmax_analytic was calibrated for cont"):
        release(load("gnmax_analytic"), np.array([[3, 2]]), parameters, Secure())


@pytest.mark.parametrize("name", registry.offered())
def test_a_release_refuses_noise_of_which_its_parameters_prove_nothing(name):
    """Parameters for continuous noise either serve secure noise as they are, or are refused."""
    mechanism = load(name)
    task = Task(3.0, 1e-3, 4, 4, 5, 2, teacher_epsilon=0.1)
    if mechanism.refusal(task):
        task = Task(3.0, 1e-3, 1, 1, 5, 2, teacher_epsilon=0.1)
    parameters = mechanism.calibrate(task)
    counts = np.array([[3, 2]] * 4)
    release(mechanism, counts, parameters, Seeded(np.random.default_rng(0)))
    if refusal(mechanism, parameters, 2, secure=True) is None:
        assert release(mechanism, counts, parameters, Secure()).shape == (4,)
        # Labels that are charged for what they release may cost less than their noisy counts.
        listed = getattr(parameters, "moves", ())
        if listed and mechanism.entry.analysis != "label":
            noise = [(move.counts, move.sigma) for move in listed]
            assert all_noise_delta(noise, task.epsilon) <= task.delta
        return
    with pytest.raises(ValueError, match=f"noise = secure: {name} "):
        release(mechanism, counts, parameters, Secure())


def test_a_false_claim_is_not_released_with_secure_noise():
    from private_ensembles.mechanisms.laws.immutable import ImmutableNoise

    with pytest.raises(ValueError, match="nzc has a false privacy claim"):
        release(load("nzc"), np.array([[3, 2]]), ImmutableNoise(), Secure())
