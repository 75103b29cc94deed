"""The planner's settings as options: without any, those of config.yaml."""

import argparse

import numpy as np
import pytest
import yaml

from private_ensembles.command import planner_options
from private_ensembles.labels import registry


def parse_words(*words):
    parser = argparse.ArgumentParser()
    planner_options.add_ensemble(parser, required=False)
    planner_options.add_budget(parser)
    planner_options.add_protection(parser)
    planner_options.add_profile(parser)
    planner_options.add_noise(parser, seed="of nothing")
    return parser.parse_args(words)


def test_defaults_are_the_workflow_s(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    found = planner_options.build_planner_settings(parse_words())
    section = config["planner"]
    assert sorted(found.pop("mechanisms")) == sorted(section["mechanisms"])
    profile = {key: np.array(value).tolist() for key, value in found.pop("profile").items()}
    assert profile == section["profile"]
    assert found == {key: section[key] for key in found}
    assert parse_words().delta == config["own"]["budget"]["delta"]
    assert parse_words().epsilon == config["own"]["budget"]["epsilon"]
    assert parse_words().noise == "secure"


def test_options_take_their_place():
    words = "--mechanism ladder --easy 5 1 --shards shared --teacher-epsilon 0.1"
    found = planner_options.build_planner_settings(parse_words(*words.split()), teachers=7)
    assert found["mechanisms"] == ["ladder"]
    assert found["profile"]["easy"] == [5.0, 1.0]
    assert (found["privacy_model"], found["teacher_epsilon"]) == ("shared_data", 0.1)
    assert found["teachers"] == 7


def test_a_mechanism_that_is_not_offered_is_named():
    assert "nzc" not in registry.offered_mechanisms()
    with pytest.raises(ValueError, match="mechanism = 'nzc': must be one of"):
        planner_options.build_planner_settings(parse_words("--mechanism", "nzc"))
