"""The best label: a table of optima, brute force without symmetry, and exact privacy."""

import numpy as np
import pytest

from private_ensembles.audit.divergence import exact_epsilon
from private_ensembles.audit.histograms import enumerate_histograms, neighbour_pairs
from private_ensembles.labels.ladder import ladder_probabilities
from private_ensembles.labels.mechanism import load_mechanism
from studies.best_label.best_label import best_label
from studies.best_label.objective import correct_label_weights

from . import oracle


@pytest.mark.parametrize(
    ("K", "C", "epsilon", "accuracy", "others", "optimum"),
    [
        # A prototype printed 0.577 for 0.57646, which is 0.5765 rounded once more.
        (11, 10, 1.0, 0.4, (0.404, 0.479), 0.576),
        (11, 3, 0.2676, 0.7, (0.527, 0.610), 0.648),
        pytest.param(20, 10, 0.5, 0.7, (0.739, 0.833), 0.919, marks=pytest.mark.slow),
        pytest.param(100, 3, 0.1, 0.5, (0.628, 0.724), 0.760, marks=pytest.mark.slow),
    ],
)
def test_optima_are_those_of_the_table(K, C, epsilon, accuracy, others, optimum):
    found = best_label(K, C, epsilon, accuracy=accuracy)
    assert found.certificate.holds
    assert found.certificate.gap < 1e-5
    assert round(found.certificate.utility, 3) == optimum
    assert round(found.certificate.upper_bound, 3) == optimum
    weights = correct_label_weights(found.histograms, accuracy)
    for name, printed in zip(("exponential", "permute_and_flip"), others, strict=True):
        table = load_mechanism(name).law.label_probabilities(found.histograms.counts, epsilon / 2)
        p = np.empty(len(weights))
        p[found.histograms.groups] = table
        assert round(float(weights @ p), 3) == printed
        assert weights @ p < found.certificate.utility


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.3])
@pytest.mark.parametrize(
    ("K", "C", "epsilon", "accuracy"),
    [
        (1, 3, 0.5, 0.7),
        (4, 3, 0.3, 0.8),
        (3, 4, 0.5, 0.6),
        pytest.param(5, 3, 0.7, 0.6, marks=pytest.mark.slow),
    ],
)
def test_no_mechanism_on_unsorted_histograms_is_better(K, C, epsilon, accuracy, delta):
    wanted = oracle.best_utility(K, C, epsilon, delta, oracle.weights(K, C, accuracy))
    certificate = best_label(K, C, epsilon, delta, accuracy=accuracy).certificate
    assert certificate.utility == pytest.approx(wanted, abs=1e-8)
    assert certificate.upper_bound >= wanted * (1 - 1e-10)


@pytest.mark.parametrize("delta", [0.0, 0.02])
@pytest.mark.parametrize(("K", "C"), [(4, 3), (6, 2)])
def test_labels_are_private_in_exact_arithmetic(K, C, delta):
    found = best_label(K, C, 0.7, delta, accuracy=0.6)
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
    ladder = ladder_probabilities(K, 0.2676, delta, np.arange(K + 1))
    counts = np.stack([K - np.arange(K + 1), np.arange(K + 1)], axis=1)
    found = best_label(K, 2, 0.2676, delta, accuracy=0.7)
    p = np.empty(len(found.units))
    p[found.histograms.groups_of(counts)] = ladder
    best = correct_label_weights(found.histograms, 0.7) @ p
    assert found.certificate.utility == pytest.approx(best, abs=1e-8)
    np.testing.assert_allclose(found.distribution(counts), ladder, atol=1e-4)


def test_no_privacy_loss_leaves_the_uniform_label():
    found = best_label(6, 3, 1e-6, accuracy=0.8)
    np.testing.assert_allclose(found.distribution(enumerate_histograms(6, 3)), 1 / 3, atol=1e-4)
    assert found.certificate.upper_bound < 1 / 3 + 1e-5


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e-4, 0.0), (1e-4, 0.5), (12.0, 1e-10), (300.0, 0.0), (300.0, 1e-10)]
)
def test_labels_at_extreme_budgets_are_private(epsilon, delta):
    found = best_label(5, 3, epsilon, delta, accuracy=0.8)
    assert oracle.exact_delta(found) <= delta
    assert found.certificate.gap < 1e-5


@pytest.mark.parametrize(
    ("K", "C", "accuracy"),
    [
        (31, 3, 0.4),
        *(pytest.param(*s, marks=pytest.mark.slow) for s in ((14, 5, 0.5), (11, 10, 0.6))),
    ],
)
def test_the_bound_is_near_however_large_epsilon_is(K, C, accuracy):
    """Without scaled rows the solver's multipliers left up to 4 % here."""
    for epsilon, delta in ((12.0, 0.0), (16.0, 1e-5), (20.0, 0.0), (24.0, 1e-5)):
        assert best_label(K, C, epsilon, delta, accuracy=accuracy).certificate.gap < 1e-6


def test_a_label_is_solved_once():
    assert best_label(5, 3, 0.7, accuracy=0.6) is best_label(5, 3, 0.7, accuracy=0.6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 0.0, "accuracy": 0.7}, r"epsilon = 0.0: must be in \(0, 700\]"),
        ({"epsilon": 1.0, "delta": 1.0, "accuracy": 0.7}, r"delta = 1.0: must be in \[0, 1\)"),
        ({"epsilon": 1.0, "accuracy": 0.2}, r"accuracy = 0\.2: must be above 1 / 3"),
    ],
)
def test_arguments_out_of_range_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        best_label(5, 3, **given)


def test_sizes_that_take_minutes_are_refused():
    words = r"n_teachers = 30, n_classes = 10: .* must be at most 100,000"
    with pytest.raises(ValueError, match=words):
        best_label(30, 10, 1.0, accuracy=0.5)
