"""The section `darrm`: the slices that rules get."""

import pytest

from private_ensembles.run.check import check
from tests.run.shipped import DEFAULT, changed


def checked(**values):
    """Return the section with other values of its own, a dot written as two scores."""
    changes = {f"darrm.{path.replace('__', '.')}": value for path, value in values.items()}
    return check(changed(changes)).darrm


def test_sweeps_leave_out_m_beyond_k():
    sweeps = checked(sweeps__m=[1, 3, 9, 33]).sweeps
    assert sweeps.allowances(11) == [1, 3, 9]
    assert sweeps.allowances(201) == [1, 3, 9, 33]


def test_labels_are_released_for_the_list_and_the_tables():
    assert checked(m=[9]).label_allowances() == [1, 3, 5, 7, 9]
    assert checked(m=[1], tables__table10=None).label_allowances() == [1, 3, 5]


def test_embedded_data_use_the_stand_in_and_its_parameters():
    assert checked().label_datasets() == ["digits"]
    assert check(DEFAULT | {"data": "paper"}).darrm.label_datasets() == ["mnist", "fashion-mnist"]
    assert checked().training("digits", "private")["model"] == "linear"
    assert checked().training("mnist", "plain")["model"] == "darrm_cnn"


def test_query_costs_are_the_published_ones():
    cost = checked().query_cost("mnist", 3)
    assert (cost["epsilon_query"], cost["delta_query"]) == (0.2676, 0.0003)
    assert list(checked().paper_query_costs(3)) == ["mnist", "fashion-mnist"]
    assert list(checked().teacher_costs()) == ["mnist", "fashion-mnist", "digits"]


def test_tables_that_are_left_out_have_no_allowance():
    tables = checked(tables__table5=None).tables
    assert tables.allowances("table2", "table5", "table7") == {"table2": 3, "table7": 5}


def test_label_experiment_holds_both_deltas():
    experiment = check(DEFAULT | {"data": "paper"}).darrm.label_experiment("mnist", 3)
    assert experiment["delta_query"] == 3e-4
    assert experiment["delta_gamma"] == pytest.approx(1 - (1 - 1e-4) ** 3)
    assert experiment["delta_gamma"] < experiment["delta_query"]


def test_hashed_shards_keep_their_sizes_out_of_the_schedule():
    hashed = check(changed({"data": "paper", "darrm.shards": "keyed_hash"}))
    private = hashed.training_parameters("mnist", "private", 11)
    assert private["shards"] == "keyed_hash"
    assert private["shard_size"] == 1024  # as is accounted for
    plain = hashed.training_parameters("mnist", "plain", 11)
    assert plain["shards"] == "keyed_hash"
    assert "shard_size" not in plain
    # PATE's own ensembles are not DaRRM's, and the default adds nothing
    assert "shards" not in hashed.training_parameters("mnist-10", "plain", 250)
    assert "shards" not in checked().training("mnist", "private", 11)
    assert hashed.darrm.label_experiment("mnist", 3)["shards"] == "keyed_hash"


def test_accounting_covers_all_data_sets_and_only_what_it_uses():
    slices = checked().accounting()
    assert list(slices) == ["mnist", "fashion-mnist", "digits"]
    assert "learning_rate" not in slices["mnist"]["private_teachers"]


@pytest.mark.parametrize("prior", ["uniform:0.7,0.5", "uniform:0.1,0.7", "fixed:0.5", "other:0,1"])
def test_priors_of_another_kind_or_below_one_half_are_refused(prior):
    with pytest.raises(ValueError, match="prior"):
        checked(prior=prior)


def test_priors_and_actual_distributions_are_read():
    assert checked(prior="absolute-uniform:0.1,0.7").prior == "absolute-uniform:0.1,0.7"
    actual = ["fixed:0.5", "common:0.5,1", "absolute-uniform:0,1"]
    assert checked(figure9__actual=actual).figure9.actual == actual
