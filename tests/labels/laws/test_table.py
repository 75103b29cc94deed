"""Labels of a table: seeded ones by their own sampler, secure ones by exact coins."""

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
