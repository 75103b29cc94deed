"""The planner's section: mechanisms that there are, and labels that the queries suffice for."""

import pytest

from private_ensembles.labels.planner.section import SyntheticVotes
from private_ensembles.run.check import ConfigError, check
from tests.run.shipped import DEFAULT


def planner(**values):
    return DEFAULT | {"planner": DEFAULT["planner"] | values}


def test_mechanisms_are_among_those_that_are_offered():
    offered = DEFAULT["planner"]["mechanisms"]
    check(planner(), mechanisms=offered)
    with pytest.raises(ConfigError) as error:
        check(planner(mechanisms=[offered[0], "magic"]), mechanisms=offered)
    allowed = f"must be one of {', '.join(offered)}"
    assert str(error.value) == f"planner.mechanisms[1] = 'magic': {allowed}"
    check(planner(mechanisms=["magic"]))  # nobody said what there is


def test_labels_are_at_most_the_queries():
    with pytest.raises(ConfigError, match=r"labels = 9: must be at most planner\.queries = 8$"):
        check(planner(queries=8, labels=9))
    check(planner(queries=8, labels=8))


def test_synthetic_votes_have_the_keys_of_a_profile_in_the_order_of_config_yaml():
    assert list(SyntheticVotes.model_fields) == list(DEFAULT["synthetic_votes"]["glyph"])
