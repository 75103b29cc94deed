"""The list of mechanisms: every claim has its privacy model and its neighbours."""

import ast
from pathlib import Path

import pytest

from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.registry import ADJACENCIES, MECHANISMS, PRIVACY_MODELS, require


def test_every_mechanism_says_what_it_needs():
    for name, mechanism in MECHANISMS.items():
        assert mechanism.name == name
        assert mechanism.teachers in ("private", "plain")
        assert mechanism.privacy_models
        assert mechanism.privacy_models <= PRIVACY_MODELS
        assert mechanism.adjacency
        assert mechanism.adjacency <= ADJACENCIES
        assert mechanism.label
        assert mechanism.source


def test_plain_teachers_are_private_on_disjoint_shards_only():
    for mechanism in MECHANISMS.values():
        if mechanism.teachers == "plain":
            assert mechanism.privacy_models == {"disjoint_shards"}


@pytest.mark.parametrize("name", ["lnmax", "confident_gnmax", "interactive_gnmax"])
def test_costs_of_pate_depend_on_the_votes_and_need_disjoint_shards(name):
    assert MECHANISMS[name].data_dependent
    for adjacency in ADJACENCIES:
        assert require(name, "disjoint_shards", adjacency) is MECHANISMS[name]
    with pytest.raises(ValueError, match="privacy_model = 'shared_data': must be one of disjoint"):
        require(name, "shared_data", "add_remove")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_answers_for_its_own_model_and_neighbours_and_refuses_all_others(name):
    known = MECHANISMS[name]
    for model in sorted(PRIVACY_MODELS | {"local"}):
        for adjacency in sorted(ADJACENCIES | {"zero_out"}):
            if model in known.privacy_models and adjacency in known.adjacency:
                assert require(name, model, adjacency) is known
            else:
                with pytest.raises(ValueError, match=f"must be one of .* for {name}$"):
                    require(name, model, adjacency)


def test_noise_on_votes_refuses_teachers_that_share_data():
    """DaRRM's mechanisms alone are private there; everybody else refuses."""
    serving = {name for name, known in MECHANISMS.items() if "shared_data" in known.privacy_models}
    assert serving == {"darrm_sub", "darrm_opt"}


def test_noiseless_majority_is_refused_where_teachers_share_data():
    with pytest.raises(ValueError, match="privacy_model = 'shared_data': must be one of disjoint"):
        require("majority_private", "shared_data", "add_remove")


def test_unknown_names_are_refused_with_the_allowed_ones():
    with pytest.raises(ValueError, match=r"mechanism = 'gnmx': must be one of gnmax, "):
        require("gnmx", "disjoint_shards", "add_remove")
    with pytest.raises(ValueError, match=r"adjacency = 'zero_out': must be one of add_remove"):
        require("gnmax", "disjoint_shards", "zero_out")


def test_require_returns_the_mechanism_where_its_guarantee_holds():
    assert require("darrm_opt", "shared_data", "add_remove") is MECHANISMS["darrm_opt"]


def test_registry_is_pure_data():
    tree = ast.parse(Path(registry.__file__).read_text(encoding="utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert modules == ["dataclasses"]
