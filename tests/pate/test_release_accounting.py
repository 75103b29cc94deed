"""The guarantee of a release: what is charged, what is published, and how often its bound holds."""

import math

import numpy as np
import pytest

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.noise import streams as randomness
from private_ensembles.noise.secure import MODES
from private_ensembles.pate.joint import JointProfile
from private_ensembles.pate.release_accounting import choose_publication, release_privacy
from private_ensembles.pate.rounds import certain_epsilon, confident_round
from private_ensembles.pate.sanitize import gnss_rdp, largest_beta

PARAMETERS = (200.0, 150.0, 40.0, 1e-5)


@pytest.fixture(scope="module")
def counts():
    draw = randomness.generator(3, "release")
    shares = np.c_[draw.beta(8, 1, 200), np.zeros((200, 9))]
    shares[:, 1:] = (1 - shares[:, :1]) * draw.dirichlet(np.full(9, 0.2), 200)
    return draw.multinomial(250, shares / shares.sum(axis=1, keepdims=True))


def release(counts, threshold, sigma1, sigma2, delta, generator=None, **options):
    one = confident_round(counts, threshold, sigma1, sigma2)
    return release_privacy(one, delta, generator, **options)


def draw(i):
    return randomness.generator(0, "publication", i)


def test_everything_is_charged_at_one_order(counts):
    r = release(counts, *PARAMETERS, draw(0))
    p = r.publication
    profile = JointProfile(confident_round(counts, *PARAMETERS[:3]), p.order)
    assert r.joint_rdp == profile.total_rdp()
    assert r.smooth_sensitivity == profile.smooth(p.beta)
    assert p.gnss_rdp >= gnss_rdp(p.order, p.beta, p.sigma_ss)
    assert p.gnss_rdp == pytest.approx(gnss_rdp(p.order, p.beta, p.sigma_ss), rel=1e-5)
    assert p.sensitivity_rdp == pytest.approx(p.order / (2 * p.sigma_log**2))
    total = r.joint_rdp + p.gnss_rdp + p.sensitivity_rdp
    assert r.epsilon == rdp_to_dp([p.order], [total], 1e-5, "improved")[0]
    assert r.claimed_epsilon == r.published_upper
    assert r.confidence == 0.95


def test_parameters_do_not_depend_on_votes(counts):
    other = np.zeros_like(counts)
    other[:, 0], other[:, 1] = 130, 120
    first, second = (release(c, *PARAMETERS, draw(1)) for c in (counts, other))
    assert first.publication == second.publication
    for name in ("data_independent_epsilon", "exact_data_independent_epsilon", "answer_cap"):
        assert getattr(first, name) == getattr(second, name)


def test_upper_bound_holds_as_often_as_it_says(counts):
    one = counts[:8]
    for confidence in (0.5, 0.9):
        records = [release(one, *PARAMETERS, draw(i), confidence=confidence) for i in range(100)]
        held = np.mean([r.published_upper >= r.epsilon for r in records])
        assert held >= confidence - 3 * math.sqrt(confidence * (1 - confidence) / 100)
        assert len({r.published_epsilon for r in records}) == 100
    noise = [(r.published_epsilon - r.epsilon) / r.sanitized_sd for r in records]
    assert abs(np.mean(noise)) < 4 / math.sqrt(100)
    assert 0.8 < np.std(noise) < 1.2
    logs = [math.log(r.published_sensitivity / r.smooth_sensitivity) for r in records]
    p = records[0].publication
    assert 0.8 < np.std(logs) / (p.beta * p.sigma_log) < 1.2


def test_reports_are_charged_for_what_they_publish(counts):
    alone = release(counts, *PARAMETERS, report="data_independent", answer_cap=50)
    both = release(counts, *PARAMETERS, draw(0), report="both", answer_cap=50)
    sanitized = release(counts, *PARAMETERS, draw(0), answer_cap=50)
    assert alone.claimed_epsilon == alone.exact_data_independent_epsilon
    assert alone.confidence == 1
    assert alone.publication is None
    assert alone.published_epsilon is None
    assert alone.epsilon is None
    assert both.data_independent_epsilon > alone.data_independent_epsilon
    assert both.claimed_epsilon == min(both.published_upper, both.data_independent_epsilon)
    assert both.published_upper == sanitized.published_upper
    assert both.claimed_epsilon <= sanitized.claimed_epsilon


def test_caps_shorten_the_pool(counts):
    capped = release(counts, *PARAMETERS, draw(0), query_cap=50)
    cut = release(counts[:50], *PARAMETERS, draw(0))
    assert (capped.query_cap, capped.answer_cap, capped.queries) == (50, 50, 200)
    assert capped.claimed_epsilon == cut.claimed_epsilon
    fewer = release(counts, *PARAMETERS, draw(0), answer_cap=10)
    assert fewer.exact_data_independent_epsilon < capped.exact_data_independent_epsilon


def test_publication_alone_costs_at_other_orders_what_it_costs_at_its_own(counts):
    one = confident_round(counts, *PARAMETERS[:3])
    p = choose_publication(one, 1e-5)
    assert p.cost(p.order) == pytest.approx(p.gnss_rdp + p.sensitivity_rdp)
    assert p.cost(2.0) < p.cost(p.order)
    assert p.cost(10 * p.order) == math.inf
    assert p.beta < largest_beta(p.order)
    # By default the sensitivity costs a fiftieth of the conversion.
    assert p.sensitivity_rdp == pytest.approx(0.02 * math.log(1e5) / (p.order - 1))


def test_secure_noise_is_accounted_for_on_the_lattice(counts):
    given = (200.4, 5.0, 2.0, 1e-5)
    one, other = (confident_round(counts, *given[:3], noise=noise) for noise in MODES)
    options = {"order": 1.8, "answer_cap": 3, "query_cap": 5}
    usual, secure = (release_privacy(each, 1e-5, draw(0), **options) for each in (one, other))
    assert secure.exact_data_independent_epsilon == certain_epsilon(
        [other], 1e-5, query_cap=5, answer_cap=3
    )
    assert secure.exact_data_independent_epsilon != usual.exact_data_independent_epsilon
    first = confident_round(counts[:5], *given[:3], noise="secure")
    assert secure.joint_rdp == JointProfile(first, 1.8).total_rdp()
    assert secure.joint_rdp != usual.joint_rdp
    assert secure.data_independent_epsilon == usual.data_independent_epsilon  # Rényi holds for both
    assert secure.publication == usual.publication


def test_an_order_at_which_a_condition_fails_is_lowered_with_a_warning():
    one = confident_round([[60, 0, 0]], 30, 6.0, 3.0)
    with pytest.warns(RuntimeWarning, match="C5 or C6 fails at order 4: "):
        p = choose_publication(one, math.exp(-3.0), target_epsilon=2.0)
    assert p.order < 4
    assert one.conditions_violated(p.order) == ()
    assert one.conditions_violated(4.0) == ("C6",)
