"""Names for reading: each is of a mechanism that exists, no two are the same, others stay."""

from private_ensembles.figures import names
from private_ensembles.mechanisms import registry


def test_every_name_is_of_one_mechanism():
    shown = [names.mechanism(name) for name in registry.entries()]
    assert shown == [entry.label for entry in registry.ENTRIES]
    assert len({label.lower() for label in shown}) == len(shown)


def test_what_has_no_name_is_shown_as_it_is():
    assert names.mechanism("my_own_one") == "my_own_one"
    assert names.dataset("my data") == "my data"


def test_columns_are_words_with_greek_letters():
    assert names.column("Delta") == "Δ"
    assert names.column("smooth_sensitivity_2") == "smooth sensitivity 2"
    assert names.column("mean_accuracy") == "mean accuracy"
