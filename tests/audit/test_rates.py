"""The largest rate of one label: it spends its budget, and no more."""

import numpy as np
import pytest

from private_ensembles.audit import exact_epsilon, reduced_histograms
from private_ensembles.audit.rates import selection_rate
from private_ensembles.labels.laws import exponential, gumbel

ERRORS = {"relative_error": 1e-12, "absolute_error": 1e-300}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("law", [gumbel.LAW, exponential.LAW], ids=lambda law: law.name)
def test_exact_rate_spends_its_budget_and_beats_the_pure_one(law, n_classes):
    rate = selection_rate(0.2676, 3e-4, law.label_probabilities, 11, n_classes)
    assert rate > 0.2676 / 2
    histograms, pairs = reduced_histograms(11, n_classes)
    exact = exact_epsilon(law.label_probabilities(histograms, rate), pairs, 3e-4, **ERRORS)
    assert exact == pytest.approx(0.2676, abs=1e-7)
    assert exact <= 0.2676 + 1e-12


@pytest.mark.parametrize(
    ("epsilon", "delta", "name"), [(-0.1, 0.0, "epsilon"), (0.1, 1.5, "delta")]
)
def test_a_budget_of_no_rate_is_named(epsilon, delta, name):
    with pytest.raises(ValueError, match=name):
        selection_rate(epsilon, delta, gumbel.label_probabilities, 11)


@pytest.mark.parametrize("n_teachers", [100, 101])
@pytest.mark.parametrize("law", [gumbel.LAW, exponential.LAW], ids=lambda law: law.name)
def test_leads_beyond_what_a_float_tells_are_left_out_and_change_no_rate(law, n_teachers):
    """At epsilon = 40 a lead of 80 is certain: by all histograms, of an even and an odd number."""
    rate = selection_rate(40.0, 1e-3, law.label_probabilities, n_teachers)
    histograms, pairs = reduced_histograms(n_teachers, 2)
    exact = exact_epsilon(law.label_probabilities(histograms, rate), pairs, 1e-3, **ERRORS)
    assert exact <= 40 * (1 + 1e-12)
    more = law.label_probabilities(histograms, rate * (1 + 1e-6))
    assert exact_epsilon(more, pairs, 1e-3, **ERRORS) > 40


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.0])
def test_where_no_rate_keeps_the_budget_the_pure_one_is_given(epsilon):
    def plurality(counts, rate):
        return (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None]).astype(float)

    assert selection_rate(epsilon, 0.5, plurality, 5, 3) == epsilon / 2
