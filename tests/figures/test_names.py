"""Names for reading: each is of a mechanism that exists, no two are the same, others stay."""

from private_ensembles.figures import names
from private_ensembles.mechanisms import registry


def test_every_name_is_of_one_mechanism():
    assert set(names.MECHANISMS) <= set(registry.entries())
    assert len(set(names.MECHANISMS.values())) == len(names.MECHANISMS)


def test_what_has_no_name_is_shown_as_it_is():
    assert names.mechanism("my_own_one") == "my_own_one"
    assert names.dataset("my data") == "my data"


def test_columns_are_words_with_greek_letters():
    assert names.column("Delta") == "Δ"
    assert names.column("smooth_sensitivity_2") == "smooth sensitivity 2"
    assert names.column("mean_accuracy") == "mean accuracy"
