"""The list of mechanisms: every claim has its privacy model, its neighbours and its proof."""

import re
import unicodedata

import numpy as np
import pytest

from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.darrm.optimize import optimize_gamma
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.mechanisms import registry
from private_ensembles.mechanisms.laws.immutable import ImmutableNoise
from private_ensembles.mechanisms.mechanism import every, load
from private_ensembles.mechanisms.task import ADJACENCIES, PRIVACY_MODELS

EVERY = every()


def test_the_list_is_the_files_of_the_folder_in_order():
    assert sorted(EVERY) == sorted(registry.entries())
    orders = [mechanism.order for mechanism in EVERY.values()]
    assert orders == sorted(orders)
    assert {"gnmax", "confident_gnmax", "lnmax_pure", "ladder", "majority_private"} <= set(EVERY)
    assert {"gnmax_exact", "lnmax_exact", "darrm_opt", "darrm_sub", "nzc", "dpbag"} <= set(EVERY)


@pytest.mark.parametrize("name", sorted(registry.entries()))
def test_every_mechanism_says_what_it_needs(name):
    mechanism = EVERY[name]
    assert mechanism.name == name
    assert mechanism.entry.teachers in ("private", "plain")
    assert mechanism.entry.privacy_models
    assert mechanism.entry.privacy_models <= PRIVACY_MODELS
    assert mechanism.entry.adjacencies
    assert mechanism.entry.adjacencies <= ADJACENCIES
    assert mechanism.entry.analysis in registry.ANALYSES
    for fact in (mechanism.label, mechanism.paper, mechanism.source, mechanism.color):
        assert isinstance(fact, str)
        assert fact
    if mechanism.entry.teachers == "plain":
        assert mechanism.entry.privacy_models == {"disjoint_shards"}


def anchors(page):
    """The anchors that GitHub gives a page's headings."""
    for heading in re.findall(r"^#+ (.*)$", page, re.MULTILINE):
        kept = "".join(
            c for c in heading.lower() if c in " -_" or unicodedata.category(c)[0] in "LN"
        )
        yield kept.replace(" ", "-")


@pytest.mark.parametrize("name", sorted(registry.entries()))
def test_the_page_that_proves_the_claim_exists(name, root):
    page, _, anchor = EVERY[name].proof.partition("#")
    text = (root / "docs" / page).read_text(encoding="utf-8")
    assert anchor in set(anchors(text))


@pytest.mark.parametrize("name", ["lnmax", "confident_gnmax", "interactive_gnmax"])
def test_costs_of_pate_depend_on_the_votes_and_need_disjoint_shards(name):
    assert EVERY[name].data_dependent
    for adjacency in ADJACENCIES:
        EVERY[name].require("disjoint_shards", adjacency)
    with pytest.raises(ValueError, match="privacy_model = 'shared_data': must be one of disjoint"):
        EVERY[name].require("shared_data", "add_remove")


@pytest.mark.parametrize("name", sorted(registry.entries()))
def test_every_mechanism_answers_for_its_own_model_and_neighbours_and_refuses_all_others(name):
    known = EVERY[name]
    for model in sorted(PRIVACY_MODELS | {"local"}):
        for adjacency in sorted(ADJACENCIES | {"zero_out"}):
            if model in known.privacy_models and adjacency in known.adjacencies:
                known.require(model, adjacency)
            else:
                with pytest.raises(ValueError, match=f"must be one of .* for {name}$"):
                    known.require(model, adjacency)


def test_noise_on_votes_refuses_teachers_that_share_data():
    """DaRRM's mechanisms and committees alone are private there; everybody else refuses."""
    serving = {name for name, known in EVERY.items() if "shared_data" in known.privacy_models}
    assert serving == {"darrm_sub", "darrm_opt", "committee"}


def test_lnmax_says_what_optimal_composition_of_its_pure_labels_costs():
    task = {"lnmax": {"scale": 20.0, "queries": [100, 1000]}, "delta": 1e-5}
    totals = EVERY["lnmax"].printed_totals(task)
    assert totals == {
        f"lnmax-{queries}": (queries, optimal_homogeneous(0.1, 0.0, queries, 1e-5).epsilon)
        for queries in (100, 1000)
    }
    assert EVERY["lnmax"].printed_totals(task, secure=True) == {}


def test_a_scale_by_the_exact_audit_is_an_analysis_of_the_label():
    assert EVERY["lnmax_exact"].analysis == EVERY["gnmax_exact"].analysis == "label"


def test_immutable_noise_is_the_papers_by_itself():
    assert ImmutableNoise() == ImmutableNoise(constant=1e100, gamma=1e10, labels=1)


def test_unknown_names_are_refused_with_the_allowed_ones():
    with pytest.raises(ValueError, match=r"mechanism = 'gnmx': must be one of gnmax, "):
        load("gnmx")


def test_nzc_s_label_of_many_classes_is_the_first_of_the_largest_counts():
    histograms = np.array([[3, 1, 1], [2, 2, 1], [1, 2, 2], [0, 5, 0]])
    found = load("nzc").law.distribution(histograms, ImmutableNoise())
    assert found.tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_a_gamma_that_is_not_private_is_refused():
    """One from a file is certified anew before it releases labels."""
    problem, mechanism = PrivacyProblem(5, 1, 0.1, 0.0, 0.0), load("darrm_opt")
    found = optimize_gamma(5, 1, 0.1).gamma
    assert mechanism.gamma_at(problem, {"gamma": found.tolist()}).tolist() == found.tolist()
    with pytest.raises(ValueError, match="must be private for K = 5, m = 1"):
        mechanism.gamma_at(problem, {"gamma": [1.0] * 6})
