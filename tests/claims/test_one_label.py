"""One label costs what is claimed of it, and its audit is the definition of differential privacy.

Whatever stands in the registry is tested; nothing here lists names but those with a proof or a
printed number of their own, and NZC's, whose claim is false.
"""

import numpy as np
import pytest

from private_ensembles.audit import exact_epsilon
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_all_mechanisms, load_mechanism
from private_ensembles.labels.task import Budget, Ensemble, Task, Wanted
from private_ensembles.papers.darrm.one_label import make_label_task
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability
from private_ensembles.papers.ledger.ledger import calibrate_budget
from private_ensembles.papers.ledger.row import ledger_row
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.nzc.mathematics.claims_and_truth import lead_one_epsilon
from private_ensembles.papers.pate.configured_noise import configured_parameters
from tests.claims.adversary import exact_laws, largest_delta, moved_votes
from tests.claims.one_label import (
    AUDIT_DELTA,
    NOISE,
    K,
    cost_as_stated,
    one_label_each,
    suited_label,
    suited_names,
)

# A bit beyond delta a leak that uses it up, and is rounded up, does not read as infinite.
NEXT = 1 + 1e-6
NAMES = list(registry.entries())
TRUE = [name for name in NAMES if load_mechanism(name).guarantee.holds]
HIDING = [name for name in TRUE if load_mechanism(name).guarantee.hides_votes]


@pytest.fixture(scope="module")
def listed():
    return one_label_each(ImmutableNoise())


def claimed(mechanism, task, parameters):
    """A budget is its own claim; given noise has the paper's."""
    if mechanism.entry.offer is not None and not mechanism.guarantee.data_dependent:
        return task.budget.epsilon
    return cost_as_stated(mechanism, task, parameters).claimed


@pytest.mark.parametrize("name", NAMES)
def test_claim_is_an_upper_bound_of_the_exact_value_unless_it_is_false(listed, name):
    mechanism, task, parameters = listed[name]
    claim = claimed(mechanism, task, parameters)
    exact = (
        mechanism.law.build_audit(task, parameters).worst_inputs(task.budget.delta * NEXT).epsilon
    )
    row = ledger_row(
        name,
        f"K={K}",
        delta=task.budget.delta,
        privacy_model=task.protection.privacy_model,
        adjacency=task.protection.adjacency,
        claimed_epsilon=claim,
        exact_epsilon=exact,
    )
    assert row["verdict"] == ("holds" if mechanism.guarantee.holds else "fails")
    assert row["release"] == mechanism.guarantee.holds
    if mechanism.guarantee.holds:  # NZC's table underflows; its ledger rows are made of logarithms
        assert exact <= cost_as_stated(mechanism, task, parameters).proven * (1 + 1e-9)
    offer = mechanism.entry.offer
    of_label = offer is not None and offer.analysis == "label"
    tight = of_label and not mechanism.guarantee.data_dependent
    if tight or name in ("ladder", "majority_private", "permute_and_flip"):
        assert exact == pytest.approx(claim, rel=1e-4)


def test_twin_of_nzc_at_the_papers_constants_costs_twice_as_much(listed):
    """Where c and the scale are the paper's the exact audit alone can tell them apart."""
    honest, twin = (lead_one_epsilon(1e100, scale, 1e-5) for scale in (1e10, 5e9))
    assert twin == pytest.approx(2 * honest)
    assert honest > claimed(*listed["nzc"])


@pytest.mark.parametrize(
    ("name", "classes", "secure"),
    [
        (*each, secure)
        for secure in (False, True)
        for each in suited_names(HIDING, 4, secure=secure)
    ],
)
def test_the_audit_of_a_label_is_the_definition(name, classes, secure):
    """In whole numbers, over all votes of a few teachers: no loss is left out, none is invented."""
    mechanism, task, parameters = suited_label(name, classes, teachers=4, secure=secure)
    audited = mechanism.law.build_audit(task, parameters)
    rows, moves = moved_votes(task.ensemble.teachers, classes, getattr(parameters, "k", 1))
    laws = exact_laws(mechanism.law, rows, parameters, secure=secure)
    for delta in (AUDIT_DELTA, 1e-5):
        exact = audited.worst_inputs(delta).epsilon
        assert largest_delta(laws, moves, exact, 1) <= delta
        assert largest_delta(laws, moves, exact * (1 - 1e-6), 1) > delta
    exact = float(largest_delta(laws, moves, 0.3, 1))
    assert exact <= audited.curve(np.array([0.3]))[0] <= exact * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("share", [1.0, 0.75, 0.5])
def test_bagged_votes_cost_what_the_worst_move_of_a_records_teachers_does(share):
    """All moves of at most k m votes, in both directions: the largest one is the worst."""
    mechanism, parameters = load_mechanism("dpbag"), BaggingNoise(7, 4, 0.4, share)
    task = Task(Ensemble(28, 2), Budget(1.0, AUDIT_DELTA), Wanted(1))
    ones, moved = np.arange(29), int(4 * share)
    pairs = [(a, a + j) for a in ones for j in range(1, moved + 1) if a + j <= 28]
    gap = 2 * ones / 4 - 7
    matrix = np.stack([ones_probability(-gap, 0.4), ones_probability(gap, 0.4)], axis=1)
    of_all_moves = exact_epsilon(matrix, np.array(pairs), AUDIT_DELTA, relative_error=1e-13)
    audited = mechanism.law.build_audit(task, parameters).worst_inputs(AUDIT_DELTA).epsilon
    cost = mechanism.cost(task, parameters)
    assert audited == pytest.approx(of_all_moves, abs=1e-10)
    assert of_all_moves <= cost.proven <= cost.claimed == 2 * 0.4 * share


def test_as_many_bagged_votes_change_as_the_share_says_whatever_its_float():
    """Fifteen of 22 teachers agree: 22 times the float of 15/22 is less than 15."""
    law = load_mechanism("dpbag").law
    assert 15 / 22 * 22 < 15
    for k in (*range(1, 32), 39, 43, 44, 45, 46, 47):
        task = Task(Ensemble(k, 2), Budget(1.0, AUDIT_DELTA), Wanted(1))
        for agreeing in range((k + 1) // 2, k + 1):
            audited = law.build_audit(task, BaggingNoise(1, k, 0.4, share=agreeing / k))
            assert audited.pairs.tolist() == [[a, a + agreeing] for a in range(k + 1 - agreeing)]
            less = BaggingNoise(1, k, 0.4, share=(agreeing - 1e-9) / k)
            assert (np.diff(law.build_audit(task, less).pairs) == agreeing - 1).all()


@pytest.mark.parametrize("name", TRUE)
def test_curves_are_the_exact_deltas(listed, name):
    mechanism, task, parameters = listed[name]
    audited = mechanism.law.build_audit(task, parameters)
    exact = audited.worst_inputs(AUDIT_DELTA).epsilon
    near = audited.curve(np.array([exact * (1 - 1e-6), exact * (1 + 1e-6) + 1e-9]))
    assert near[1] <= AUDIT_DELTA <= near[0] * (1 + 1e-9)


def test_mechanisms_of_another_size_are_audited_too():
    ledger = calibrate_budget({"K": 5, "m": 1, "epsilon": 0.3, "Delta": 1e-4}, np.zeros(6))
    for mechanism in load_all_mechanisms().values():
        task = make_label_task(mechanism.entry, ledger.budget)
        parameters = ledger.parameters.get(mechanism.name)
        if parameters is None:
            task, parameters = (
                Task(Ensemble(250, 2), Budget(1.0, 1e-5), Wanted(1)),
                configured_parameters(mechanism, NOISE, 2),
            )
        if parameters is not None:
            exact = (
                mechanism.law.build_audit(task, parameters)
                .worst_inputs(task.budget.delta * NEXT)
                .epsilon
            )
            assert exact <= claimed(mechanism, task, parameters) * (1 + 1e-9)


def test_documented_flips_and_exact_epsilons_are_the_computed_ones(listed, root):
    """docs/best-label.md and docs/audit.md print what the mechanisms give."""
    flips = {
        "gnmax": "0.359",
        "gnmax_analytic": "0.273",
        "gnmax_exact": "0.156",
        "lnmax_pure": "0.199",
        "exponential": "0.145",
        "permute_and_flip": "0.114",
        "ladder": "0.113",
    }
    text = (root / "docs" / "best-label.md").read_text(encoding="utf-8")
    for name, printed in flips.items():
        mechanism, _, parameters = listed[name]
        flip = mechanism.law.distribution(np.array([[K, 0]]), parameters)[0, 1]
        assert f" {printed} |" in text
        assert f"{flip:.3f}" == printed
    exact = {
        "gnmax": "0.0664",
        "gnmax_analytic": "0.1280",
        "lnmax_pure": "0.1861",
        "darrm_sub": "0.1698",
        "darrm_opt": "0.2676",
    }
    text = (root / "docs" / "audit.md").read_text(encoding="utf-8")
    for name, printed in exact.items():
        mechanism, task, parameters = listed[name]
        assert f"| {printed} |" in text
        epsilon = (
            mechanism.law.build_audit(task, parameters)
            .worst_inputs(task.budget.delta * NEXT)
            .epsilon
        )
        assert f"{epsilon:.4f}" == printed
