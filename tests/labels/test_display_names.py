"""Names for reading: each is of a mechanism that exists, no two are the same, others stay."""

from private_ensembles.labels import display_names, registry


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
