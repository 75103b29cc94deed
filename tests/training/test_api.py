"""dpsgd_epsilon: its accountants, a proven one for each adjacency."""

import pytest

from private_ensembles.training.api import dpsgd_epsilon
from private_ensembles.training.teachers import accounting

GIVEN = {"noise_multiplier": 12.0, "sample_rate": 1 / 32, "steps": 160, "delta": 1e-4}


def test_each_adjacency_has_its_accountant():
    setting = tuple(GIVEN.values())
    assert dpsgd_epsilon(**GIVEN) == accounting.epsilon_pld(*setting)
    replaced = dpsgd_epsilon(**GIVEN, adjacency="replace_one")
    assert replaced == accounting.epsilon_group(*setting)
    # Not the smaller number that nobody has proven.
    assert replaced > accounting.epsilon_pld(*setting, "replace_one")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"adjacency": "shared_data"}, "adjacency = 'shared_data': must be one of add_remove"),
        ({"noise_multiplier": 0.0}, "noise_multiplier = 0.0"),
        ({"steps": 0}, "steps = 0"),
    ],
)
def test_bad_values(change, says):
    with pytest.raises(ValueError, match=says):
        dpsgd_epsilon(**(GIVEN | change))
