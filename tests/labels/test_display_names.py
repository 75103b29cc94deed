"""Names for reading: each is of a mechanism that exists, no two are the same, others stay."""

from private_ensembles.labels import names, registry


def test_every_name_is_of_one_mechanism():
    shown = [names.mechanism(name) for name in registry.entries()]
    assert shown == [entry.label for entry in registry.ENTRIES]
    assert len({label.lower() for label in shown}) == len(shown)
    assert names.entry("confident") == registry.entry("confident_gnmax")
    assert names.entry("mnist") is None


def test_a_short_name_is_of_one_mechanism_at_its_place():
    for name in registry.entries():
        assert registry.entry(name).label.startswith(*names.short([name]))
    every = names.short(registry.entries())
    assert len(set(every)) == len(every)
    # Of one family the best proven noise differs from budget to budget: still one name.
    family = ["gnmax", "gnmax_exact", "ladder"]
    assert names.short(family, [1, 2, 1]) == ["GNMax", "GNMax", "Optimal ladder"]
    assert names.short(family, [1, 1, 1]) == [*map(names.mechanism, family)]


def test_an_aggregator_is_its_mechanism_and_a_number():
    assert names.aggregator("interactive") == "Interactive-GNMax"
    assert names.aggregator("clean-5") == "clean-5"
    assert names.aggregator("lnmax") == "LNMax"


def test_what_has_no_name_is_shown_as_it_is():
    assert names.mechanism("my_own_one") == "my_own_one"
    assert names.dataset("my data") == "my data"


def test_columns_are_words_with_greek_letters():
    assert names.column("Delta") == "Δ"
    assert names.column("smooth_sensitivity_2") == "smooth sensitivity 2"
    assert names.column("mean_accuracy") == "mean accuracy"
