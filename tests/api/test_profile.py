"""The profile that is assumed: config.yaml's, and one that `ConsensusProfile` takes."""

import numpy as np
import yaml

from private_ensembles.api.profile import PROFILE
from private_ensembles.votes.synthetic import ConsensusProfile


def test_it_is_config_yaml_s(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    found = {key: np.array(value).tolist() for key, value in PROFILE.items()}
    assert found == config["planner"]["profile"]
    assert ConsensusProfile(3, **PROFILE).n_classes == 3
