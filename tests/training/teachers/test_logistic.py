"""Batched logistic regressions are scikit-learn's, and each is a function of its own shard."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from private_ensembles.training.data.shards import permutation_shards
from private_ensembles.training.teachers import logistic
from private_ensembles.training.teachers.logistic import fit_shards, predict


def _records(seed=0, n=400, one_hot=12):
    """Records like UCI Adult's: indicators of one attribute, a few numbers in 0..1."""
    generator = np.random.default_rng(seed)
    category = generator.integers(one_hot, size=n)
    numbers = generator.random((n, 5))
    features = np.hstack([np.eye(one_hot)[category], numbers])
    chance = 1 / (1 + np.exp(-(4 * numbers[:, 0] - 3 + 0.3 * (category % 3))))
    return features, (generator.random(n) < chance).astype(np.uint8)


def _newton(features, labels, C, intercept="free"):
    """One fit by dense Newton steps down to rounding: an independent way to the optimum."""
    extended = np.hstack([features, np.ones((len(features), 1))])
    penalty = np.diag([1.0] * features.shape[1] + [float(intercept == "penalised")])
    theta = np.zeros(len(penalty))
    for _ in range(60):
        p = 1 / (1 + np.exp(-extended @ theta))
        hessian = penalty + C * (extended.T * (p * (1 - p))) @ extended
        theta -= np.linalg.solve(hessian, penalty @ theta + C * extended.T @ (p - labels))
    return theta


@pytest.mark.parametrize("intercept", logistic.INTERCEPTS)
@pytest.mark.parametrize(("n_shards", "C"), [(16, 1.0), (4, 1.0), (4, 0.05), (4, 30.0)])
def test_every_coefficient_is_within_its_proven_distance_of_the_optimum(n_shards, C, intercept):
    features, labels = _records()
    shards = permutation_shards(len(labels), n_shards, np.random.default_rng(1))
    options = {"C": C, "tolerance": 1e-4, "intercept": intercept}
    teachers = fit_shards(features, labels, shards, features, **options)
    assert (teachers.distance_bound <= 1e-4).all()
    for shard, w, b, distance in zip(
        shards, teachers.coefficients, teachers.intercepts, teachers.distance_bound, strict=True
    ):
        optimum = _newton(features[shard], labels[shard], C, intercept)
        assert np.linalg.norm(w - optimum[:-1]) <= distance + 1e-12
        assert abs(b - optimum[-1]) <= distance + 1e-12


def test_fits_are_those_of_scikit_learn_to_a_thousandth_in_every_coefficient():
    features, labels = _records(seed=3)
    shards = permutation_shards(len(labels), 8, np.random.default_rng(2))
    teachers = fit_shards(features, labels, shards, features)
    for shard, w, b in zip(shards, teachers.coefficients, teachers.intercepts, strict=True):
        fit = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features[shard], labels[shard])
        assert abs(fit.coef_[0] - w).max() < 1e-3
        assert abs(fit.intercept_[0] - b) < 1e-3


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_fits_with_a_penalised_intercept_are_those_of_liblinear(C):
    features, labels = _records(seed=3)
    shards = permutation_shards(len(labels), 8, np.random.default_rng(2))
    options = {"C": C, "intercept": "penalised"}
    teachers = fit_shards(features, labels, shards, features, **options)
    free = fit_shards(features, labels, shards, features, C=C)
    for number, shard in enumerate(shards):
        fit = LogisticRegression(C=C, solver="liblinear", tol=1e-12, max_iter=10_000)
        fit.fit(features[shard], labels[shard])
        assert abs(fit.coef_[0] - teachers.coefficients[number]).max() < 1e-5
        assert abs(fit.intercept_[0] - teachers.intercepts[number]) < 1e-5
        assert abs(fit.intercept_[0] - free.intercepts[number]) > 1e-3


def test_predictions_are_those_of_scikit_learn():
    features, labels = _records(seed=4)
    shards = permutation_shards(len(labels), 5, np.random.default_rng(2))
    votes = predict(fit_shards(features, labels, shards, features), features)
    for shard, cast in zip(shards, votes, strict=True):
        fit = LogisticRegression(tol=1e-10, max_iter=10_000).fit(features[shard], labels[shard])
        np.testing.assert_array_equal(fit.predict(features), cast)


@pytest.mark.parametrize("intercept", logistic.INTERCEPTS)
def test_a_fit_is_a_function_of_its_own_shard_and_of_public_records(intercept):
    features, labels = _records(seed=5)
    shards = permutation_shards(len(labels), 10, np.random.default_rng(2))
    before = fit_shards(features, labels, shards, features[:50].copy(), intercept=intercept)
    reference = features[:50].copy()
    changed, flipped = features.copy(), labels.copy()
    changed[shards[3]] *= 50  # slow to converge: the others must not wait, or go on, for it
    flipped[shards[3]] = 1 - flipped[shards[3]]
    after = fit_shards(changed, flipped, shards, reference, intercept=intercept)
    others = [i for i in range(10) if i != 3]
    assert not np.allclose(before.coefficients[3], after.coefficients[3])
    np.testing.assert_array_equal(before.coefficients[others], after.coefficients[others])
    np.testing.assert_array_equal(before.intercepts[others], after.intercepts[others])


def test_chunks_do_not_change_a_fit(monkeypatch):
    features, labels = _records(seed=6)
    shards = permutation_shards(len(labels), 10, np.random.default_rng(2))
    whole = fit_shards(features, labels, shards, features)
    monkeypatch.setattr(logistic, "_ROWS", 100)
    parts = fit_shards(features, labels, shards, features)
    np.testing.assert_allclose(whole.coefficients, parts.coefficients, rtol=0, atol=1e-12)


@pytest.mark.parametrize("intercept", logistic.INTERCEPTS)
def test_a_shard_with_one_label_has_a_constant_teacher(intercept):
    features, labels = _records(seed=7)
    ones, zeros = np.flatnonzero(labels == 1)[:20], np.flatnonzero(labels == 0)[:20]
    mixed = np.concatenate([ones[:10], zeros[:10]])
    shards = np.stack([ones, zeros, mixed])
    teachers = fit_shards(features, labels, shards, features, intercept=intercept)
    assert np.isinf(teachers.intercepts).tolist() == [True, True, False]
    votes = predict(teachers, features)
    assert votes[0].all()
    assert not votes[1].any()
    assert 0 < votes[2].mean() < 1
    assert teachers.distance_bound[:2].tolist() == [0, 0]
    only = fit_shards(features, labels, ones[None], features)
    assert predict(only, features).all()


def test_constant_features_and_scaled_ones_are_fitted():
    features, labels = _records(seed=8)
    features[:, 0] = 3.0
    features[:, -1] *= 100
    shards = permutation_shards(len(labels), 4, np.random.default_rng(2))
    teachers = fit_shards(features, labels, shards, features)
    optimum = _newton(features[shards[1]], labels[shards[1]], 1.0)
    assert np.linalg.norm(teachers.coefficients[1] - optimum[:-1]) < 1e-5


def test_what_is_no_weight_or_tolerance_is_refused():
    features, labels = _records()
    shards = permutation_shards(400, 4, np.random.default_rng(0))
    for change in ({"C": 0}, {"tolerance": float("nan")}):
        with pytest.raises(ValueError, match="must be a finite number > 0"):
            fit_shards(features, labels, shards, features, **change)
    with pytest.raises(ValueError, match="intercept = 'fixed': must be one of free, penalised"):
        fit_shards(features, labels, shards, features, intercept="fixed")


def test_a_fit_that_does_not_converge_says_so(monkeypatch):
    features, labels = _records()
    monkeypatch.setattr(logistic, "_NEWTON_STEPS", 1)
    shards = permutation_shards(400, 4, np.random.default_rng(0))
    with pytest.raises(RuntimeError, match=r"4 of 4 fits are up to .* after 1 Newton steps"):
        fit_shards(features, labels, shards, features)


def test_votes_near_the_boundary_are_those_of_double_precision():
    """Where single precision alone is wrong, of huge numbers, and of a constant teacher."""
    source = np.random.default_rng(9)
    features = source.random((500, 7)) * 1000
    coefficients = source.normal(size=(6, 7))
    on = features[np.arange(6)]
    intercepts = -(on * coefficients).sum(axis=1) * (1 + source.choice([-1, 1], 6) * 1e-12)
    coefficients[4:] *= 1e200
    intercepts[4] *= 1e200
    intercepts[5] = -np.inf
    teachers = logistic.LogisticTeachers(coefficients, intercepts, np.zeros(6))
    votes = predict(teachers, features)
    margins = features @ coefficients.T + intercepts
    np.testing.assert_array_equal(votes, (margins > 0).T)
    assert votes.dtype == np.uint8
    single = features.astype(np.float32) @ coefficients[:4].T.astype(np.float32)
    single += intercepts[:4].astype(np.float32)
    assert (votes[:4] != (single > 0).T).any()
