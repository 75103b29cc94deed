"""The list of mechanisms: every claim has its privacy model, neighbours, a proof and names."""

import re
import subprocess
import sys
import unicodedata

import pytest

from private_ensembles.labels import display_names, registry
from private_ensembles.labels.mechanism import load_all_mechanisms, load_mechanism
from private_ensembles.labels.task import ADJACENCIES, PRIVACY_MODELS

EVERY = registry.entries()
# Of the ledger alone.
REPLACED = "method.md#a-record-that-is-replaced"


def test_the_list_is_what_is_loaded_in_its_order():
    assert list(load_all_mechanisms()) == list(EVERY) == [entry.name for entry in registry.ENTRIES]
    assert all(mechanism.entry is EVERY[name] for name, mechanism in load_all_mechanisms().items())
    assert {"gnmax", "confident_gnmax", "lnmax_pure", "ladder", "majority_private"} <= set(EVERY)
    assert {"gnmax_exact", "darrm_opt", "darrm_sub", "nzc", "dpbag"} <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_says_what_it_needs(name):
    entry = EVERY[name]
    assert load_mechanism(name).name == entry.name == name
    assert entry.guarantee.teachers in ("private", "plain")
    assert entry.guarantee.privacy_models
    assert entry.guarantee.privacy_models <= set(PRIVACY_MODELS.values())
    assert entry.guarantee.adjacencies
    assert entry.guarantee.adjacencies <= ADJACENCIES
    assert entry.offer is None or entry.offer.analysis in registry.ANALYSES
    for fact in (entry.label, entry.origin.paper, entry.origin.source, *entry.plot_style[:2]):
        assert isinstance(fact, str)
        assert fact
    if entry.guarantee.teachers == "plain":
        assert entry.guarantee.privacy_models == {"disjoint_shards"}


def test_no_two_have_a_name_or_a_look_in_common():
    for fact in ("name", "label", "plot_style"):
        assert len({getattr(entry, fact) for entry in registry.ENTRIES}) == len(EVERY), fact


def test_the_list_loads_no_law_and_no_account(root):
    """Facts only: a table that sorts its rows by them reruns for no change of a mechanism."""
    code = (
        "import sys; from private_ensembles.labels import registry; registry.offered_mechanisms(); "
        "print([name for name in sys.modules if name == 'numpy' or 'labels.' in name])"
    )
    environment = {"PYTHONPATH": str(root / "workflow")}
    loaded = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert loaded.strip() == "['private_ensembles.labels.registry']"


def section(page, anchor):
    """What stands below the heading to which GitHub gives this anchor, up to the next one."""
    for part in re.split(r"^#+ ", page, flags=re.MULTILINE):
        heading, _, text = part.partition("\n")
        kept = (c for c in heading.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
        if "".join(kept).replace(" ", "-") == anchor:
            return text
    raise AssertionError(f"no heading has the anchor {anchor}")


@pytest.mark.parametrize("name", [*EVERY, "replaced"])
def test_the_page_states_and_proves_the_claim(name, root):
    page, _, anchor = (EVERY[name].origin.proof if name in EVERY else REPLACED).partition("#")
    text = section((root / "docs" / page).read_text(encoding="utf-8"), anchor)
    assert "**Theorem.**" in text or "**Proposition.**" in text
    assert "*Proof.*" in text


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_answers_for_its_own_model_and_neighbours_and_refuses_all_others(name):
    known = EVERY[name]
    for model in sorted({*PRIVACY_MODELS.values(), "local"}):
        for adjacency in sorted(ADJACENCIES | {"zero_out"}):
            if model in known.guarantee.privacy_models and adjacency in known.guarantee.adjacencies:
                known.require_coverage(model, adjacency)
            else:
                with pytest.raises(ValueError, match=f"must be one of .* for {name}$"):
                    known.require_coverage(model, adjacency)


def test_noise_on_votes_refuses_teachers_that_share_data():
    """DaRRM's mechanisms and committees alone are private there; everybody else refuses."""
    serving = {
        name for name, known in EVERY.items() if "shared_data" in known.guarantee.privacy_models
    }
    assert serving == {"darrm_sub", "darrm_opt", "committee"}


def test_unknown_names_are_refused_with_the_allowed_ones():
    with pytest.raises(ValueError, match=r"mechanism = 'gnmx': must be one of gnmax, "):
        load_mechanism("gnmx")


def test_no_label_calls_exact_what_is_a_bound():
    """What is exact is what the audit finds; an account of several classes or labels bounds it."""
    assert [entry.label for entry in registry.ENTRIES if "exact" in entry.label] == []


def test_every_name_is_of_one_mechanism():
    shown = [display_names.mechanism_label(name) for name in registry.entries()]
    assert shown == [entry.label for entry in registry.ENTRIES]
    assert len({label.lower() for label in shown}) == len(shown)
    assert display_names.find_entry("confident") == registry.get_entry("confident_gnmax")
    assert display_names.find_entry("mnist") is None


def test_a_short_name_is_of_one_mechanism_at_its_place():
    for name in registry.entries():
        assert registry.get_entry(name).label.startswith(*display_names.short_labels([name]))
    every = display_names.short_labels(registry.entries())
    assert len(set(every)) == len(every)
    # Of one family the best proven noise differs from budget to budget: still one name.
    family = ["gnmax", "gnmax_exact", "ladder"]
    assert display_names.short_labels(family, [1, 2, 1]) == ["GNMax", "GNMax", "Optimal ladder"]
    assert display_names.short_labels(family, [1, 1, 1]) == [
        *map(display_names.mechanism_label, family)
    ]


def test_an_aggregator_is_its_mechanism_and_a_number():
    assert display_names.aggregator_label("interactive") == "Interactive-GNMax"
    assert display_names.aggregator_label("clean-5") == "clean-5"
    assert display_names.aggregator_label("lnmax") == "LNMax"


def test_what_has_no_name_is_shown_as_it_is():
    assert display_names.mechanism_label("my_own_one") == "my_own_one"
    assert display_names.dataset_label("my data") == "my data"


def test_columns_are_words_with_greek_letters():
    assert display_names.column_heading("Delta") == "Δ"
    assert display_names.column_heading("smooth_sensitivity_2") == "smooth sensitivity 2"
    assert display_names.column_heading("mean_accuracy") == "mean accuracy"
