"""The planner: never beaten by a brute-force grid, and honest about looking at private votes."""

import csv
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.labels import release_gate
from private_ensembles.labels.accounts import thresholds
from private_ensembles.labels.accounts.label import LabelAccount
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.planner import planning, ranking
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile, synthetic_counts
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)

PROFILES = {
    "mostly easy": ConsensusProfile(2, 0.9, (20, 2), (2, 2), 1.0),
    "half hopeless": ConsensusProfile(3, 0.5, (30, 1), (1, 3), 0.5),
    "many classes": ConsensusProfile(12, 0.4, (15, 5), (2, 4), 3.0),
}
TASK = Task(Ensemble(81, 2), Budget(2.0, 1e-5), Wanted(60, 120))


def votes(name, task, seed=0):
    profile = PROFILES[name]
    task = replace(task, ensemble=replace(task.ensemble, classes=profile.n_classes))
    generator = np.random.default_rng(seed)
    return task, *synthetic_counts(profile, task.ensemble.teachers, task.wanted.queries, generator)


def grid(mechanism, number, least_cap):
    ends = dict(mechanism.account.free_parameters)
    if "cap" in ends:
        ends["cap"] = max(least_cap, ends["cap"][0]), ends["cap"][1]
    axes = [np.linspace(*between, number) for between in ends.values()]
    names = list(ends)
    return [dict(zip(names, map(float, p), strict=True)) for p in itertools.product(*axes)]


# Points along each parameter, by the number of parameters; the finer grid, which is slow, at every
# budget.
COARSE, FINE = {0: 1, 1: 12, 2: 4, 3: 3}, {0: 1, 1: 60, 2: 9, 3: 9}
GRIDS = [
    (0.5, "mostly easy", COARSE),
    pytest.param(0.5, "many classes", COARSE, marks=pytest.mark.slow),
    *(
        pytest.param(epsilon, profile, FINE, marks=pytest.mark.slow)
        for epsilon in (0.5, 4.0)
        for profile in PROFILES
    ),
]
# Labels of many classes that are charged together: a few take long, and one label, the least cap,
# the longest. Here 18 labels or all; on the finer grid one as well.
TOGETHER = {12: (0.3, 2), 4: (0.3, 2), 3: (0.3, 2), 60: (0.02, 5), 9: (0.02, 3)}


@pytest.mark.parametrize(("epsilon", "profile", "points"), GRIDS)
def test_no_parameter_on_a_fine_grid_beats_the_plan_by_one_percent(epsilon, profile, points):
    task, counts, labels = votes(
        profile, replace(TASK, budget=replace(TASK.budget, epsilon=epsilon))
    )
    plans = {plan.mechanism: plan for plan in ranking.rank_mechanisms(task, counts, labels)}
    best = max(plan.correct for plan in plans.values())
    for name, plan in plans.items():
        if plan.refusal is not None:
            continue
        mechanism = load_mechanism(name)
        number, least_cap = points[len(mechanism.account.free_parameters)], 0.0
        together = isinstance(mechanism.account, LabelAccount) or name == "confident_gnmax_exact"
        if together and task.ensemble.classes > 2:
            least_cap, number = TOGETHER[number]
        for free in grid(mechanism, number, least_cap):
            parameters = mechanism.calibrate(task, **free)
            correct = mechanism.law.expected_answers(counts, labels, task, parameters)[1]
            assert correct <= 1.01 * plan.correct, (name, free)
            assert correct <= 1.01 * best


@pytest.fixture(scope="module")
def ranked():
    given = votes("half hopeless", TASK)
    return *given, ranking.rank_mechanisms(*given)


def test_plans_are_ranked_and_those_that_do_not_apply_come_last_with_a_reason(ranked):
    task, _, _, plans = ranked
    usable = [plan for plan in plans if plan.refusal is None]
    assert [plan.correct for plan in usable] == sorted(
        (plan.correct for plan in usable), reverse=True
    )
    assert {plan.mechanism for plan in plans[len(usable) :]} == {
        "ladder",  # three classes
        *("majority_private", "committee", "darrm_opt", "darrm_sub"),  # no private teachers
    }
    for plan in usable:
        assert plan.epsilon <= task.budget.epsilon
        assert plan.correct <= plan.answers <= task.wanted.labels + 1e-9


def test_one_line_a_family_with_its_least_noise_beside_the_published(ranked):
    task, counts, labels, plans = ranked
    plans = {plan.mechanism: plan for plan in plans}
    looser = {"gnmax", "gnmax_analytic"}
    assert not looser & set(plans)
    confident = "confident_gnmax_exact", "confident_gnmax"
    for best, paper in (("gnmax_exact", "gnmax"), confident):
        (alone,) = ranking.rank_mechanisms(task, counts, labels, [paper])
        assert plans[best].published == alone.correct < plans[best].correct
        assert math.isnan(alone.published)
    assert math.isnan(plans["exponential"].published)
    assert math.isnan(plans["ladder"].published)


def test_with_steep_votes_of_many_classes_fewer_labels_may_be_right_more_often():
    # All 60 labels would drown in noise; a part of them does not.
    task = replace(
        TASK,
        ensemble=replace(TASK.ensemble, classes=500),
        budget=replace(TASK.budget, epsilon=1.0),
        wanted=replace(TASK.wanted, queries=60),
    )
    counts = np.zeros((60, 500), int)
    counts[:, 0] = 81
    labels = np.zeros(60, int)
    (plan,) = ranking.rank_mechanisms(task, counts, labels, ["gnmax_analytic"])
    assert plan.parameters.labels < 60
    mechanism = load_mechanism("gnmax_analytic")
    everything = mechanism.calibrate(task)
    assert plan.correct > 1.05 * mechanism.law.expected_answers(counts, labels, task, everything)[1]


def test_expected_labels_are_those_of_simulated_releases():
    task, counts, labels = votes(
        "mostly easy", replace(TASK, budget=replace(TASK.budget, epsilon=8.0))
    )
    for plan in ranking.rank_mechanisms(task, counts, labels):
        if plan.refusal is not None:
            continue
        mechanism = load_mechanism(plan.mechanism)
        generator = np.random.default_rng(5)
        right = []
        for _ in range(150):
            order = generator.permutation(task.wanted.queries)  # queries come in random order
            released = release_gate.release_from_counts(
                mechanism, counts[order], plan.parameters, SeededNoise(generator)
            )
            right.append((released == labels[order]).sum())
        error = np.std(right) / np.sqrt(len(right))
        assert abs(np.mean(right) - plan.correct) < 5 * error + 0.01 * plan.correct, plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.full((120, 3), 1)}, "must be queries x 2 classes"),
        ({"counts": np.full((120, 2), 1)}, "every row must add up to 81"),
        ({"labels": np.full(120, -1)}, "must be known for every query"),
        ({"names": ["unheard_of"]}, "must be one of"),
    ],
)
def test_votes_that_do_not_fit_the_task_are_refused(change, message):
    task, counts, labels = votes("mostly easy", TASK)
    given = {"counts": counts, "labels": labels, "names": None} | change
    with pytest.raises(ValueError, match=message):
        ranking.rank_mechanisms(task, given["counts"], given["labels"], given["names"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_classes": 100_001}, "n_classes = 100001: must be at most 100,000"),
        ({"n_teachers": 2**31}, "n_teachers = 2147483648: must be at most 1,000,000"),
    ],
)
def test_more_than_can_be_planned_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Task.from_dict(TASK.to_dict() | change)


def test_a_mechanism_of_which_nothing_is_proven_is_listed_and_the_others_stand(monkeypatch):
    known = ranking.best_parameters

    def refuse(mechanism, *given):
        if mechanism.name == "gnmax":
            raise ValueError("no noise of gnmax is proven for the budget")
        return known(mechanism, *given)

    monkeypatch.setattr(ranking, "best_parameters", refuse)
    task = replace(TASK, ensemble=Ensemble(100, 3), wanted=Wanted(20))
    counts, labels = np.tile([[60, 30, 10]], (20, 1)), np.zeros(20, dtype=int)
    first, last = ranking.rank_mechanisms(task, counts, labels, ["gnmax", "lnmax_pure"])
    assert (first.mechanism, first.refusal) == ("lnmax_pure", None)
    assert last.refusal == "no noise of gnmax is proven for the budget"
    (ladder,) = ranking.rank_mechanisms(task, counts, labels, ["ladder"])
    assert ladder.refusal == "for two classes only"
    for plan in (last, ladder):
        assert (plan.parameters, plan.answers, plan.correct) == (None, 0, 0)
        assert math.isnan(plan.epsilon)
        assert math.isnan(plan.published)


def test_time_is_estimated_by_what_takes_it():
    task, about = (
        replace(TASK, ensemble=replace(TASK.ensemble, classes=10), secure=True),
        ranking.estimate_seconds,
    )
    assert about(replace(task, ensemble=replace(task.ensemble, classes=1000))) > about(task)
    many = replace(TASK, ensemble=replace(TASK.ensemble, teachers=1_000_000))
    assert about(many) > 0.3 + about(TASK)
    drawn = about(task, release=True) - about(task)
    assert drawn == pytest.approx(1e-6 * 120 * 10)
    rehearsal = replace(task, secure=False)
    assert about(rehearsal, release=True) == about(rehearsal)


def test_the_estimate_of_time_is_near_what_was_measured(root):
    """Within a factor of three of what docs/benchmarks says of this code's plans."""
    with (root / "docs/benchmarks/waiting.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["code"] == "new"]
    plans = [row for row in rows if row["what"] == "plan"]
    assert len(plans) > 10
    for row in plans:
        sizes = {"n_teachers": int(row["teachers"]), "n_classes": int(row["classes"])}
        asked = {"queries": int(row["queries"]), "labels": int(row["labels"])}
        seconds = ranking.estimate_seconds(Task.from_dict(TASK.to_dict() | {**sizes, **asked}))
        assert 1 / 3 < seconds / float(row["wall_seconds"]) < 3, row


FAMILY = ("gnmax", "gnmax_analytic", "gnmax_exact")


@pytest.mark.parametrize(
    ("unproven", "chosen", "published"),
    [
        ((), "gnmax_exact", 1.0),
        (("gnmax_exact",), "gnmax_analytic", 1.0),
        (("gnmax",), "gnmax_exact", math.nan),
        (("gnmax_exact", "gnmax_analytic"), "gnmax", 1.0),
        (FAMILY, "gnmax", math.nan),
    ],
)
def test_a_family_s_line_is_the_tightest_analysis_that_finds_noise(
    monkeypatch, unproven, chosen, published
):
    asked = []

    def best(mechanism, *given, **options):
        asked.append(mechanism.name)
        refusal = "nothing is proven" if mechanism.name in unproven else None
        correct = 1.0 + FAMILY.index(mechanism.name)
        return ranking.Plan(mechanism.name, refusal, None, 1.0, 20.0, correct, math.nan)

    monkeypatch.setattr(ranking, "_plan_mechanism", best)
    task, counts, labels = votes("mostly easy", TASK)
    (line,) = ranking.rank_mechanisms(task, counts, labels, FAMILY)
    assert line.mechanism == chosen
    assert line.published == pytest.approx(published, nan_ok=True)
    assert (line.refusal is None) == (unproven != FAMILY)
    # What the others would give is not worked out.
    assert ("gnmax_analytic" in asked) == ("gnmax_exact" in unproven)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(("labels", "n_classes"), [(1, 10), (30, 2), (120, 3)])
def test_tighter_analyses_need_no_more_noise(labels, n_classes, secure):
    """One label's may need a thousandth more: it is proven on a grid."""
    task = replace(
        TASK,
        ensemble=replace(TASK.ensemble, classes=n_classes),
        wanted=replace(TASK.wanted, labels=labels),
        secure=secure,
    )
    noise = [load_mechanism(name).calibrate(task).sigma for name in FAMILY[:2]]
    exact = load_mechanism("gnmax_exact").calibrate(task).sigma
    assert noise == sorted(noise, reverse=True)
    assert exact <= noise[-1] * 1.001
    loose, tight = (
        load_mechanism(name).calibrate(task)
        for name in ("confident_gnmax", "confident_gnmax_exact")
    )
    assert tight.rho >= 0.995 * loose.rho


@pytest.mark.parametrize("name", ["gnmax", "confident_gnmax", "confident_gnmax_exact"])
@pytest.mark.parametrize("profile", PROFILES)
def test_no_score_is_above_the_labels_that_are_paid_for(name, profile):
    task, counts, labels = votes(profile, TASK)
    mechanism = load_mechanism(name)
    score = mechanism.law.build_objective(counts, labels, task)
    for free in grid(mechanism, 4, 0.02):
        assert score(mechanism.guess_parameters(task, **free)) <= mechanism.count_paid_labels(
            task, **free
        ) * (1 + 1e-9)


@pytest.mark.parametrize(("wanted", "most"), [(1, 0), (4, 4)])
def test_no_number_of_labels_is_asked_for_twice(wanted, most, monkeypatch):
    """Many caps pay for as many labels; of one label there is nothing to choose."""
    task, counts, labels = votes(
        "half hopeless", replace(TASK, wanted=replace(TASK.wanted, labels=wanted))
    )
    asked = []
    guess = Mechanism.guess_parameters
    monkeypatch.setattr(
        Mechanism,
        "guess_parameters",
        lambda self, task, **free: asked.append(guess(self, task, **free)) or asked[-1],
    )
    best = ranking.best_parameters(load_mechanism("lnmax_pure"), task, counts, labels)
    assert best.labels <= wanted
    assert len(asked) == len({noise.labels for noise in asked}) <= most


def test_the_search_leaves_out_only_what_is_not_among_the_best():
    generator = np.random.default_rng(3)
    most = generator.uniform(0, 100, 300)
    scores = most * generator.uniform(0.5, 1, 300)
    points, asked = np.arange(300)[:, None], []

    def score(point):
        asked.append(int(point[0]))
        return scores[asked[-1]]

    found = ranking._best_scores(score, points, most, 4)
    best = np.argsort(-scores)[:4]
    assert np.array_equal(np.argsort(-found)[:4], best)
    assert np.array_equal(found[best], scores[best])
    assert set(best) <= set(asked)
    assert len(asked) < 150
    assert np.isneginf(np.delete(found, asked)).all()


def test_a_search_for_thresholds_proves_only_what_it_returns(monkeypatch):
    """Each proof of noise on whole numbers takes as long as all else of a small plan."""
    task, counts, labels = votes("mostly easy", replace(TASK, secure=True))
    proven, find = [], thresholds.sufficient_factor
    monkeypatch.setattr(
        thresholds, "sufficient_factor", lambda *those: proven.append(those) or find(*those)
    )
    best = ranking.best_parameters(load_mechanism("confident_gnmax"), task, counts, labels)
    assert len(proven) == 1
    assert load_mechanism("confident_gnmax").cost(task, best).proven <= task.budget.epsilon


def best_of(teachers, classes, queries, labels, epsilon):
    task = Task(Ensemble(teachers, classes), Budget(epsilon, 1e-5), Wanted(labels, queries))
    task = replace(task, secure=True, profile=ConsensusProfile(classes, **ASSUMED_PROFILE))
    names = ["gnmax_exact", "confident_gnmax_exact", "exponential"]
    return task, planning.rank_on_profile(task, names, 0)


@pytest.mark.parametrize(
    "sizes",
    [
        (40, 2, 100, 100, 0.5),
        pytest.param((40, 2, 300, 100, 2.0), marks=pytest.mark.slow),
        pytest.param((40, 3, 300, 100, 2.0), marks=pytest.mark.slow),
    ],
)
def test_a_plain_mechanism_stands_before_those_that_are_hardly_better(sizes):
    """Thresholds gained 0.005 %, and the labels came for queries 1, 5, 11, 12, ... 222."""
    _, (best, *others) = best_of(*sizes)
    assert best.mechanism == "gnmax_exact"
    assert best.correct < others[0].correct < 1.005 * best.correct


def test_what_is_ahead_by_half_a_percent_stands_first():
    plans = [
        ranking.Plan(name, None, None, 1.0, 100.0, right, math.nan)
        for name, right in [("gnmax_exact", 80.0), ("exponential", 80.41), ("ladder", 80.39)]
    ]
    ranked = [plan.mechanism for plan in sorted(plans, key=ranking._rank)]
    assert ranked == ["exponential", "gnmax_exact", "ladder"]
    _, (best, *_) = best_of(250, 10, 500, 100, 1.0)
    assert best.mechanism == "confident_gnmax_exact"


@pytest.mark.parametrize(
    ("classes", "queries", "labels"), [(3, 60, 1), pytest.param(7, 300, 5, marks=pytest.mark.slow)]
)
def test_no_threshold_is_above_all_teachers(classes, queries, labels):
    """48 of 40 teachers: what passes it is drawn by lot."""
    task, ranked = best_of(40, classes, queries, labels, 2.0)
    (confident,) = [plan for plan in ranked if plan.mechanism == "confident_gnmax_exact"]
    assert confident.parameters.threshold <= 40
    with pytest.raises(ValueError, match=r"threshold = 1\.1: must be in \[0, 1\.0\]"):
        load_mechanism("confident_gnmax").calibrate(task, threshold=1.1)
