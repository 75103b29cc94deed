"""Tables: printed digits of the privacy losses, and the tighter totals."""

import numpy as np
import pandas as pd
import pytest

from private_ensembles.accounting.composition import simple_composition
from private_ensembles.labels.gnmax import sigma_quantities
from private_ensembles.papers.compare.comparison import compare
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.darrm.tables import gnmax_sigmas, privacy_loss

PAPER = (
    {"name": "mnist", "stand_in": False, "epsilon": 0.0892, "Delta": 1e-4},
    {"name": "fashion-mnist", "stand_in": False, "epsilon": 0.0852, "Delta": 1e-4},
)


def losses(m, datasets=PAPER):
    return privacy_loss(datasets, K=11, m=m, queries=[20, 50, 100], delta_prime=1e-4)


LOSS_TABLES = [("table2", 3), ("table5", 1), ("table7", 5), ("table9", 7)]


@pytest.mark.parametrize(("item", "m"), LOSS_TABLES)
def test_privacy_losses_equal_the_printed_digits(item, m):
    printed = read_published([FOLDER / f"darrm_{item}.csv"])
    table = compare(printed, {"darrm": {item: losses(m)}}, data="embedded")
    assert len(table) == 16
    # What one label costs is what the run was told.
    inputs = table["row"] == "per query"
    assert set(table.loc[inputs, "status"]) == {"input"}
    assert set(table.loc[~inputs, "status"]) == {"match"}


@pytest.mark.parametrize("m", [1, 3, 5, 7])
def test_publishing_all_private_teachers_costs_less_than_twenty_labels(m):
    table = losses(m)
    assert (table["epsilon_total_optimal"] < table["epsilon_total"]).all()
    assert (table["epsilon_all_teachers"] < table["epsilon_total_optimal"]).all()
    assert (table["epsilon_total_gnmax"] < table["epsilon_total_optimal"]).all()
    assert (table["tightest"] == table["epsilon_all_teachers"]).all()
    assert table["tightest_reason"].str.contains("post-processing").all()
    # One teacher's cost holds at its own small delta, whatever the table's.
    assert (table["delta_disjoint_shards"] < table["delta_total"]).all()
    twenty = table[table["queries"] == 20]
    assert (twenty["epsilon_disjoint_shards"] < twenty["epsilon_all_teachers"]).all()


def test_what_supposes_teachers_trained_anew_is_never_called_tightest():
    """Labels of teachers that are trained once may cost more than composition says."""
    few = privacy_loss(PAPER[:1], K=11, m=1, queries=[2], delta_prime=1e-2).iloc[0]
    assert few["epsilon_total_optimal"] < few["epsilon_all_teachers"] == few["tightest"]
    assert "post-processing" in few["tightest_reason"]


@pytest.mark.parametrize("m", [1, 3, 5, 7])
def test_a_committee_costs_the_same_at_one_query_and_at_ten_thousand(m):
    table = privacy_loss(PAPER[:1], K=11, m=m, queries=[1, 10_000], delta_prime=1e-4)
    assert table["epsilon_committee"].nunique() == 1
    assert table["delta_committee"].nunique() == 1
    epsilon, delta = PAPER[0]["epsilon"], PAPER[0]["Delta"]
    assert table["epsilon_committee"][0] <= simple_composition(epsilon, delta, m).epsilon
    assert table["epsilon_committee"][0] == pytest.approx(m * epsilon, rel=1e-4)
    assert table["delta_committee"][0] == pytest.approx(m * delta)


def test_table_4_holds_the_paper_search_and_the_tighter_scales():
    setting = {"name": "mnist", "stand_in": False, "m": 3}
    setting |= {"epsilon_query": 0.2676, "delta_query": 3e-4}
    search = pd.DataFrame(sigma_quantities(0.2676, 3e-4, 11, order_max=500, order_step=0.5))
    row = gnmax_sigmas([setting], {(0.2676, 3e-4): search}).iloc[0]
    assert f"{row['order_least']:.2f}" == "31.31"
    scales = row[["sigma_rdp", "sigma_improved_rdp", "sigma_analytic", "sigma_exact"]]
    np.testing.assert_allclose(scales.astype(float), [21.46, 14.63, 12.90, 7.68], atol=0.01)
    with pytest.raises(ValueError, match="no search"):
        gnmax_sigmas([setting], {})
    with pytest.raises(ValueError, match="lacks sigma_exact"):
        gnmax_sigmas([setting], {(0.2676, 3e-4): search[search["quantity"] != "sigma_exact"]})
