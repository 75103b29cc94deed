"""The study of the paper's Monte-Carlo objectives says what the algebra says."""

import numpy as np
import pytest

from private_ensembles.papers.darrm.objective_study import study_objectives


@pytest.fixture(scope="module")
def study():
    return study_objectives(
        11, 3, 0.1, 1e-5, draws=[100, 10_000], repetitions=2, seed=0, solver="highs"
    )


def of(study, algorithm, sampling, **facts):
    chosen = study[(study["algorithm"] == algorithm) & (study["sampling"] == sampling)]
    for name, value in facts.items():
        chosen = chosen[chosen[name] == value]
    assert len(chosen)
    return chosen


def test_as_printed_algorithm_4_stays_useless_at_ten_thousand_draws(study):
    runs = of(study, "algorithm4", "uniform:0,1", draws=10_000)
    assert (runs["coefficient_error"] > 0.95).all()
    assert runs["utility_loss"].max() > 0.01
    assert np.isnan(of(study, "algorithm4", "uniform:0,1", estimate="limit")["utility"].item())


def test_on_the_upper_half_algorithm_4_tends_to_the_closed_form(study):
    runs = of(study, "algorithm4", "uniform:0.5,1")
    assert runs[runs["draws"] == 10_000]["coefficient_error"].max() < 0.01
    assert runs[runs["estimate"] == "limit"]["coefficient_error"].item() < 1e-12
    assert runs[runs["draws"] == 10_000]["utility_loss"].max() < 1e-8


@pytest.mark.parametrize("sampling", ["grid", "multisets"])
def test_algorithm_5_keeps_a_bias_that_hardly_moves_gamma(study, sampling):
    limit = of(study, "algorithm5", sampling, estimate="limit")
    assert 0.02 < limit["coefficient_error"].item() < 0.03
    runs = of(study, "algorithm5", sampling, draws=10_000)
    assert (runs["coefficient_error"] > 0.01).all()
    assert runs["utility_loss"].max() < 1e-4


def test_no_estimate_beats_the_bound(study):
    assert (study["utility_loss"].dropna() > 0).all()
