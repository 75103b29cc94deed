"""Small votes that tests of NZC's experiment and of its tables share."""

import numpy as np
import pytest

from private_ensembles.labels.votes import Votes

MECHANISM = {"constant": 1e100, "gamma": 1e10, "noise": "laplace", "ties": "first"}
SETTINGS = {
    "K": 20,
    "few": 3,
    "pool": 60,
    "delta": 1e-5,
    "lnmax": {"scale": 2.0, "queries": [10, 60]},
    "mechanism": MECHANISM,
}
HERE = {"name": "here", "seed": 0, "noise": "reproducible"}


def inputs(votes, labels):
    """Counts by number of teachers as the files of an experiment."""
    few, many = (Votes(3, labels, counts=votes[K]) for K in (3, 20))
    return {"few": few, "many": many}


@pytest.fixture(scope="module")
def nzc_inputs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    share = np.full((60, 3), 0.25)
    share[np.arange(60), labels] = 0.5
    votes = {K: np.array([rng.multinomial(K, p) for p in share]) for K in (3, 20)}
    votes[20][0] = [8, 8, 4]  # a tie
    return votes, labels
