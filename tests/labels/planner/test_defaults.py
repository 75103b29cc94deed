"""What a plan takes for granted: config.yaml's, a task's, and a profile that can be drawn from."""

import numpy as np
import yaml

from private_ensembles.labels.planner import defaults
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)


def test_they_are_config_yaml_s(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    stated = defaults.planner_settings()
    profile = {key: np.array(value).tolist() for key, value in stated.pop("profile").items()}
    section = config["planner"]
    assert profile == section["profile"]
    assert sorted(stated.pop("mechanisms")) == sorted(section["mechanisms"])
    assert stated == {key: section[key] for key in stated}
    assert config["own"]["budget"] == defaults.BUDGET


def test_they_are_a_task_s():
    stated = Task(Ensemble(9, 2), Budget(1.0, 1e-5), Wanted(1)).to_dict()
    assert {key: stated[key] for key in defaults.PRIVACY} == defaults.PRIVACY


def test_the_profile_can_be_drawn_from():
    assert ConsensusProfile(3, **defaults.ASSUMED_PROFILE).n_classes == 3
