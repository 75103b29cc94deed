"""The benchmark of many findings: what it compares is what it says, at a small size."""

import math

import numpy as np
import pytest

from benchmarks import findings


@pytest.fixture(scope="module")
def data(toy):
    with toy(findings):
        return findings.measure(quick=True)


def test_our_account_is_never_behind_at_the_same_mechanism(data):
    wide = data.pivot_table(index="mechanism", columns="source", values="noise")
    assert (wide.loc["binary, labels"] < wide.loc["binary, Rényi"]).all()
    assert (wide.loc["binary, at most two ones, labels"] < wide.loc["binary, labels"]).all()
    assert (wide.loc["powerset, labels"] < wide.loc["powerset, Rényi"]).all()
    assert (wide.loc["τ voting, exact"] < wide.loc["τ voting, Rényi"]).all()
    shares = data[["findings", "vectors"]]
    assert ((shares >= 0) & (shares <= 1)).all(axis=None)
    assert (data["vectors"] <= data["findings"] + 1e-12).all()
    assert "powerset, labels | 8 |" in findings.section(data)


def test_shares_are_those_of_drawn_noise():
    ensemble, rng = findings.together(5, 40), np.random.default_rng(3)
    spread, right, whole = findings.tau(ensemble, 4.0, "exact", 2)
    seen = ensemble.ballots.sum(axis=1)
    drawn = (seen + spread * rng.normal(size=(20000, *seen.shape)) > 20) == ensemble.truth
    assert drawn.mean() == pytest.approx(right, abs=0.01)
    assert drawn.all(axis=2).mean() == pytest.approx(whole, abs=0.01)
    sigma, right, whole = findings.powerset(ensemble, 4.0, "gnmax")
    codes = ensemble.ballots @ 2 ** np.arange(findings.FINDINGS)
    counts = np.stack([np.bincount(row, minlength=1024) for row in codes])
    chosen = np.stack(
        [(counts + sigma * rng.normal(size=counts.shape)).argmax(axis=1) for _ in range(400)]
    )
    vectors = (chosen[..., None] >> np.arange(findings.FINDINGS)) & 1
    assert (vectors == ensemble.truth).mean() == pytest.approx(right, abs=0.02)
    assert (vectors == ensemble.truth).all(axis=2).mean() == pytest.approx(whole, abs=0.03)


def test_tau_voting_shortens_ballots():
    ballots = np.ones((1, 1, findings.FINDINGS), dtype=np.int64)
    ensemble = findings.Ensemble(np.repeat(ballots, 2, axis=1), ballots[:, 0])
    spread, right, _ = findings.tau(ensemble, 8.0, "exact", 2)
    seen = 2 * math.sqrt(2 / findings.FINDINGS)
    assert right == pytest.approx(0.5 * (1 + math.erf((seen - 1) / spread / math.sqrt(2))))
