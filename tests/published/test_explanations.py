"""Explanations recompute printed numbers, and hold for no others."""

import pytest

from private_ensembles.published.declarations import paper
from private_ensembles.published.printed import FOLDER, key_of, read_published

LATE = {"only_twelve_thousand_images_cost_the_printed_epsilon"}  # test_comparison.py, with opacus


@pytest.mark.parametrize("name", ["darrm", "pate", "dpbag", "nzc"])
def test_every_explanation_holds_for_the_printed_digits_only(name):
    printed = read_published(FOLDER.glob(f"{name}_*.csv")).to_dict("records")
    explained = 0
    for cell in printed:
        rules = [rule for rule in paper(name).explanations if rule.fits(key_of(cell))]
        if not rules or rules[0].function in LATE:
            continue
        explained += 1
        assert rules[0].holds(cell)
        if rules[0].function != "is_printed_otherwise_elsewhere":
            assert not rules[0].holds(cell | {"published": "62"})
    assert explained == {"darrm": 8, "pate": 11, "dpbag": 35, "nzc": 5}[name]
