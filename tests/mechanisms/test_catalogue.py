"""Every mechanism has an audit entry whose claim holds, and the audit catches its doctored twin."""

import numpy as np
import pytest

from private_ensembles.audit import (
    epsilon_lower_bound,
    exact_epsilon,
    two_class_matrix,
    two_class_pairs,
)
from private_ensembles.darrm import gamma_subsampling, optimize_gamma, scale_to_allowance
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.dpbag.mechanism import ones_probability
from private_ensembles.experiments.ledger_row import ledger_row
from private_ensembles.mechanisms.catalogue import (
    BaggingNoise,
    ConfidentNoise,
    Setting,
    entries,
    entries_at_noise,
    entries_of_bagging,
)
from private_ensembles.mechanisms.catalogue.counts import immutable
from private_ensembles.mechanisms.registry import MECHANISMS
from private_ensembles.mechanisms.release import MECHANISMS as TWO_CLASS
from private_ensembles.mechanisms.release import label_probability, release
from private_ensembles.noise.streams import generator

K, M, EPSILON, DELTA = 11, 3, 0.0892, 1e-4
# Where lower bounds are sought: above every leak, so that no exact epsilon is infinite.
AUDIT_DELTA = 1e-3
NOISE = ConfidentNoise(scale=4, threshold=8, sigma1=4, sigma2=3, score=0.7)
BAGGING = BaggingNoise(n_shards=7, k=4, rate=0.4)
BUDGET = {"epsilon": 0.5, "delta": 1e-3}
# Each bound fails with at most this probability on correct code; some forty are computed.
ERROR = 1e-6


@pytest.fixture(scope="module")
def listed():
    """All entries at the budget of DaRRM's Table 1, m = 3."""
    leak = 1 - (1 - DELTA) ** M
    problem = PrivacyProblem(K, M, EPSILON, DELTA, leak)
    gamma = {
        "darrm_sub": scale_to_allowance(problem, gamma_subsampling(K, M))[0],
        "darrm_opt": optimize_gamma(K, M, EPSILON, DELTA).gamma,
    }
    found = entries(Setting(K, M * EPSILON, M * DELTA, EPSILON, DELTA, leak, gamma))
    found |= entries_at_noise(K, M * DELTA, NOISE)
    return found | entries_of_bagging(M * DELTA, BAGGING)


def test_every_public_mechanism_has_an_entry(listed):
    assert set(listed) == set(MECHANISMS)
    assert set(TWO_CLASS) <= set(listed)


@pytest.mark.parametrize("name", MECHANISMS)
def test_claim_is_an_upper_bound_of_the_exact_value_unless_it_is_nzcs(listed, name):
    entry = listed[name]
    # Next to the claim's delta: there, a leak that is used up to the last bit is no round-off.
    exact = entry.worst(1.0, entry.delta * (1 + 1e-6)).epsilon
    row = ledger_row(
        name,
        f"K={K}",
        delta=entry.delta,
        privacy_model=entry.privacy_model,
        adjacency=entry.adjacency,
        claimed_epsilon=entry.epsilon,
        exact_epsilon=exact,
    )
    assert row.verdict == ("fails" if name == "nzc" else "holds")
    assert row.release == (name != "nzc")
    if name != "nzc":  # whose table underflows; its ledger rows are made of logarithms
        assert exact <= entry.proven * (1 + 1e-9)
    if "exact" in name or name in ("ladder", "majority_private", "permute_and_flip"):
        assert exact == pytest.approx(entry.epsilon, rel=1e-4)


def lower_bound(entry, noise, pair, runs=1_000_000):
    path = ("audit", entry.name, int(100 * noise))
    return epsilon_lower_bound(
        entry.sample(noise), pair.first, pair.second, AUDIT_DELTA, labels=entry.labels, runs=runs,
        generator=generator(0, *path), confidence=1 - ERROR,
    ).value  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - {"nzc"}))
def test_sampler_agrees_with_its_audit_and_its_doctored_twin_does_not(listed, name):
    entry = listed[name]
    honest, twin = entry.worst(1.0, AUDIT_DELTA), entry.worst(0.5, AUDIT_DELTA)
    assert 0.5 * honest.epsilon < lower_bound(entry, 1.0, honest) <= honest.epsilon
    # Half the noise, at the inputs where it shows: more is lost than the exact audit allows.
    assert lower_bound(entry, 1.0, twin) <= honest.epsilon
    assert lower_bound(entry, 0.5, twin) > honest.epsilon


def test_sampler_of_nzc_agrees_with_its_audit_where_noise_can_be_seen_and_its_twin_does_not():
    """At the paper's c and scale nothing but the exact ArgMax is ever seen; c = 1 shows noise."""
    nothing = np.zeros(K + 1)
    entry = immutable(
        Setting(K, 0.3, 3e-4, 0.1, 1e-4, 3e-4, {"darrm_opt": nothing}), constant=1.0, gamma=4.0
    )
    honest, twin = entry.worst(1.0, AUDIT_DELTA), entry.worst(0.5, AUDIT_DELTA)
    assert honest.epsilon <= entry.proven
    assert 0.5 * honest.epsilon < lower_bound(entry, 1.0, honest) <= honest.epsilon
    assert lower_bound(entry, 0.5, twin) > honest.epsilon


def test_twin_of_nzc_at_the_papers_constants_costs_twice_as_much(listed):
    """Where c and the scale are the paper's the exact audit alone can tell them apart."""
    from private_ensembles.nzc.truth import lead_one_epsilon

    honest, twin = (lead_one_epsilon(1e100, scale, 1e-5) for scale in (1e10, 5e9))
    assert twin == pytest.approx(2 * honest)
    assert honest > listed["nzc"].epsilon


@pytest.mark.parametrize("share", [1.0, 0.75, 0.5])
def test_bagged_votes_cost_what_the_worst_move_of_a_records_teachers_does(share):
    """All moves of at most k m votes, in both directions: the largest one is the worst."""
    entry = entries_of_bagging(AUDIT_DELTA, BaggingNoise(7, 4, 0.4, share))["dpbag"]
    ones, moved = np.arange(29), int(4 * share)
    pairs = [(a, a + j) for a in ones for j in range(1, moved + 1) if a + j <= 28]
    gap = 2 * ones / 4 - 7
    matrix = np.stack([ones_probability(-gap, 0.4), ones_probability(gap, 0.4)], axis=1)
    every = exact_epsilon(matrix, np.array(pairs), AUDIT_DELTA, relative_error=1e-13)
    assert entry.worst(1.0, AUDIT_DELTA).epsilon == pytest.approx(every, abs=1e-10)
    assert every <= entry.proven <= entry.epsilon == 2 * 0.4 * share


def test_curves_are_the_exact_deltas(listed):
    for name, entry in listed.items():
        if name == "nzc":
            continue
        found = entry.worst(1.0, AUDIT_DELTA).epsilon
        near = entry.curve(np.array([found * (1 - 1e-6), found * (1 + 1e-6) + 1e-9]))
        assert near[1] <= AUDIT_DELTA <= near[0] * (1 + 1e-9), name


def test_sampler_of_nzc_refutes_its_claim(listed):
    entry = listed["nzc"]
    assert lower_bound(entry, 1.0, entry.worst(1.0, AUDIT_DELTA), runs=20_000) > 5 > entry.epsilon


@pytest.mark.parametrize("noise", ["reproducible", "secure"])
@pytest.mark.parametrize("name", TWO_CLASS)
def test_samplers_of_the_release_table_keep_to_their_stated_distributions(listed, name, noise):
    parameters = {"gnmax": {"sigma": 4.0}, "lnmax": {"scale": 3.0}, "ladder": BUDGET}
    parameters |= {"exponential": {"rate": 0.3}, "permute": {"rate": 0.3}, "majority": {}}
    parameters |= {"darrm": {"gamma": gamma_subsampling(K, M)}}
    parameters = parameters[name.partition("_")[0]]
    matrix = two_class_matrix(label_probability(name, K, noise, **parameters))
    errors = {"relative_error": 1e-11, "absolute_error": 1e-15}
    exact = exact_epsilon(matrix, two_class_pairs(K), AUDIT_DELTA, **errors)
    runs = 100_000 if noise == "reproducible" else 4_000

    def sample(ones, size, stream):
        chosen = stream if noise == "reproducible" else None
        return release(name, np.full(size, int(ones)), K, chosen, **parameters)

    for first in (0, 5):
        found = epsilon_lower_bound(
            sample, first, first + 1, AUDIT_DELTA, labels=(0, 1), runs=runs,
            generator=generator(0, "audit", name, first), confidence=1 - ERROR,
        )  # fmt: skip
        assert found.value <= exact


def test_entries_of_another_size_are_audited_too():
    gamma = {name: np.zeros(6) for name in ("darrm_sub", "darrm_opt")}
    found = entries(Setting(5, 0.5, 1e-3, 0.3, 1e-4, 3e-4, gamma))
    for name, entry in (found | entries_at_noise(250, 1e-5, NOISE)).items():
        exact = entry.worst(1.0, entry.delta * (1 + 1e-6)).epsilon
        assert (exact <= entry.epsilon * (1 + 1e-9)) == (name != "nzc")


def test_documented_flips_and_exact_epsilons_are_the_computed_ones(listed, root):
    """docs/ladder.md and docs/audit.md print what the catalogue gives."""
    flips = {
        "gnmax": "0.359", "gnmax_improved": "0.297", "gnmax_analytic": "0.273",
        "gnmax_exact": "0.156", "lnmax_pure": "0.199", "lnmax_exact": "0.135",
        "exponential": "0.145", "permute_and_flip": "0.114", "ladder": "0.113",
    }  # fmt: skip
    text = (root / "docs" / "ladder.md").read_text(encoding="utf-8")
    for name, printed in flips.items():
        unanimous = np.zeros(200_000, dtype=int)
        seen = listed[name].sample(1.0)(0, len(unanimous), np.random.default_rng(0)).mean()
        assert f" {printed} |" in text
        assert seen == pytest.approx(float(printed), abs=0.006)
    exact = {"gnmax": "0.0664", "gnmax_improved": "0.1082", "gnmax_analytic": "0.1280",
             "lnmax_pure": "0.1861", "darrm_sub": "0.1698", "darrm_opt": "0.2676"}  # fmt: skip
    text = (root / "docs" / "audit.md").read_text(encoding="utf-8")
    for name, printed in exact.items():
        entry = listed[name]
        assert f"| {printed} |" in text
        assert f"{entry.worst(1.0, entry.delta * (1 + 1e-6)).epsilon:.4f}" == printed
