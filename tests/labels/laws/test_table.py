"""Labels of a table: seeded ones by their own sampler, secure ones by exact coins."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    dominating_pairs_from_table,
)
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base import secure
from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels.laws.table import draw_bernoulli_labels, label_dominating_pairs
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from tests.claims.drawn import Followed

TASK = Task(Ensemble(5, 2), Budget(0.5, 1e-3), Wanted(1))


def test_coins_are_drawn_at_the_smaller_probability(monkeypatch):
    """Its float is the coin's, and the likelier label is flipped by it."""
    tossed = []
    monkeypatch.setattr(
        secure, "draw_bernoulli", lambda p: tossed.append(p.tolist()) or np.array([1, 0, 1])
    )
    labels = draw_bernoulli_labels(np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]))
    assert labels.tolist() == [1, 1, 0]
    assert tossed == [[0.1, 0.3, 0.2]]


@pytest.mark.parametrize("row", [(3, 1), (2, 2), (0, 5)])
@pytest.mark.parametrize(
    ("name", "scale"),
    [("gnmax_exact", 3.0), ("lnmax_pure", 2.0), ("exponential", 3.0), ("permute_and_flip", 3.0)],
)
def test_a_secure_label_of_two_classes_has_the_law_of_the_table_s_floats(
    monkeypatch, name, scale, row
):
    """To the last digit, in fractions: the less likely one's float is what is certified."""
    law = load_mechanism(name).law
    noise = law.noise_at_scale(scale)
    table = law.distribution(np.array([row]), noise)[0]
    rare = Fraction(float(table.min()))
    exact = [rare, 1 - rare] if table.argmin() == 0 else [1 - rare, rare]
    assert Followed(monkeypatch).law(law, noise, row) == [0, *exact]


@pytest.mark.parametrize("moved", [1, 3])
@pytest.mark.parametrize("teachers", [4000, 4001])
@pytest.mark.parametrize(
    ("name", "scale"),
    [("gnmax_exact", 60.0), ("lnmax_pure", 9.0), ("exponential", 20.0), ("permute_and_flip", 9.0)],
)
def test_rows_far_from_a_tie_change_nothing(name, scale, teachers, moved):
    """Curves and pairs are those of the whole table, of which few rows are worked out."""
    task = replace(
        TASK,
        ensemble=replace(TASK.ensemble, teachers=teachers),
        protection=replace(TASK.protection, reach=moved),
        secure=True,
    )
    law = load_mechanism(name).law
    noise = law.noise_at_scale(scale)
    asked = []

    def chances(counts):
        asked.append(len(counts))
        return law.distribution(counts, noise)

    found = label_dominating_pairs(chances, 1e-12, 1e-300, task)
    whole = dominating_pairs_from_table(
        law.distribution(both_counts(teachers), noise),
        1e-12,
        1e-300,
        negligible=1e-21,
        group_size=task.protection.reach,
    )
    assert max(asked) < teachers
    t = np.exp(np.linspace(-2.0, 2.0, 33))
    np.testing.assert_array_equal(
        found.hockey_stick_divergences(t), whole.hockey_stick_divergences(t)
    )
    np.testing.assert_array_equal(found.attainable_pairs(), whole.attainable_pairs())


@pytest.mark.parametrize("moved", [1, 3, 40])
@pytest.mark.parametrize("log_last", [-48.5, -49.3, -50.5])
def test_rows_are_left_out_only_if_they_are_negligible_after_every_move(log_last, moved):
    """At the end of the shortest table a label is nearly so: half of 1e-21 is e^-49.05."""
    teachers, rate = 20_000, 0.04
    task = replace(
        TASK,
        ensemble=replace(TASK.ensemble, teachers=teachers),
        protection=replace(TASK.protection, reach=moved),
    )
    tables = []

    def chances(counts):
        lead = np.abs(counts[:, 1] - teachers / 2)
        rare = 0.5 * np.exp(np.minimum(0, log_last - math.log(0.5) - rate * (lead - 1000)))
        ones = np.where(counts[:, 1] > teachers / 2, 1 - rare, rare)
        tables.append(counts[:, 1])
        return np.stack([np.where(counts[:, 1] > teachers / 2, rare, 1 - ones), ones], axis=1)

    label_dominating_pairs(chances, 1e-12, 1e-300, task)
    first, last = tables[-1][[0, -1]].tolist()
    assert 0 < first == teachers - last
    for end in (first - 1 + moved, last + 1 - moved):  # of the first row that is left out
        assert chances(np.array([[teachers - end, end]])).min() <= 5e-22
    assert len(tables[0]) < 3000
    ends = tables[0][[moved, -1 - moved]]
    enough = chances(np.stack([teachers - ends, ends], axis=1)).min(axis=1).max() <= 5e-22
    assert enough == (len(tables[0]) == last - first + 1)


@pytest.mark.parametrize(("name", "scale"), [("lnmax_pure", 90.0), ("exponential", 200.0)])
def test_votes_of_very_many_teachers_have_the_chances_of_their_own_rows(name, scale):
    """Only the counts that occur are worked out: in any order, some of them often."""
    law = load_mechanism(name).law
    noise, ones = law.noise_at_scale(scale), np.array([700, 1004, 700, 3, 1199, 1004, 601])
    counts = np.stack([1201 - ones, ones], axis=1)
    found = law.distribution(counts, noise)
    each = np.concatenate([law.probabilities(row[None], noise) for row in counts])
    np.testing.assert_allclose(found, each, rtol=1e-15)
    assert len(np.unique(found[:, 1])) == 5


def test_secure_labels_are_for_one_label_of_two_classes():
    laplace = load_mechanism("lnmax_pure")
    assert laplace.refusal(replace(TASK, secure=True)) is None
    many = replace(TASK, wanted=Wanted(2), secure=True)
    assert "secure noise beyond one label of two classes" in laplace.refusal(many)
    with pytest.raises(ValueError, match="noise = secure: drawn for two classes only, not 3"):
        laplace.law.draw(np.array([[3, 1, 1]]), laplace.calibrate(TASK), SecureNoise())


def test_a_mechanism_of_two_classes_has_no_distribution_on_three():
    ladder = load_mechanism("ladder")
    with pytest.raises(ValueError, match="counts of 3 classes: the law is for two only"):
        ladder.law.distribution(np.array([[3, 1, 1]]), ladder.calibrate(TASK))
