"""Every mechanism keeps its budget, releases what its distribution says, and passes the audit."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles import mechanisms
from private_ensembles.accounting.budgets import majority_cost
from private_ensembles.accounting.composition import optimal_homogeneous
from private_ensembles.audit.shared_data import worst_teachers
from private_ensembles.darrm.release import label_probability
from private_ensembles.experiments import planner_study
from private_ensembles.mechanisms.confident_gnmax import served_probability
from private_ensembles.mechanisms.families import composed
from private_ensembles.mechanisms.families.composed import largest_within
from private_ensembles.mechanisms.families.gaussian import rho_cost, rho_within
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.noise.sources import Secure, Seeded

BASE = Task(
    epsilon=1.0, delta=1e-5, queries=60, labels=40, n_teachers=9, n_classes=2, teacher_epsilon=0.3
)
NAMES = mechanisms.offered()
DARRM = {"darrm_opt", "darrm_sub"}
TWO_CLASSES = {"ladder", "gnmax_exact", "lnmax_exact"} | DARRM
# All teachers together cost about 5 at BASE.delta; then DaRRM answers every query.
RICH = replace(BASE, epsilon=8.0)


def counts(task, seed=0):
    generator = np.random.default_rng(seed)
    p = generator.dirichlet(np.full(task.n_classes, 0.7), task.queries)
    return generator.multinomial(task.n_teachers, p)


def free_points(mechanism, number=12):
    """The ends of every free parameter, and random points between."""
    generator = np.random.default_rng(1)
    low = {name: ends[0] for name, ends in mechanism.free.items()}
    high = {name: ends[1] for name, ends in mechanism.free.items()}
    between = [
        {name: float(generator.uniform(*ends)) for name, ends in mechanism.free.items()}
        for _ in range(number)
    ]
    return [{}, low, high, *between]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("labels", [1, 7, 40])
@pytest.mark.parametrize("epsilon", [0.7, 3.0])
def test_no_parameter_costs_more_than_the_budget(name, n_classes, labels, epsilon):
    mechanism = mechanisms.load(name)
    task = replace(BASE, n_classes=n_classes, labels=labels, epsilon=epsilon)
    if mechanism.refusal(task):
        assert (name in TWO_CLASSES and n_classes == 4) or (name in DARRM and labels > 1)
        return
    for free in free_points(mechanism):
        parameters = mechanism.calibrate(task, **free)
        assert 1 <= parameters.labels <= labels
        assert 0 < mechanism.cost(task, parameters).claimed <= epsilon
        rows = mechanism.distribution(counts(task), parameters)
        assert rows.shape == (task.queries, n_classes)
        assert (rows >= 0).all()
        assert (rows.sum(axis=1) <= 1 + 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_labels_follow_the_distribution_and_stop_at_the_cap(name):
    mechanism = mechanisms.load(name)
    task = replace(BASE, labels=60, epsilon=20.0)
    assert mechanism.refusal(task) is None
    parameters = mechanism.calibrate(task)
    one = np.tile(counts(task)[:1], (60, 1))
    expected = mechanism.distribution(one, parameters)[0]
    generator = np.random.default_rng(3)
    seen = np.concatenate(
        [mechanism.release(one, parameters, Seeded(generator)) for _ in range(200)]
    )
    for label in range(2):
        share, n = (seen == label).mean(), len(seen)
        sd = np.sqrt(max(expected[label] * (1 - expected[label]), 1 / n) / n)
        assert abs(share - expected[label]) < 5 * sd
    capped = mechanism.calibrate(replace(task, labels=5))
    released = mechanism.release(counts(task), capped, Seeded(generator))
    assert released.dtype == np.int64
    assert (released >= 0).sum() <= 5


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_one_label_passes_the_exact_audit(name, n_classes, epsilon):
    task = replace(BASE, n_classes=n_classes, queries=1, labels=1, n_teachers=6, epsilon=epsilon)
    row = planner_study.audit_row(name, task)
    unaudited = ("for two classes only", "rests on the teachers' own privacy", "one teacher costs")
    unaudited += ("for an odd number of teachers",)
    if not row["verdict"].startswith(unaudited):
        assert row["verdict"] == "holds", row
        assert 0 < row["exact"] <= epsilon


def test_the_audit_catches_half_the_noise(monkeypatch):
    mechanism = mechanisms.load("permute_and_flip")
    honest = type(mechanism).rate
    monkeypatch.setattr(type(mechanism), "rate", lambda self, p: 2 * honest(self, p))
    task = replace(BASE, queries=1, labels=1)
    assert planner_study.audit_row("permute_and_flip", task)["verdict"] == "fails"


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_argument_of_calibrate_is_a_type_error(name):
    with pytest.raises(TypeError, match=f"{name}: calibrate takes .*, not capp"):
        mechanisms.load(name).calibrate(BASE, capp=0.5)


@pytest.mark.parametrize("name", sorted(set(mechanisms.names()) - set(NAMES)))
def test_noise_that_is_given_keeps_no_budget(name):
    mechanism = mechanisms.load(name)
    assert mechanism.refusal(BASE)
    with pytest.raises(ValueError, match="its noise is given"):
        mechanism.calibrate(BASE)


def test_the_ladder_is_exactly_as_private_as_it_says():
    row = planner_study.audit_row("ladder", replace(BASE, queries=1, labels=1))
    assert row["exact"] == pytest.approx(row["claimed"], rel=1e-3)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("gnmax", {"privacy_model": "shared_data"}, "private for disjoint_shards only"),
        ("gnmax_analytic", {"secure": True, "labels": 2}, "its noise is continuous"),
        (
            "exponential",
            {"secure": True, "n_classes": 3},
            "has no sampler for noise: secure but for",
        ),
        ("ladder", {"n_classes": 3}, "for two classes only"),
        ("gnmax_exact", {"n_teachers": 8}, "for an odd number of teachers"),
        ("gnmax_exact", {"n_classes": 3}, "for two classes only"),
        ("gnmax_exact", {"secure": True, "labels": 2}, "has no sampler for noise: secure"),
        ("lnmax_exact", {"secure": True, "labels": 2}, "has no sampler for noise: secure"),
        ("lnmax_exact", {"queries": 9000, "labels": 1001}, "for at most 1,000 labels"),
        ("ladder", {"queries": 9000, "labels": 6000}, "for at most 5,000 labels"),
        ("darrm_opt", {"n_classes": 3}, "for two classes only"),
        ("darrm_opt", {"n_teachers": 8}, "for an odd number of teachers"),
        ("darrm_opt", {"labels": 2}, "proven for one label: teachers that are trained once"),
        ("darrm_sub", {"teacher_epsilon": 0.6}, "one teacher costs (1.2, 0), more than"),
        ("darrm_sub", {"teacher_epsilon": None}, "needs teachers that are private"),
        ("majority_private", {"teacher_epsilon": None}, "needs teachers that are private"),
        ("majority_private", {"teacher_epsilon": 0.6}, "one teacher costs (1.2, 0), more than"),
        ("majority_private", {"teacher_Delta": 1e-4}, "one teacher costs (0.6, 0.000235)"),
    ],
)
def test_what_does_not_apply_is_refused_with_the_reason(name, change, reason):
    assert mechanisms.load(name).refusal(replace(BASE, labels=1)) is None
    assert reason in mechanisms.load(name).refusal(replace(BASE, **change))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("labels", [1, 40])
def test_secure_noise_serves_all_that_do_not_refuse_it(name, labels):
    mechanism, task = mechanisms.load(name), replace(BASE, labels=labels, secure=True)
    if mechanism.refusal(task):
        assert labels > 1
        return
    released = mechanism.release(counts(task), mechanism.calibrate(task), Secure())
    assert set(released) <= {-1, 0, 1}
    if name in ("gnmax_improved", "confident_gnmax", "ladder"):
        assert mechanism.refusal(replace(task, labels=40)) is None


@pytest.mark.parametrize("labels", [2, 30, 299, 301, 5000])
@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 1.0])
def test_composition_of_many_labels_is_no_less_than_the_optimal_one(labels, epsilon):
    optimal = composed.optimal_homogeneous(epsilon, 0.0, labels, 1e-5).epsilon
    found = composed.composed(epsilon, labels, 1e-5)
    assert found >= optimal * (1 - 1e-12)
    assert found <= 1.35 * optimal + 1e-9


def test_largest_within_keeps_the_budget_and_is_tight():
    x = largest_within(2.0, lambda x: x**2)
    assert x**2 <= 2
    assert x == pytest.approx(2**0.5, rel=1e-6)
    with pytest.raises(ValueError, match="the claim fails"):
        largest_within(1.0, lambda x: 2.0)


@pytest.mark.parametrize("analysis", ["classic", "improved", "exact"])
def test_rho_spends_the_budget(analysis):
    rho = rho_within(1.5, 1e-6, analysis)
    assert 1.4999 < rho_cost(rho, 1e-6, analysis) <= 1.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 1.0}, "delta = 1.0: must be in"),
        ({"epsilon": 0.0}, "epsilon = 0.0: must be a finite number > 0"),
        ({"labels": 61}, "labels = 61: must be at most queries = 60"),
        ({"n_teachers": 0}, "n_teachers = 0: must be an integer >= 1"),
        ({"n_classes": 2.5}, "n_classes = 2.5: must be an integer >= 2"),
        ({"privacy_model": "none"}, "privacy_model = 'none': is unknown"),
        ({"adjacency": "none"}, "adjacency = 'none': is unknown"),
        ({"teacher_epsilon": -1.0}, "teacher_epsilon = -1.0: must be > 0"),
        ({"teacher_Delta": 1.0}, "teacher_Delta = 1.0: must be in"),
    ],
)
def test_a_task_out_of_range_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(BASE, **change)


def test_served_is_the_chance_of_being_early_in_random_order():
    generator = np.random.default_rng(0)
    for cap in (1, 3, 6, 9):
        passes = generator.random(8) * [1, 1, 1, 1, 1, 1, 0, 1]
        passes[0] = 1.0
        found = served_probability(passes, cap)
        for q in range(8):
            others = np.delete(passes, q)
            exact = 0.0
            for outcome in itertools.product((0, 1), repeat=7):
                chance = np.prod(np.where(outcome, others, 1 - others))
                exact += chance * min(1, cap / (sum(outcome) + 1))
            assert found[q] == pytest.approx(exact, rel=1e-12)


def test_served_is_stable_for_many_queries():
    passes = np.random.default_rng(1).beta(0.3, 0.3, 2000)
    served = served_probability(passes, 300)
    # All served answers together: E min(N, cap), and N is far above the cap here.
    assert served @ passes == pytest.approx(300, rel=1e-9)


@pytest.mark.parametrize("labels", [1, 7, 40])
@pytest.mark.parametrize("K", [3, 9, 81])
def test_exact_noise_is_never_more_than_the_same_noise_by_a_general_proof(K, labels):
    task = replace(BASE, n_teachers=K, labels=labels)
    gaussian = mechanisms.load("gnmax_analytic").calibrate(task).sigma
    for leak in (0.01, 0.5, 1.0):
        assert mechanisms.load("gnmax_exact").calibrate(task, leak=leak).sigma <= gaussian
    pure = mechanisms.load("lnmax_pure").calibrate(task).scale
    exact = mechanisms.load("lnmax_exact").calibrate(task, leak=0.0).scale
    assert exact <= pure * (1 + 1e-6)


def test_one_label_of_exact_noise_spends_the_whole_budget():
    task = replace(BASE, queries=1, labels=1, n_teachers=7)
    for name in ("gnmax_exact", "lnmax_exact"):
        mechanism = mechanisms.load(name)
        parameters = mechanism.calibrate(task, leak=1.0)
        exact = mechanism.audited(task, parameters).exact_epsilon(task.delta)
        assert exact == pytest.approx(task.epsilon, rel=1e-5)
        assert exact <= mechanism.cost(task, parameters).claimed * (1 + 1e-9)


@pytest.mark.parametrize("name", sorted(DARRM))
@pytest.mark.parametrize("model", ["shared_data", "disjoint_shards"])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_darrm_s_label_is_private_for_all_teachers_that_are(name, model, adjacency):
    """Against the audit over all teachers that are as private as stated, at every corner."""
    task = replace(
        BASE, labels=1, epsilon=1.0, teacher_Delta=1e-6, privacy_model=model, adjacency=adjacency
    )
    mechanism = mechanisms.load(name)
    assert mechanism.refusal(task) is None
    parameters = mechanism.calibrate(task)
    teacher = majority_cost(0.3, 1e-6, adjacency)
    assert (parameters.teacher_epsilon, parameters.teacher_Delta) == (
        teacher.epsilon,
        teacher.delta,
    )
    probabilities = label_probability(mechanism.gamma(parameters))
    worst = worst_teachers(probabilities, teacher.epsilon, teacher.delta, task.delta)
    claimed = mechanism.cost(task, parameters).claimed
    # The audit's value is an upper bound itself: what rounding may have hidden is in it.
    assert 0 < worst.epsilon <= claimed * (1 + 1e-12) <= task.epsilon * (1 + 1e-12)
    # No more noise than that: one more teacher, or a larger m, would break the budget.
    if name == "darrm_opt":
        assert worst.epsilon > 0.99 * task.epsilon


@pytest.mark.parametrize("name", sorted(DARRM))
def test_darrm_answers_every_query_where_the_budget_pays_for_all_teachers(name):
    mechanism = mechanisms.load(name)
    assert mechanism.refusal(RICH) is None
    parameters = mechanism.calibrate(RICH)
    found = counts(RICH)
    released = mechanism.release(found, parameters, Seeded(np.random.default_rng(0)))
    np.testing.assert_array_equal(released[:40], found[:40].argmax(axis=1))  # no noise
    everyone = optimal_homogeneous(0.6, 0.0, 9, RICH.delta).epsilon
    assert mechanism.cost(RICH, parameters).claimed == everyone <= RICH.epsilon
    assert "proven for one label" in mechanism.refusal(replace(RICH, epsilon=everyone * 0.999))
