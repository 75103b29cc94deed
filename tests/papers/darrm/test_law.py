"""DaRRM's sampler at its ends, and which gamma it draws by."""

from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.papers.darrm.law import NoisyMajority, release
from private_ensembles.papers.darrm.mathematics.gamma import gamma_subsampling, label_probability
from tests.papers.darrm.mathematics import oracle


def test_gamma_one_releases_the_majority_and_gamma_zero_a_coin():
    counts = np.arange(12)
    assert (
        release(counts, np.ones(12), SeededNoise(np.random.default_rng(0))) == (counts >= 6)
    ).all()
    assert (label_probability(np.zeros(12)) == 0.5).all()


def test_same_seed_same_labels():
    counts = np.random.default_rng(1).integers(0, 12, (5, 7))
    gamma = gamma_subsampling(11, 3)
    first = release(counts, gamma, SeededNoise(np.random.default_rng(4)))
    assert (first == release(counts, gamma, SeededNoise(np.random.default_rng(4)))).all()
    assert first.shape == counts.shape


@pytest.mark.parametrize("source", [SeededNoise(np.random.default_rng(0)), SecureNoise()])
@pytest.mark.parametrize("count", [-1, 12])
def test_counts_out_of_range_are_refused(count, source):
    with pytest.raises(ValueError, match="counts"):
        release([count], np.ones(12), source)


@pytest.mark.parametrize("name", ["darrm_sub", "darrm_opt"])
def test_a_given_gamma_goes_before_the_law_s_own_and_all_teachers_need_none(name):
    law, parameters = load_mechanism(name).law, NoisyMajority(1.0, 1, 5, 1e-4, 0.3, 0.0)
    assert (law.gamma(parameters) < 1).any()
    halves = np.full(6, 0.5)
    np.testing.assert_array_equal(law.gamma(replace(parameters, gamma=halves)), halves)
    np.testing.assert_array_equal(law.gamma(replace(parameters, m=5)), np.ones(6))


@pytest.mark.parametrize("name", ["darrm_sub", "darrm_opt"])
def test_less_noise_is_a_coin_less_often(name):
    law, parameters = load_mechanism(name).law, NoisyMajority(1.0, 1, 5, 1e-4, 0.3, 0.0)
    twin = law.scale_noise(parameters, 0.5)
    np.testing.assert_allclose(1 - law.gamma(twin), 0.5 * (1 - law.gamma(parameters)))


@pytest.mark.parametrize(("K", "epsilon"), [(3, 0.7), (5, 0.1), (5, 2.3)])
def test_the_closed_form_of_one_teacher_keeps_its_allowance_to_the_last_digit(K, epsilon):
    """Teachers of randomised response attain e^epsilon - 1, which leaves no room for rounding."""
    gamma = load_mechanism("darrm_sub").law.gamma(NoisyMajority(1, 1, K, 0.0, epsilon, 0.0))
    allowed = oracle.allowance(1, epsilon, 0.0)
    assert allowed * (1 - 2.0**-44) <= oracle.worst_cost(gamma, 1, epsilon, 0.0) <= allowed


def test_seeded_labels_keep_the_majority_exactly_where_a_uniform_number_is_below_gamma():
    counts = np.random.default_rng(1).integers(0, 12, 4000)
    gamma, drawn = gamma_subsampling(11, 3), np.random.default_rng(4)
    kept = drawn.random(4000) < gamma[counts]
    expected = np.where(kept, counts >= 6, drawn.integers(0, 2, 4000, dtype=np.uint8))
    found = release(counts, gamma, SeededNoise(np.random.default_rng(4)))
    np.testing.assert_array_equal(found, expected)
