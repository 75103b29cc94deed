"""The section `darrm`: the slices that rules get, grid points, and names of files."""

import copy

import pytest

from private_ensembles.base.parameter_names import parameters_of
from private_ensembles.papers.darrm import targets
from private_ensembles.papers.darrm.grid_points import prior_points, shape_points
from private_ensembles.run.check import check
from private_ensembles.run.file_names import make_point_reader
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


def test_a_point_of_gamma_comes_back_from_the_wildcards_of_its_name():
    darrm = check(DEFAULT).darrm
    path = targets.gamma_file(darrm, K=11, m=3, epsilon=0.1, Delta=1e-5, prior="uniform:0.5,1")
    wildcards = {
        "K": "11",
        "m": "3",
        "epsilon": "0.1",
        "Delta": "1e-05",
        "delta": "2.9999700001000004e-05",
        "prior": "uniform:0.5",
        "prior_end": "1",
    }
    assert path == f"results/darrm/gamma/{targets.GAMMA_POINT.format(**wildcards)}.json"
    read = make_point_reader(targets.GAMMA_POINT)(wildcards)
    assert read == parameters_of(path)
    assert read["delta"] == pytest.approx(3e-5, rel=1e-4)
    assert (read["K"], read["prior"]) == (11, "uniform:0.5,1")


def test_gamma_has_the_configured_prior_unless_its_point_has_one():
    darrm = check(DEFAULT).darrm
    point = {"K": 5, "m": 1, "epsilon": 0.1, "Delta": 0}
    assert f"prior={darrm.prior}.json" in targets.gamma_file(darrm, **point)
    assert "prior=common:0.5,1.json" in targets.gamma_file(darrm, **point, prior="common:0.5,1")


def test_labels_rest_on_votes_by_name_and_on_the_proof():
    config = changed({"darrm.training_seeds": [4, 7]})
    inputs = targets.label_inputs(check(config).darrm, "mnist", 3)
    assert list(inputs) == [
        *("private_4", "private_7", "plain_4", "plain_7"),
        *("gamma", "sigma", "proof"),
    ]
    assert parameters_of(inputs["plain_7"]) == {"kind": "plain", "K": 11, "seed": 7}
    # The budget of a label is m times a teacher's, in decimals.
    assert parameters_of(inputs["sigma"])["epsilon"] == 0.2676


DARRM = check(DEFAULT).darrm


def test_figure_6_has_its_allowance_and_delta_from_general_composition():
    points = shape_points(DARRM, "figure6")
    assert [round(point["m"], 4) for point in points] == [6.4521, 7.5742, 8.2708, 9.8823]
    assert [round(point["delta"], 4) for point in points] == [0.1001, 0.1001, 0.1001, 0.1002]


def test_both_priors_of_figure_9_are_solved_at_the_same_points():
    by_prior = {name: prior_points(DARRM, name) for name in "UP"}
    for point, other in zip(*by_prior.values(), strict=True):
        assert point["prior"] != other["prior"]
        assert point | {"prior": ""} == other | {"prior": ""}
    without = copy.deepcopy(DEFAULT)
    without["darrm"]["figure9"] = None
    assert prior_points(check(without).darrm, "U") == []
