"""Teachers with a penalised intercept: the objective's own minimiser votes, labels are counted."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from private_ensembles.papers.dpbag.experiment import cast_votes
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import first_exceeding
from private_ensembles.training.data.shards import draw_partitions
from private_ensembles.training.teachers.logistic import predict
from studies.intercept import penalised_intercept
from tests.papers.dpbag.conftest import BUDGET, LOGISTIC, PATH

OPTIONS = {"n": 5, "partitions": range(2), "n_queries": 60, "seed": 3, "path": PATH}


def minimiser(features, labels):
    """The weights and intercept that minimise the penalised objective, by another method."""
    signs = 2.0 * labels - 1

    def objective(theta):
        margins = signs * (features @ theta[:-1] + theta[-1])
        share = signs / (1 + np.exp(margins))
        gradient = theta - np.append(features.T @ share, share.sum())
        return theta @ theta / 2 + np.logaddexp(0, -margins).sum(), gradient

    start = np.zeros(features.shape[1] + 1)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    return found.x


def test_votes_are_those_of_the_penalised_minimiser(thirds):
    done = []
    votes = penalised_intercept.cast_votes(thirds, C=1.0, **OPTIONS, progress=done.append)
    assert done == [1, 2]
    features, labels = thirds.teachers
    queries = thirds.queries[0][:60]
    for partition, part in enumerate(draw_partitions(189, 5, range(2), 3, *PATH, "partition")):
        for number, shard in enumerate(part):
            theta = minimiser(features[shard], labels[shard])
            margins = queries @ theta[:-1] + theta[-1]
            clear = np.abs(margins) > 1e-5  # the other method stops early
            assert clear.mean() > 0.99
            mine = votes.unpack_votes(partition)[number]
            np.testing.assert_array_equal(mine[clear], (margins > 0)[clear])


def test_shards_are_those_of_the_free_intercept_which_votes_otherwise(thirds):
    voted = penalised_intercept.cast_votes(thirds, C=1.0, **OPTIONS)
    free = cast_votes(thirds, "logistic", LOGISTIC, **OPTIONS)
    np.testing.assert_array_equal(voted.shards, free.shards)
    assert (voted.count_ones() != free.count_ones()).any()


def test_a_shard_of_one_label_is_a_constant_teacher():
    features, queries = np.eye(3), np.ones((4, 3))
    labels = np.array([[0] * 3, [1] * 3, [0, 1, 1]])
    teachers = penalised_intercept._fit_teachers(np.stack([features] * 3), labels, 1.0, np.zeros(4))
    assert predict(teachers, queries)[:2].tolist() == [[0] * 4, [1] * 4]
    assert np.isfinite(teachers.intercepts[2])


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_fits_are_liblinear_s(thirds, C):
    features, labels = thirds.teachers
    part = draw_partitions(189, 5, range(1), 3, *PATH, "partition")[0]
    starts = np.zeros(31), np.random.default_rng(0).normal(size=31)
    found, other = (
        penalised_intercept._fit_teachers(features[part], labels[part], C, start)
        for start in starts
    )
    np.testing.assert_allclose(other.coefficients, found.coefficients, rtol=0, atol=2e-9)
    fitted = np.column_stack([found.coefficients, found.intercepts])
    for theta, shard in zip(fitted, part, strict=True):
        fit = LogisticRegression(C=C, solver="liblinear", tol=1e-12, max_iter=10_000)
        fit.fit(features[shard], labels[shard])
        wanted = np.append(fit.coef_[0], fit.intercept_[0])
        np.testing.assert_allclose(theta, wanted, rtol=0, atol=1e-6)


def test_a_fit_that_does_not_end_says_so(thirds, monkeypatch):
    monkeypatch.setattr(penalised_intercept, "_NEWTON_STEPS", 1)
    with pytest.raises(RuntimeError, match="from its optimum after 1 Newton steps: must be within"):
        penalised_intercept.cast_votes(thirds, C=1.0, **OPTIONS)


def test_labels_are_counted_as_equation_3_has_them(thirds):
    given = {"n": 5, "seed": 3, "path": PATH, "C": 1.0}
    rows = penalised_intercept.count_labels(thirds, BUDGET, sizes=[1, 2], **given)
    votes = penalised_intercept.cast_votes(thirds, **{**OPTIONS, "n_queries": 189}, C=1.0)
    found = first_exceeding(votes, [1, 2], BUDGET["epsilon"], 2 / 5, 1e-3, 80)
    assert [(row["k"], row["epsilon"]) for row in rows] == [(1, 1), (1, 5), (2, 1), (2, 5)]
    asked = 2 * 4  # twice what SAA buys
    for row, labels in zip(rows, found.ravel().tolist(), strict=True):
        assert row["first_exceeding"] == (labels if labels <= asked else None)
        assert row["delta"] == 1e-3


def test_the_table_has_means_over_splits():
    row = {"dataset": "d", "stand_in": True, "n": 20, "epsilon": 1.0, "delta": 1e-3}
    counts = [(5, (30, 34)), (7, (30, None))]
    rows = [
        row | {"k": k, "seed": seed, "first_exceeding": labels}
        for k, both in counts
        for seed, labels in enumerate(both)
    ]
    table = penalised_intercept.summarise_counts(pd.DataFrame(rows)).set_index("k")
    assert table.loc[5, "first_exceeding_mean"] == 32
    assert table.loc[5, "first_exceeding_sd"] == pytest.approx(math.sqrt(8))
    assert table.loc[5, "first_exceeding_error"] == pytest.approx(math.sqrt(8 / 2 + 8 / 5))
    assert math.isnan(table.loc[7, "first_exceeding_mean"])  # a split's queries end first
    assert set(table["release"].str.startswith("not for release")) == {True}
    assert set(table["splits"]) == {2}


@pytest.mark.parametrize("label", [0, 1, None])
def test_fits_start_from_public_records_alone(thirds, label):
    """From their shards' mean teacher, or from zeros where all of them have one label."""
    features, labels = thirds.queries
    labels = labels if label is None else np.full_like(labels, label)
    start = penalised_intercept._fit_public_teacher(features, labels, (5, 30), 1.0)
    assert start.any() == (label is None)
    if label is None:
        fit = LogisticRegression(solver="liblinear", tol=1e-12, max_iter=10_000)
        shards = [slice(i, i + 30) for i in range(0, 150, 30)]
        fits = [fit.fit(features[i], labels[i]).coef_[0] for i in shards]
        np.testing.assert_allclose(start[:-1], np.mean(fits, axis=0), rtol=0, atol=1e-6)
