"""The best label: a table of optima, brute force without symmetry, and exact privacy."""

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_epsilon
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.mechanisms.ladder import ladder_matrix
from private_ensembles.mechanisms.laws import exponential
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.optimal_label import best_label as module
from private_ensembles.optimal_label.best_label import best_label
from private_ensembles.optimal_label.objective import right_weights
from private_ensembles.votes.synthetic import ConsensusProfile

from . import oracle


@pytest.mark.parametrize(
    ("K", "C", "epsilon", "accuracy", "others", "optimum"),
    [
        # A prototype printed 0.577 for 0.57646, which is 0.5765 rounded once more.
        (11, 10, 1.0, 0.4, (0.404, 0.479), 0.576),
        (20, 10, 0.5, 0.7, (0.739, 0.833), 0.919),
        (11, 3, 0.2676, 0.7, (0.527, 0.610), 0.648),
        (100, 3, 0.1, 0.5, (0.628, 0.724), 0.760),
    ],
)
def test_optima_are_those_of_the_table(K, C, epsilon, accuracy, others, optimum):
    found = best_label(K, C, epsilon, accuracy=accuracy)
    assert found.certificate.holds
    assert found.certificate.gap < 1e-5
    assert round(found.certificate.utility, 3) == optimum
    assert round(found.certificate.upper_bound, 3) == optimum
    weights = right_weights(found.histograms, accuracy)
    for name, printed in zip(("exponential", "permute_and_flip"), others, strict=True):
        table = load(name).law.weigh(found.histograms.counts, epsilon / 2)
        p = np.empty(len(weights))
        p[found.histograms.groups] = table
        assert round(float(weights @ p), 3) == printed
        assert weights @ p < found.certificate.utility


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
@pytest.mark.parametrize(
    ("K", "C", "epsilon", "accuracy"),
    [(1, 3, 0.5, 0.7), (3, 3, 1.0, 0.5), (4, 3, 0.3, 0.8), (5, 3, 0.7, 0.6), (3, 4, 0.5, 0.6)],
)
def test_no_mechanism_on_unsorted_histograms_is_better(K, C, epsilon, accuracy, delta):
    wanted = oracle.best_utility(K, C, epsilon, delta, oracle.weights(K, C, accuracy))
    certificate = best_label(K, C, epsilon, delta, accuracy=accuracy).certificate
    assert certificate.utility == pytest.approx(wanted, abs=1e-8)
    assert certificate.upper_bound >= wanted * (1 - 1e-10)


@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize(("K", "C", "epsilon"), [(3, 3, 1.0), (5, 3, 0.4), (4, 4, 0.7)])
def test_no_mechanism_is_better_on_a_profile(K, C, epsilon, delta):
    profile = ConsensusProfile(C, 0.5, (6, 2), (2, 2), confusion=0.5)
    wanted = oracle.best_utility(
        K, C, epsilon, delta, oracle.profile_weights(K, profile).astype(float)
    )
    certificate = best_label(K, C, epsilon, delta, profile=profile).certificate
    assert certificate.holds
    assert certificate.utility == pytest.approx(wanted, abs=1e-8)
    assert certificate.upper_bound >= wanted * (1 - 1e-10)


@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize("what", [{"accuracy": 0.6}, {"lead": 2}])
@pytest.mark.parametrize(("K", "C"), [(5, 3), (4, 4), (6, 2)])
def test_labels_are_private_in_exact_arithmetic(K, C, what, delta):
    found = best_label(K, C, 0.7, delta, **what)
    needed = oracle.exact_delta(found)
    assert needed <= found.certificate.worst <= delta
    table = found.distribution(enumerate_histograms(K, C))
    pairs = neighbour_pairs(enumerate_histograms(K, C))
    # A bit beyond delta, where a leak that uses it up does not read as infinite.
    audited = exact_epsilon(table, pairs, delta * (1 + 1e-6), relative_error=2.0**-52)
    assert audited <= 0.7 * (1 + 1e-9)
    assert audited == pytest.approx(0.7, rel=1e-4)


def test_half_the_noise_is_caught():
    claimed, rows = 0.5, enumerate_histograms(5, 3)
    table = best_label(5, 3, 2 * claimed, accuracy=0.6).distribution(rows)
    found = exact_epsilon(table, neighbour_pairs(rows), 0.0, relative_error=2.0**-52, side="lower")
    assert found > 1.99 * claimed


@pytest.mark.parametrize(("K", "delta"), [(5, 0.0), (11, 3e-4), (12, 0.05)])
def test_two_classes_are_the_ladder(K, delta):
    """Of every symmetric utility: whatever the accuracy, and for the least right as well."""
    ladder = ladder_matrix(K, 0.2676, delta)
    counts = np.stack([K - np.arange(K + 1), np.arange(K + 1)], axis=1)
    for what in ({"accuracy": 0.7}, {"lead": 1}):
        found = best_label(K, 2, 0.2676, delta, **what)
        weights = right_weights(found.histograms, 0.7)
        p = np.empty(len(weights))
        p[found.histograms.groups_of(counts)] = ladder
        if "accuracy" in what:
            assert found.certificate.utility == pytest.approx(weights @ p, abs=1e-8)
            np.testing.assert_allclose(found.distribution(counts), ladder, atol=1e-4)
        else:
            near = ladder[(K + 1) // 2 + (K % 2 == 0), 1]
            assert found.certificate.utility == pytest.approx(near, abs=1e-8)


def test_no_privacy_loss_leaves_the_uniform_label():
    found = best_label(6, 3, 1e-6, accuracy=0.8)
    np.testing.assert_allclose(found.distribution(enumerate_histograms(6, 3)), 1 / 3, atol=1e-4)
    assert found.certificate.upper_bound < 1 / 3 + 1e-5


def test_the_least_right_is_larger_than_that_of_the_label_for_a_profile():
    by_lead, by_profile = best_label(11, 4, 0.8, lead=5), best_label(11, 4, 0.8, accuracy=0.5)
    counts = by_lead.histograms.counts
    ahead = counts[counts[:, 0] - counts[:, 1] >= 5]
    least = by_lead.distribution(ahead)[:, 0].min()
    assert least == pytest.approx(by_lead.certificate.utility)
    assert by_lead.certificate.gap < 1e-7
    assert least > by_profile.distribution(ahead)[:, 0].min()
    flips = exponential.weigh(ahead, 0.4)[:, 0].min()
    assert least > flips


def test_a_first_order_method_comes_as_close_as_it_says(monkeypatch):
    exact = best_label(16, 6, 0.5, accuracy=0.5).certificate
    monkeypatch.setattr(module, "FACTORISED", 10)
    found = best_label.__wrapped__(16, 6, 0.5, accuracy=0.5).certificate
    assert found.holds
    assert found.gap < module.GAP
    assert found.utility <= exact.upper_bound
    assert exact.utility <= found.upper_bound
    with pytest.raises(ValueError, match="lead = 1: is for smaller n_teachers, n_classes and"):
        best_label.__wrapped__(16, 6, 0.5, lead=1)


def test_a_solver_that_gives_up_leaves_a_label_all_the_same(monkeypatch):
    def give_up(*_):
        raise RuntimeError("HiGHS ended with status 'Unbounded'")

    monkeypatch.setattr(module.interior_point, "solve", give_up)
    certificate = best_label.__wrapped__(9, 4, 0.5, accuracy=0.5).certificate
    assert certificate.holds
    assert certificate.gap < module.GAP
    with pytest.raises(RuntimeError, match="HiGHS ended"):
        best_label.__wrapped__(9, 4, 0.5, lead=1)


@pytest.mark.parametrize("epsilon", [1e-4, 12.0, 30.0, 300.0])
@pytest.mark.parametrize("delta", [0.0, 1e-10, 0.5])
def test_labels_at_extreme_budgets_are_private(epsilon, delta):
    found = best_label(5, 3, epsilon, delta, accuracy=0.8)
    assert oracle.exact_delta(found) <= delta
    assert found.certificate.gap < 1e-5


@pytest.mark.parametrize("epsilon", [12.0, 16.0, 20.0, 24.0])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_bound_is_near_however_large_epsilon_is(epsilon, delta):
    """Without scaled rows the solver's multipliers left up to 4 % here."""
    for K, C, accuracy in ((14, 5, 0.5), (31, 3, 0.4), (11, 10, 0.6)):
        assert best_label(K, C, epsilon, delta, accuracy=accuracy).certificate.gap < 1e-6


def test_a_label_is_solved_once():
    assert best_label(5, 3, 0.7, accuracy=0.6) is best_label(5, 3, 0.7, accuracy=0.6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 0.0, "accuracy": 0.7}, r"epsilon = 0.0: must be in \(0, 700\]"),
        ({"epsilon": 1.0, "delta": 1.0, "accuracy": 0.7}, r"delta = 1.0: must be in \[0, 1\)"),
        ({"epsilon": 1.0, "accuracy": 0.7, "gap": 0.0}, r"gap = 0.0: must be in \(0, 1\)"),
        ({"epsilon": 1.0, "lead": 1, "gap": 0.1}, "lead = 1: is for smaller n_teachers, n_classes"),
        ({"epsilon": 1.0}, "accuracy, profile, lead: exactly one of them must be given"),
        ({"epsilon": 1.0, "accuracy": 0.7, "lead": 1}, "exactly one of them must be given"),
    ],
)
def test_arguments_out_of_range_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        best_label(5, 3, **given)
