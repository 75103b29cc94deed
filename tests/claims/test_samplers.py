"""Every sampler keeps to its law, and a twin with 5 % less noise does not.

Seeded draws are compared with the law's own table, in so many runs that the twin is missed once in
a million times. Secure draws are followed to every end of what they ask of exact samplers
(`drawn`), so that 5 % are seen without a draw; `tests/base` has these samplers. A few real draws
and OpenDP's own map tell that they are what is used.
"""

import math

import numpy as np
import pytest
from scipy.stats import chi2, ncx2

from private_ensembles.audit import epsilon_lower_bound
from private_ensembles.base import secure
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.root_search import bisect
from private_ensembles.base.streams import generator
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.papers.nzc.law import ImmutableNoise
from tests.claims.adversary import all_votes
from tests.claims.drawn import followed
from tests.claims.one_label import AUDIT_DELTA, one_label_each, suited_label, suited_names
from tests.labels.frequencies import CHANCE, follows

NAMES = [entry.name for entry in registry.ENTRIES]
TRUE = [name for name in NAMES if load_mechanism(name).guarantee.holds]
# A twin is missed as rarely, and a bound from draws fails as rarely on correct code.
ERROR = 1e-6


def runs_to_tell(honest, twin):
    """How many draws of each law a chi-squared test at CHANCE needs to tell a twin's from it.

    (rows, outcomes), no answer last; infinite where a law is the twin's, or has outcomes that are
    too rare for the test.
    """
    freedom = honest.shape[1] - 1
    limit = chi2.isf(CHANCE, freedom)
    enough = bisect(lambda size: ncx2.cdf(limit, freedom, size) < ERROR, 1.0, 1e4, relative=1e-3)
    with np.errstate(divide="ignore", invalid="ignore"):
        runs = enough / np.nansum((twin - honest) ** 2 / honest, axis=1)
        rare = np.where(honest > 0, honest, np.inf).min(axis=1) * runs < 20
    return np.where(rare, np.inf, runs)


def with_no_answer(law, counts, parameters, *, secure=False):
    chances = law.distribution(counts, parameters, secure=secure)
    return np.column_stack([chances, 1 - chances.sum(axis=1)]) if law.may_abstain else chances


def check_draws(law, counts, parameters, twin, source, secure=False):
    """Draws of the row that tells most, and of a tie, follow the law, and a twin's do not."""
    honest, doctored = (
        with_no_answer(law, counts, noise, secure=secure) for noise in (parameters, twin)
    )
    runs = runs_to_tell(honest, doctored)
    tie, best = np.ptp(np.sort(counts)[:, -2:], axis=1).argmin(), runs.argmin()
    if math.isinf(runs[best]):
        np.testing.assert_array_equal(honest, doctored)  # it has no noise
        runs[best] = 1000
    some = math.ceil(runs[best])
    for row in (tie, best):
        drawn = law.draw(np.tile(counts[row], (some, 1)), parameters, source)
        assert follows(drawn, law.distribution(counts[[row]], parameters, secure=secure)[0]), row
    if (honest[best] != doctored[best]).any():
        drawn = law.draw(np.tile(counts[best], (some, 1)), twin, source)
        assert not follows(drawn, law.distribution(counts[[best]], parameters, secure=secure)[0])


@pytest.mark.parametrize(("name", "classes"), suited_names(NAMES, teachers=9))
def test_seeded_labels_follow_their_law_and_with_less_noise_they_do_not(name, classes):
    mechanism, task, parameters = suited_label(name, classes, teachers=9)
    twin = mechanism.law.scale_noise(parameters, 0.95)
    source = SeededNoise(np.random.default_rng([51, *name.encode()]))
    check_draws(mechanism.law, all_votes(task.ensemble.teachers, classes), parameters, twin, source)


@pytest.mark.parametrize(("name", "classes"), suited_names(TRUE, teachers=5, secure=True))
def test_secure_labels_have_their_law_and_with_less_noise_another(name, classes):
    """By all that a draw may lead to, in fractions or, of Gaussian noise, in sums of floats."""
    mechanism, task, parameters = suited_label(name, classes, teachers=5, secure=True)
    law, rows = mechanism.law, all_votes(task.ensemble.teachers, classes)
    table = law.outcome_distribution(rows, parameters, secure=True)
    error = law.numerical_error(task.ensemble.teachers, classes, parameters, secure=True)
    with followed() as draws:
        exact = np.array([draws.law(law, parameters, row) for row in rows.tolist()], dtype=float)
        twin = law.scale_noise(parameters, 0.95)
        less = np.array([draws.law(law, twin, row) for row in rows.tolist()], dtype=float)
    found = exact[:, -table.shape[1] :]
    allowed = (error["relative_error"] + 1e-12) * found + error["absolute_error"] + 1e-13
    assert (abs(table - found) <= allowed).all()
    assert (exact[:, 0] == 0).all() or law.may_abstain
    noisy = not np.isin(exact, (0, 1)).all() and name != "committee"
    assert (abs(exact - less).max() > 1e-3) == noisy


@pytest.mark.parametrize(("name", "classes"), suited_names(TRUE, teachers=5, secure=True))
def test_real_secure_draws_follow_the_law_and_with_half_the_noise_they_do_not(name, classes):
    mechanism, task, parameters = suited_label(name, classes, teachers=5, secure=True)
    twin = mechanism.law.scale_noise(parameters, 0.5)
    counts = all_votes(task.ensemble.teachers, classes)
    check_draws(mechanism.law, counts, parameters, twin, SecureNoise(), secure=True)


@pytest.mark.parametrize(("name", "classes"), suited_names(TRUE, teachers=40, secure=True))
def test_no_less_gaussian_noise_is_drawn_than_is_charged(name, classes):
    """Of the noisy counts that the account lists."""
    mechanism, task, parameters = suited_label(name, classes, teachers=40, secure=True)
    counts = all_votes(task.ensemble.teachers, classes)[:1]
    with followed() as draws:
        mechanism.law.draw(counts, parameters, SecureNoise())
    charged = [noise.sigma for noise in parameters.discrete_gaussian_counts]
    coins = mechanism.law.draws_exact_bernoulli and classes == 2
    assert {sigma for _, sigma, _ in draws.gaussian} == (set() if coins else set(charged))


def test_opendp_promises_what_a_scale_is_taken_for():
    """Zero-concentrated privacy of one vote that moves by one, rho = 1 / (2 sigma^2)."""
    for sigma in (0.7, 8.0, 300.0):
        rho = secure._gaussian(sigma).map(1)
        assert rho == pytest.approx(1 / (2 * sigma**2), rel=1e-12)
        assert rho >= 1 / (2 * sigma**2) * (1 - 1e-15)


@pytest.fixture(scope="module")
def listed():
    """At NZC's own constants nothing but the exact ArgMax is ever seen; c = 1 shows noise."""
    return one_label_each(ImmutableNoise(constant=1.0, gamma=4.0))


def lower_bound(audited, pair, path, runs):
    return epsilon_lower_bound(
        audited.draw,
        pair.first,
        pair.second,
        AUDIT_DELTA,
        labels=audited.names,
        runs=runs,
        generator=generator(0, "audit", *path),
        confidence=1 - ERROR,
    ).value


@pytest.mark.parametrize("name", NAMES)
def test_draws_keep_to_the_audit_and_with_half_the_noise_they_do_not(listed, name):
    """In so many runs that the twin is caught, at the inputs at which it shows."""
    mechanism, task, parameters = listed[name]
    honest, doctored = (
        mechanism.law.build_audit(task, noise)
        for noise in (parameters, mechanism.law.scale_noise(parameters, 0.5))
    )
    worst, twin = honest.worst_inputs(AUDIT_DELTA), doctored.worst_inputs(AUDIT_DELTA)
    caught = (
        runs
        for runs in (1 << n for n in range(12, 21))
        if lower_bound(doctored, twin, (name, 50), runs) > worst.epsilon
    )
    runs = next(caught, None)
    assert runs is not None
    for pair in (worst, twin):
        assert lower_bound(honest, pair, (name, 100), runs) <= worst.epsilon


def test_draws_of_nzc_refute_its_claim():
    mechanism, task, parameters = one_label_each(ImmutableNoise())["nzc"]
    audited = mechanism.law.build_audit(task, parameters)
    lower = lower_bound(audited, audited.worst_inputs(AUDIT_DELTA), ("nzc", 100), runs=20_000)
    assert lower > 5 > mechanism.cost(task, parameters).claimed
