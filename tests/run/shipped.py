"""The configuration as it is shipped or with other values, and what a mistake looks like."""

import copy
from pathlib import Path

import pytest
import yaml

from private_ensembles.run.check import ConfigError, check

ROOT = Path(__file__).parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
GONE = object()


def changed(changes):
    """Return the configuration with other values at paths of keys; GONE takes a key away."""
    config = copy.deepcopy(DEFAULT)
    for path, value in changes.items():
        section = config
        *keys, last = path.split(".")
        for key in keys:
            section = section[key]
        if value is GONE:
            del section[last]
        else:
            section[last] = copy.deepcopy(value)
    return config


def assert_refused(changes, message):
    """One line has the key, the value and what is allowed."""
    with pytest.raises(ConfigError) as error:
        check(changed(changes))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
