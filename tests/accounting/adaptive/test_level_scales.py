"""The noise of levels: enough for any choice, and little more than one level needs alone."""

import pytest

from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive.level_scales import level_scales
from private_ensembles.accounting.adaptive.levels import levels_curve

from .labels import gnmax, least_gnmax

EPSILON, DELTA = 1.0, 1e-5


@pytest.mark.parametrize(
    ("family_of", "fineness"),
    [(lambda scale: gnmax(51, scale), 7), (lambda scale: GaussianMaximum(scale, 11, 4), 3)],
)
def test_the_budget_is_kept_whichever_level_is_chosen(family_of, fineness):
    units, total = (1, 2, 4), 20
    found = level_scales(family_of, units, total, EPSILON, DELTA, 19.5, fineness=fineness)
    families = list(map(family_of, found.scales))
    kept = levels_curve(families, units, total, EPSILON, DELTA, fineness=fineness, least=EPSILON)
    assert kept.delta(EPSILON) <= DELTA
    # Less noise does not: the factor is needed.
    families = list(map(family_of, found.alone))
    broken = levels_curve(families, units, total, EPSILON, DELTA, fineness=fineness, least=EPSILON)
    assert broken.least_delta(EPSILON) <= broken.delta(EPSILON)
    assert broken.delta(EPSILON) > DELTA
    assert 1 < found.factor < 1.03


def test_each_level_alone_has_what_its_own_labels_need():
    found = level_scales(lambda scale: gnmax(51, scale), (1, 4), 20, EPSILON, DELTA, 19.5)
    assert found.alone[0] == pytest.approx(19.48, abs=0.08)  # docs/many-labels.md has 19.50
    assert found.alone[1] == pytest.approx(least_gnmax(51, 5, EPSILON, DELTA, 9.7), rel=1e-3)


def test_reserves_make_the_choice_cost_less():
    def factor(reserves):
        return level_scales(
            lambda scale: gnmax(31, scale), (1, 4), 100, EPSILON, DELTA, 42.0, reserves=reserves
        ).factor

    assert 1 <= factor((0, 32)) < factor((0, 0)) - 0.001


def test_levels_of_the_same_noise_cost_nothing_more():
    found = level_scales(lambda scale: gnmax(31, scale), (3, 3), 60, EPSILON, DELTA, 20.0)
    assert found.factor == 1.0
    assert found.alone[0] == found.alone[1]


def test_a_total_that_does_not_pay_for_each_level_is_refused():
    with pytest.raises(ValueError, match="must pay for"):
        level_scales(lambda scale: gnmax(5, scale), (1, 4), 3, EPSILON, DELTA, 10.0)
