"""What NZC states of its privacy is judged by what is true, and not by the formula it came from."""

import pandas as pd
import pytest

from private_ensembles.papers.compare.comparison import compare
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.nzc.mathematics.claims_and_truth import (
    claimed_readings,
    lead_one_epsilon,
)

PRINTED = read_published([FOLDER / "nzc_table1.csv"])


@pytest.mark.parametrize("row", ["nzc", "nzc-few"])
def test_near_zero_cost_is_what_theorem_4_gives_and_not_the_cost(row):
    """A false claim about privacy is no match, though the formula behind it gives the digits."""
    cost = lead_one_epsilon(1e100, 1e10, 1e-6)
    assert cost > 1e89
    assert claimed_readings(1e10, 10_000, 1e-6)["scale"] == pytest.approx(1.05e-7, rel=2e-3)
    assert claimed_readings(1e10, 9_000, 1e-5)["scale"] < 0.005
    # Without the constant it would be next to nothing.
    assert lead_one_epsilon(0.0, 1e10, 1e-6) < 0.005
    # In SVHN's row, which needs no votes, and in MNIST's.
    mnist = [
        {"task": "mnist", "aggregator": name, "true_epsilon": lead_one_epsilon(1e100, 1e10, 1e-5)}
        for name in ("nzc", "nzc-5")
    ]
    found = compare(PRINTED, {"nzc": {"table1": pd.DataFrame(mnist)}}, data="embedded")
    found = found.set_index(["dataset", "row", "column"])
    for dataset in ("svhn", "mnist"):
        claim = found.loc[dataset, row, "claimed_epsilon"]
        assert claim["status"] == "explained"
        assert claim["reproduced"] == pytest.approx(cost)
        assert "claim is false" in claim["note"]
