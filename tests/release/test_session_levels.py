"""Sessions with levels of noise: whatever is chosen after seeing labels costs what is claimed."""

import dataclasses
import itertools
import json
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from private_ensembles import Session
from private_ensembles.accounting.adaptive.levels import levels_epsilon
from private_ensembles.accounting.discrete_gaussian import fine_distance
from private_ensembles.audit.histograms import both_counts
from private_ensembles.mechanisms import release as door
from private_ensembles.mechanisms.accounts.levels import level_noise
from private_ensembles.mechanisms.mechanism import load
from private_ensembles.mechanisms.task import Task
from private_ensembles.noise import secure
from private_ensembles.release import release_plan, session_export

from .test_session import STATED

SMALL = {"teachers": 5, "classes": 2, "labels": 6, "epsilon": 3.0, "delta": 1e-3}
COUNTS = np.array([[5, 0], [3, 2], [1, 4], [2, 3]])


def create(path, **changes):
    arguments = SMALL | STATED | {"levels": (1, 2), "reserve": 1} | changes
    return Session.create(path / "a.session", **arguments)


def dearest_choice(levels, total, unused, y):
    """The cost at y of the dearest way to choose levels and queries after each label, exactly.

    levels: units, reserve, and pairs of fractions (P, P') of each. total: units of the session, of
    which `unused` are never spent. In whole numbers: what is left of u units has the denominator
    unit ** u, whatever they are spent on.
    """
    unit = math.lcm(*(p.denominator for *_, pairs in levels for row in pairs for p in sum(row, ())))
    rows = []
    for units, reserve, pairs in levels:
        scale = unit**units
        whole = [[[int(p * scale) for p in law] for law in pair] for pair in pairs]
        # The order of outcomes does not matter to what they add up to.
        rows.append((units, reserve, {tuple(sorted(zip(*pair, strict=True))) for pair in whole}))

    @cache
    def most(left, x, y):
        best = max(0, x - y) * unit**left
        for units, reserve, pairs in rows:
            if units + reserve <= left and left - units >= unused:
                for pair in pairs:
                    best = max(best, sum(most(left - units, x * p, y * q) for p, q in pair))
        return best

    return Fraction(most(total, y.denominator, y.numerator), y.denominator * unit**total)


def coins(plan, parameters, moved=1):
    """Neighbouring laws of labels of two classes: of the very floats that are tossed.

    moved: how many votes may move at most.
    """
    table = plan.mechanism.law.distribution(both_counts(plan.task.n_teachers), parameters)
    laws = []
    for row in table.tolist():
        smaller = Fraction(min(row))
        laws.append((smaller, 1 - smaller) if row[0] < row[1] else (1 - smaller, smaller))
    neighbours = []
    for step in range(1, moved + 1):
        neighbours += zip(laws[:-step], laws[step:], strict=True)
    return neighbours + [(after, before) for before, after in neighbours]


def coins_of(plan):
    return [(level.units, level.reserve, coins(plan, level.parameters)) for level in plan.levels]


@pytest.mark.parametrize(
    ("mechanism", "teachers", "levels", "reserve", "units"),
    [
        ("gnmax_exact", 5, (1, 2), 1, 6),
        ("gnmax_exact", 3, (1, 2), 0, 6),
        ("gnmax_exact", 2, (1, 3), 1, 7),
        ("gnmax_exact", 3, (1, 2, 4), 1, 8),
        ("exponential", 3, (1, 2), 1, 5),
        ("permute_and_flip", 3, (1, 2), 1, 5),
        ("ladder", 5, (1, 2), 1, 6),
        ("optimal_label", 5, (1, 2), 1, 6),
    ],
)
def test_no_choice_of_queries_and_levels_exceeds_what_is_claimed_of_any_part_of_it(
    tmp_path, mechanism, teachers, levels, reserve, units
):
    sizes = {"teachers": teachers, "labels": units, "levels": levels, "reserve": reserve}
    with create(tmp_path, mechanisms=[mechanism], **sizes) as session:
        plan = session.plan
    laws, delta = coins_of(plan), Fraction(SMALL["delta"])
    costs = [plan.epsilon(used, used) for used in range(1, units + 1)]
    assert costs == sorted(costs)
    assert costs[-1] <= SMALL["epsilon"]
    for used, epsilon in enumerate(costs, start=1):
        y = Fraction(math.nextafter(math.exp(epsilon), 0))  # a little less: more is charged
        exact = dearest_choice(laws, units, units - used, y)
        assert exact <= delta * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("mechanism", ["gnmax_exact", "permute_and_flip"])
def test_a_unit_that_moves_two_votes_reaches_no_more_than_is_claimed_of_it(mechanism):
    """Every choice of levels and queries, and so every plan without levels, in fractions."""
    task = Task(3.0, 1e-3, 6, 6, 5, 2, secure=True, reach=2)
    found, units, kept = load(mechanism), (1, 2), (0, 1)
    noise = level_noise(found, task, units, kept)
    levels = tuple(map(release_plan.Level, units, kept, noise))
    plan = release_plan.ReleasePlan(task, mechanism, noise[0], 0.0, None, "test", levels)
    assert release_plan.read(plan.text()) == plan
    alone = dataclasses.replace(plan, parameters=found.calibrate(task), levels=())
    delta = Fraction(task.delta)
    for used in range(1, 7):
        for whole, laws in (
            (plan, [(at.units, at.reserve, coins(plan, at.parameters, 2)) for at in levels]),
            (alone, [(1, 0, coins(alone, alone.parameters, 2))]),
        ):
            epsilon = whole.epsilon(used, used)
            assert epsilon <= task.epsilon
            y = Fraction(math.nextafter(math.exp(epsilon), 0))
            total = 6 if whole.levels else used
            exact = dearest_choice(laws, total, total - used, y)
            assert exact <= delta * (1 + Fraction(1, 10**12))
    one = found.calibrate(dataclasses.replace(task, reach=1))
    laws = [(1, 0, coins(alone, one, 2))]
    assert dearest_choice(laws, 6, 0, Fraction(math.exp(3.0))) > delta


@pytest.mark.parametrize("wrong", [0, 1])
def test_less_noise_than_planned_on_one_level_is_noticed(tmp_path, wrong):
    with create(tmp_path) as session:
        plan = session.plan
    laws = coins_of(plan)
    units, reserve, _ = laws[wrong]
    twin = plan.mechanism.law.less_noise(plan.levels[wrong].parameters, 0.95)
    laws[wrong] = units, reserve, coins(plan, twin)
    y = Fraction(math.exp(plan.task.epsilon))
    assert dearest_choice(laws, plan.labels, 0, y) > Fraction(plan.task.delta)


def test_reserves_kept_of_what_was_used_would_claim_too_little(tmp_path):
    """While units are left that are not to be used, clear labels may come last all the same."""
    with create(tmp_path, labels=10, reserve=3) as session:
        plan = session.plan
    families = [plan.mechanism.law.pairs(plan.task, level.parameters) for level in plan.levels]
    too_little = levels_epsilon(families, [1, 2], 5, SMALL["delta"], reserves=[0, 6], fineness=8.0)
    for epsilon, kept in ((too_little.upper, False), (plan.epsilon(5, 5), True)):
        exact = dearest_choice(coins_of(plan), 10, 5, Fraction(math.exp(epsilon)))
        assert (exact <= Fraction(SMALL["delta"])) == kept


def three_classes(plan, parameters):
    """Pairs of neighbours among three classes; what is lost to rounding goes to the first."""
    votes = range(plan.task.n_teachers + 1)
    counts = [row for row in itertools.product(votes, repeat=3) if sum(row) == len(votes) - 1]
    laws = {}
    for row, law in zip(
        counts,
        plan.mechanism.law.distribution(np.array(counts), parameters).tolist(),
        strict=True,
    ):
        rest = [round(p * 2**40) for p in law[1:]]
        laws[row] = tuple(Fraction(p, 2**40) for p in (2**40 - sum(rest), *rest))
    return [
        (laws[one], laws[other])
        for one, other in itertools.product(counts, repeat=2)
        if sorted(np.subtract(one, other)) == [-1, 0, 1]
    ]


def test_three_classes_with_secure_noise_cost_what_is_claimed(tmp_path):
    with create(tmp_path, teachers=3, classes=3, labels=4) as session:
        plan = session.plan
        labels = session.release([[2, 1, 0]], level=2).tolist()
        assert set(labels) <= {0, 1, 2}
    laws = [
        (level.units, level.reserve, three_classes(plan, level.parameters)) for level in plan.levels
    ]
    exact, nearly = (
        dearest_choice(laws, 4, 0, Fraction(math.exp(share * plan.task.epsilon)))
        for share in (1, 0.95)
    )
    # Four labels have few losses: the largest is a little below epsilon.
    assert exact <= plan.task.delta < nearly
    # Labels are drawn on the fine lattice, and each is charged for its distance.
    for level in plan.levels:
        spare = fine_distance(level.parameters.sigma, 3)
        assert plan.mechanism.law.pairs(plan.task, level.parameters).spare >= spare > 0


def test_a_rehearsals_noise_of_many_classes_is_not_released(tmp_path):
    with create(tmp_path, classes=3, noise="reproducible") as session:
        plan = session.plan
    for level in plan.levels:
        reason = door.refusal(plan.mechanism, level.parameters, 3, secure=True)
        assert "continuous" in reason


def splits(number):
    """All ways to cut so many queries into batches, as lists of slices."""
    for cuts in itertools.product([False, True], repeat=number - 1):
        places = [0, *(at + 1 for at, cut in enumerate(cuts) if cut), number]
        yield [slice(*ends) for ends in itertools.pairwise(places)]


def test_a_seeded_session_gives_the_same_labels_however_queries_are_cut(tmp_path):
    """Two queries at the first level, then four at the second."""
    counts = COUNTS[[0, 1, 2, 3, 2, 1]]
    drawn = set()
    for number, (plain, clear) in enumerate(itertools.product(splits(2), splits(4))):
        folder = tmp_path / str(number)
        folder.mkdir()
        with create(folder, labels=12, noise="reproducible", seed=7) as session:
            labels = [session.release(counts[:2][part]) for part in plain]
            labels += [session.release(counts[2:][part], level=2) for part in clear]
            assert session.remaining == 2
        drawn.add(np.concatenate(labels).tobytes())
    assert len(drawn) == 1


def test_coins_are_those_of_the_level_that_was_asked_for(tmp_path, monkeypatch):
    toss, chances = secure.coins, []

    def noted(probabilities):
        chances.extend(np.ravel(probabilities).tolist())
        return toss(probabilities)

    with create(tmp_path) as session:
        session._try()  # a made-up query
        monkeypatch.setattr(secure, "coins", noted)
        session.release(COUNTS[1:2], level=2)
        session.release(COUNTS[1:2])
        law = session.plan.mechanism.law
        expected = [
            law.distribution(COUNTS[1:2], level.parameters).min() for level in session.plan.levels
        ]
    assert chances == expected[::-1]
    assert expected[1] < expected[0]


def test_a_level_leaves_its_reserve_and_a_batch_that_would_not_is_refused_before_its_charge(
    tmp_path,
):
    with create(tmp_path, labels=12, reserve=2) as session:
        assert (session.affordable(), session.affordable(2)) == (12, 4)
        before = session.state
        with pytest.raises(ValueError, match="5 queries of level 2: must be at most 4, as 12"):
            session.release(COUNTS[[0] * 5], level=2)
        assert session.state == before
        session.release(COUNTS, level=2)
        assert (session.remaining, session.remaining_queries) == (4, 4)
        assert (session.affordable(), session.affordable(2)) == (4, 0)
        with pytest.raises(ValueError, match="1 queries of level 2: must be at most 0"):
            session.release(COUNTS[:1], level=2)
        session.release(COUNTS)
        assert session.remaining == session.affordable() == 0
        assert session.spent.epsilon <= session.total.epsilon
        with pytest.raises(ValueError, match="1 queries of level 1: must be at most 0"):
            session.release(COUNTS[:1])
        session.verify()


def test_a_batch_is_charged_in_units_and_keeps_its_level(tmp_path, monkeypatch):
    with create(tmp_path, labels=12) as session:
        labels = session.release(COUNTS[:2], key="a", level=np.float64(2))
        batch = session.batch("a")
        assert (batch.queries, batch.most, batch.level) == (2, 4, 2)
        assert (batch.answers, batch.charged) == (2, 4)
        assert session.release(COUNTS[:2], key="a", level=2).tolist() == labels.tolist()
        with pytest.raises(ValueError, match="of a batch of level 2, released before"):
            session.release(COUNTS[:2], key="a")
        monkeypatch.setattr(Session, "_draw", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            session.release(COUNTS[:1], key="b", level=2)
        assert session.remaining == 6
        with pytest.raises(ValueError, match=r"was charged \(1 labels\), and its labels were lost"):
            session.release(COUNTS[:1], key="b", level=2)
        monkeypatch.undo()
        session.release(COUNTS[:1], key="b", level=1, again=True)
        assert session.remaining == 5
        session.verify()


@pytest.mark.parametrize("level", [1, 3])
def test_a_changed_level_is_noticed(tmp_path, level):
    with create(tmp_path) as session:
        session.release(COUNTS[:1], key="a", level=2)
        session._file._connection.execute(f"UPDATE batches SET level = {level}")
        with pytest.raises(ValueError, match="does not agree with its own hashes"):
            session.verify()


def test_a_plan_with_levels_is_read_as_it_was_written(tmp_path):
    with create(tmp_path) as session:
        plan = session.plan
    again = release_plan.read(plan.text())
    assert again == plan
    assert [level.units for level in again.levels] == [1, 2]
    assert again.levels[0].parameters == again.parameters
    assert again.levels[1].parameters.n_teachers == 5
    assert again.epsilon(3, 3) == plan.epsilon(3, 3)


def test_a_session_without_levels_says_nothing_of_them(tmp_path):
    with create(tmp_path, levels=(), mechanisms=["gnmax_exact"], noise="reproducible") as session:
        assert "levels" not in json.loads(session.plan.text())
        report = session_export.status(session)
        assert not {"affordable", "levels"} & (set(report) | set(report["plan"]))
        assert session.affordable() == session.remaining == 6
        with pytest.raises(ValueError, match="level = 2: must be one of this session: 1"):
            session.release(COUNTS, level=2)


def test_a_status_says_what_each_level_has_left(tmp_path):
    with create(tmp_path, noise="reproducible") as session:
        session.release(COUNTS[:1], level=2)
        report = session_export.status(session, curve=True)
        files = session_export.export(session, tmp_path / "out")
    assert (report["queries"], report["labels"], report["remaining"]) == (1, 2, 4)
    assert report["affordable"] == {"1": 4, "2": 1}
    assert [level["reserve"] for level in report["plan"]["levels"]] == [0, 2]
    assert 0 < report["spent"]["least"] <= report["spent"]["epsilon"] < report["total"]["epsilon"]
    assert all(0 < row["spent"] <= row["total"] for row in report["curve"])
    assert files["batches.csv"].read_text().splitlines()[1].split(",")[3:6] == ["1", "1", "2"]


def test_more_units_cost_more_at_the_same_noise(tmp_path):
    with create(tmp_path) as session:
        session.release(COUNTS[:2], level=2)
        noise = [level.parameters.sigma for level in session.plan.levels]
        cost = session.cost_of(9)
        assert cost.epsilon > session.total.epsilon
        session.extend(9, epsilon=cost.epsilon)
        assert [level.parameters.sigma for level in session.plan.levels] == noise
        assert session.total == cost
        assert (session.remaining, session.affordable(2)) == (5, 1)
        plan = session.plan
        session.release(COUNTS[:1], level=2)
    y = Fraction(math.nextafter(math.exp(cost.epsilon), 0))
    exact = dearest_choice(coins_of(plan), 9, 0, y)
    assert 0.5 * plan.task.delta < exact <= Fraction(plan.task.delta)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": (1,)}, r"levels = \[1\]: must be 1 and larger numbers"),
        ({"levels": (2, 4)}, r"levels = \[2, 4\]: must be 1 and larger"),
        ({"levels": (1, 2, 2)}, "must be 1 and larger"),
        ({"levels": (1, 1.5)}, r"levels\[1\] = 1.5: must be an integer"),
        ({"reserve": -1}, "reserve = -1"),
        ({"reserve": 3}, "labels = 6: must be at least 8, so that a label of level 2"),
        ({"mechanisms": ["gnmax_exact", "ladder"]}, "must be one, as there are levels"),
        ({"mechanisms": ["gnmax_analytic"]}, "must charge labels for what they release"),
        ({"mechanisms": ["permute_and_flip"], "classes": 3}, "permute_and_flip"),
        ({"mechanisms": ["confident_gnmax"]}, "must charge labels for what they release"),
        ({"queries": 9}, "queries = 9: must be left out, as there are levels"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line_and_leaves_nothing(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        create(tmp_path, **changes)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
