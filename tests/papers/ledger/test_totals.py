"""What all labels cost together: three compositions, and what they suppose."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.labels import registry
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.ledger.ledger import calibrate_budget
from private_ensembles.papers.ledger.totals import (
    FRESH,
    ONCE,
    RETRAINED,
    max_privacy_loss,
    totals,
)

BUDGET = {"K": 5, "m": 3, "epsilon": 0.1, "Delta": 1e-4}


@pytest.mark.parametrize("end", [0.02, 1.0, 30.0])
def test_largest_loss_is_where_the_curve_ends_but_for_its_leak(end):
    def curve(epsilons):
        return 1e-3 + np.maximum(0, end - epsilons)

    assert max_privacy_loss(curve) == pytest.approx(end, rel=2e-3)
    assert curve(np.array([max_privacy_loss(curve)]))[0] <= 1e-3 + 1e-12


@pytest.fixture(scope="module")
def together():
    chosen = {"small": calibrate_budget(BUDGET, optimize_gamma(5, 3, 0.1, 1e-4).gamma)}
    return totals(chosen, [1, 20], 1e-4)


def test_totals_list_every_mechanism_and_fall_with_what_is_known(together):
    expected = set(registry.entries()) - {
        "nzc",
        "lnmax",
        "confident_gnmax",
        "confident_gnmax_exact",
        "interactive_gnmax",
        "dpbag",
    }
    assert set(together["mechanism"]) == expected
    noisy = together[~together["mechanism"].isin(["majority_private", "committee"])]
    assert (noisy["optimal"] <= noisy["general"] * (1 + 1e-12)).all()
    # Up to the grid of losses, a thousandth of the largest one.
    assert (noisy["pld"] <= noisy["optimal"] * (1 + 5e-3)).all()
    assert (noisy["pld"] > 0).all()
    listed = noisy[noisy["teachers_once"].isna()]
    # Between what one pair of neighbours does Q times and the pair that dominates all.
    assert (listed["label"] <= listed["pld"] * (1 + 5e-3)).all()
    assert (listed["label"] > 0.5 * listed["pld"]).all()
    assert noisy.loc[noisy["teachers_once"].notna(), "label"].isna().all()
    one = noisy[noisy["queries"] == 1].set_index("mechanism")
    many = noisy[noisy["queries"] == 20].set_index("mechanism")
    assert (many["pld"] > one["pld"]).all()


def test_totals_of_private_teachers_say_what_they_suppose(together):
    rows = together.set_index(["mechanism", "queries"])
    opt = rows.loc[("darrm_opt", 20)]
    assert opt["holds_for"] == RETRAINED
    # What is always proven: all five teachers published, for any number of labels.
    total = optimal_composition(0.1, 1e-4, 5, opt["delta_total"]).epsilon
    assert opt["teachers_once"] == total < opt["optimal"]
    majority = rows.loc[("majority_private", 20)]
    assert (majority["teachers_once"], majority["delta_total"]) == (0.1, 1e-4)
    assert majority["holds_for"] == ONCE
    assert rows.loc[("gnmax", 20), "holds_for"] == FRESH
    assert np.isnan(rows.loc[("gnmax", 20), "teachers_once"])


def test_one_label_costs_no_more_in_the_totals_than_by_itself(together):
    rows = together[together["mechanism"] == "gnmax_exact"].set_index("queries")
    # A single label at delta' more than its own delta costs no more than its exact epsilon.
    assert rows.loc[1, "pld"] <= rows.loc[1, "epsilon"] * (1 + 5e-3)


@pytest.mark.slow
def test_published_totals_are_the_computed_ones(root):
    """docs/audit/totals.csv, which the table "Many labels together" of docs/audit.md shows."""
    budget = {"K": 11, "m": 3, "epsilon": 0.0892, "Delta": 1e-4}
    chosen = {"mnist": calibrate_budget(budget, optimize_gamma(11, 3, 0.0892, 1e-4).gamma)}
    place = ["mechanism", "queries"]
    ours = totals(chosen, [20, 100], 1e-4).set_index(place)
    kept = pd.read_csv(root / "docs" / "audit" / "totals.csv").set_index(place)
    columns = ["general", "optimal", "pld", "label", "teachers_once"]
    ours, kept = (table.loc[ours.index, columns].astype(float) for table in (ours, kept))
    pd.testing.assert_frame_equal(ours, kept, rtol=1e-4)
