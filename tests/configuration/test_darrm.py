"""The section `darrm`: the slices that rules get."""

import copy
from pathlib import Path

import pytest
import yaml

from private_ensembles.configuration.check import check

ROOT = Path(__file__).parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def changed(**values):
    """Return the default configuration with values at dotted paths, a dot written as two scores."""
    config = copy.deepcopy(DEFAULT)
    for path, value in values.items():
        *keys, last = path.split("__")
        section = config
        for key in keys:
            section = section[key]
        section[last] = value
    return config


def checked(**values):
    return check(changed(**values)).darrm


def test_sweeps_leave_out_m_beyond_k():
    sweeps = checked(darrm__sweeps__m=[1, 3, 9, 33]).sweeps
    assert sweeps.allowances(11) == [1, 3, 9]
    assert sweeps.allowances(201) == [1, 3, 9, 33]


def test_labels_are_released_for_the_list_and_the_tables():
    assert checked(darrm__m=[9]).label_allowances() == [1, 3, 5, 7, 9]
    assert checked(darrm__m=[1], darrm__tables__table10=None).label_allowances() == [1, 3, 5]


def test_embedded_data_use_the_stand_in_and_its_parameters():
    assert checked().label_datasets() == ["digits"]
    assert checked(data="paper").label_datasets() == ["mnist", "fashion-mnist"]
    assert checked().training("digits", "private")["model"] == "linear"
    assert checked().training("mnist", "plain")["model"] == "darrm_cnn"


def test_query_costs_are_the_published_ones():
    cost = checked().query_cost("mnist", 3)
    assert (cost["epsilon_query"], cost["delta_query"]) == (0.2676, 0.0003)
    assert list(checked().paper_query_costs(3)) == ["mnist", "fashion-mnist"]
    assert list(checked().query_costs(3)) == ["mnist", "fashion-mnist", "digits"]


def test_label_experiment_holds_both_deltas():
    experiment = checked(data="paper").label_experiment("mnist", 3)
    assert experiment["delta_query"] == 3e-4
    assert experiment["delta_gamma"] == pytest.approx(1 - (1 - 1e-4) ** 3)
    assert experiment["delta_gamma"] < experiment["delta_query"]


def test_hashed_shards_keep_their_sizes_out_of_the_schedule():
    hashed = check(changed(data="paper", darrm__shards="keyed_hash"))
    private = hashed.training("mnist", "private", 11)
    assert private["shards"] == "keyed_hash"
    assert private["shard_size"] == 1024  # as is accounted for
    plain = hashed.training("mnist", "plain", 11)
    assert plain["shards"] == "keyed_hash"
    assert "shard_size" not in plain
    # PATE's own ensembles are not DaRRM's, and the default adds nothing
    assert "shards" not in hashed.training("mnist-10", "plain", 250)
    assert "shards" not in checked().training("mnist", "private", 11)
    assert hashed.darrm.label_experiment("mnist", 3)["shards"] == "keyed_hash"


def test_accounting_covers_all_data_sets_and_only_what_it_uses():
    slices = checked().accounting()
    assert list(slices) == ["mnist", "fashion-mnist", "digits"]
    assert "learning_rate" not in slices["mnist"]["private_teachers"]
