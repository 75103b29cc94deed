"""Sessions: the same labels and costs however queries are cut, and no draw without its charge."""

import itertools
import math
import multiprocessing
import shutil
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from private_ensembles import Session
from private_ensembles.accounting.adaptive_composition.account import Bounds
from private_ensembles.audit.histograms import both_counts
from private_ensembles.base import secure
from private_ensembles.labels.task import Protection
from private_ensembles.release import (
    certificate,
    ledger_file,
    session_export,
    session_plan,
    statement,
)
from private_ensembles.release import session as sessions
from private_ensembles.release.pool import Names
from private_ensembles.release.release_plan import ReleasePlan
from private_ensembles.release.session_terms import Terms
from tests import ending
from tests.accounting.adversaries import exact_value
from tests.release import flat

SMALL = {"teachers": 5, "classes": 2, "labels": 4, "epsilon": 3.0, "delta": 1e-3}
# Few teachers have labels as noisy as a test of costs needs them, so they are released anyway.
STATED = {"shards": "disjoint", "anyway": True}
COUNTS = np.array([[5, 0], [3, 2], [1, 4], [2, 3]])


def create(path, **changes):
    arguments = SMALL | STATED | {"mechanisms": ["gnmax_exact"]} | changes
    return flat.create(path / "a.session", **arguments)


def fail(*_, **__):
    raise RuntimeError("made to fail")


def splits(number):
    """All ways to cut so many queries into batches, as lists of slices."""
    for cuts in itertools.product([False, True], repeat=number - 1):
        places = [0, *(at + 1 for at, cut in enumerate(cuts) if cut), number]
        yield [slice(*ends) for ends in itertools.pairwise(places)]


def copies(path, **changes):
    """Sessions that all begin as one and the same, each with a way to cut three queries."""
    create(path, **changes).close()
    for number, parts in enumerate(splits(3)):
        copy = shutil.copy(path / "a.session", path / f"{number}.session")
        with Session.open(copy) as session:
            yield session, parts


THRESHOLD = {"teachers": 50, "classes": 3, "labels": 3, "queries": 40, "epsilon": 8.0}


@pytest.mark.parametrize(
    ("mechanism", "counts", "more"),
    [
        ("gnmax_exact", COUNTS[1:], {}),
        ("permute_and_flip", COUNTS[1:], {}),
        ("gnmax_analytic", np.pad(COUNTS[1:], ((0, 0), (0, 1))), {"classes": 3}),
        # By this seed only the last one gets a label, so that queries and labels count apart.
        ("confident_gnmax", np.array([[17, 17, 16], [50, 0, 0], [50, 0, 0]]), THRESHOLD),
    ],
)
def test_a_seeded_session_gives_the_same_labels_however_queries_are_cut(
    tmp_path, mechanism, counts, more
):
    drawn = set()
    seeded = {"mechanisms": [mechanism], "noise": "reproducible", "seed": 3}
    for session, parts in copies(tmp_path, **seeded, **more):
        labels = np.concatenate([session.release(counts[part]) for part in parts])
        drawn.add((tuple(labels.tolist()), session.spent.epsilon))
    ((labels, _),) = drawn
    assert (labels == (-1, -1, 0)) == (mechanism == "confident_gnmax")


def test_secure_coins_have_the_same_chances_however_queries_are_cut(tmp_path, monkeypatch):
    toss, chances = secure.draw_bernoulli, []

    def noted(probabilities):
        chances.extend(np.ravel(probabilities).tolist())
        return toss(probabilities)

    seen = set()
    for session, parts in copies(tmp_path):
        session._dry_run()  # a made-up query
        with monkeypatch.context() as patched:
            patched.setattr(secure, "draw_bernoulli", noted)
            for part in parts:
                session.release(COUNTS[1:][part])
        seen.add(tuple(chances))
        chances.clear()
    assert len(seen) == 1
    assert len(seen.pop()) == 3


@pytest.mark.parametrize("teachers", [2, pytest.param(3, marks=pytest.mark.slow), 5])
@pytest.mark.parametrize("mechanism", ["gnmax_exact", "exponential", "ladder"])
def test_no_adaptive_session_exceeds_what_is_claimed_of_any_part_of_it(
    tmp_path, teachers, mechanism
):
    """All strategies of choosing queries after seeing labels, with the very floats of the coins."""
    with create(tmp_path, teachers=teachers, mechanisms=[mechanism]) as session:
        plan = session.plan
        table = plan.mechanism.law.distribution(both_counts(teachers), plan.parameters)
        smaller = table.min(axis=1)  # the coin's chance; the other label has the rest
        likely = table.argmax(axis=1)
        law = [
            (1 - Fraction(p), Fraction(p)) if at == 0 else (Fraction(p), 1 - Fraction(p))
            for p, at in zip(smaller.tolist(), likely.tolist(), strict=True)
        ]
        pairs = _pairs(law)
        for used in range(1, plan.labels + 1):
            epsilon = plan.epsilon(used, used, SMALL["delta"])
            y = Fraction(math.nextafter(math.exp(epsilon), 0))  # a little less: more is charged
            assert exact_value(pairs, used, y) <= Fraction(SMALL["delta"]) * (
                1 + Fraction(1, 10**12)
            )


def _pairs(law):
    neighbours = list(itertools.pairwise(law))
    return neighbours + [(after, before) for before, after in neighbours]


def test_less_noise_than_planned_is_noticed(tmp_path):
    with create(tmp_path) as session:
        plan = session.plan
    twin = plan.mechanism.law.scale_noise(plan.parameters, 0.95)
    table = plan.mechanism.law.distribution(both_counts(5), twin)
    law = [tuple(Fraction(p) for p in row) for row in table.tolist()]
    law = [(p / (p + q), q / (p + q)) for p, q in law]
    y = Fraction(math.exp(plan.task.budget.epsilon))
    assert exact_value(_pairs(law), plan.labels, y) > Fraction(plan.task.budget.delta)


def test_a_batch_is_drawn_once_and_its_labels_are_there_again(tmp_path):
    with create(tmp_path) as session:
        first = session.release(COUNTS[:2], key="march")
        before = session.state
        assert session.release(COUNTS[2:], key="march").tolist() == first.tolist()
        assert session.state == before
        assert session.batch("march").labels == first.tolist()
        assert session.remaining == 2
        for others in (COUNTS[:3], COUNTS[:1]):
            with pytest.raises(ValueError, match="of a batch of 2 queries, released before"):
                session.release(others, key="march")
        with pytest.raises(ValueError, match="3 queries: must be at most 2"):
            session.release(COUNTS[:3])
        assert session.state == before
    with Session.open(tmp_path / "a.session") as session:
        assert session.release(COUNTS[:2], key="march").tolist() == first.tolist()


def test_a_session_ends_with_its_labels(tmp_path):
    with create(tmp_path, noise="reproducible") as session:
        session.release(COUNTS)
        assert session.remaining == session.remaining_queries == 0
        assert session.spent.epsilon <= session.total.epsilon == 3.0
        with pytest.raises(ValueError, match="1 queries: must be at most 0"):
            session.release(COUNTS[:1])


def test_thresholds_charge_queries_and_only_answers_as_labels(tmp_path):
    with create(
        tmp_path, **THRESHOLD, mechanisms=["confident_gnmax"], noise="reproducible"
    ) as session:
        unclear, clear = np.tile([[17, 17, 16]], (5, 1)), np.tile([[50, 0, 0]], (30, 1))
        first = session.release(unclear)
        assert session.state.queries == 5
        assert session.state.labels == (first >= 0).sum()
        second = session.release(clear)
        assert (np.concatenate([first, second]) >= 0).sum() == 3 == session.state.labels
        assert session.remaining == 0
        assert session.remaining_queries == 5
        assert session.release(clear[:5]).tolist() == [-1] * 5
        last = np.flatnonzero(second >= 0)[-1]
        assert (second[last + 1 :] == -1).all()


REFUSED = [
    ([[5, 1]], {}, "rows add up to 6 to 6"),
    ([[2, 2, 1]], {}, "counts of 3 classes: must be of 2"),
    ([[2.5, 2.5]], {}, "must be integers"),
    ([[6, -1]], {}, "at least 0"),
    (np.zeros((0, 2), dtype=int), {}, "must be integers"),
    *((COUNTS[:1], {"key": key}, "key = ") for key in ("", "#1", "a\nb", "x" * 201, 3)),
    *(
        (COUNTS[:2], {"ids": ids}, "ids: must be")
        for ids in (["a"], ["a", "a"], ["a", 3], ["a", "b\n"])
    ),
]


def test_what_is_refused_costs_nothing(tmp_path):
    with create(tmp_path) as session:
        before = session.state
        for counts, more, message in REFUSED:
            with pytest.raises(ValueError, match=message):
                session.release(counts, **more)
            assert session.state == before, message


def test_counts_of_fewer_classes_are_refused_and_cost_nothing(tmp_path):
    with create(tmp_path, classes=3, mechanisms=["gnmax"]) as session:
        before = session.state
        with pytest.raises(ValueError, match="counts of 2 classes: must be of 3"):
            session.release([[3, 2]])
        assert session.state == before


def test_what_is_missing_fails_before_the_charge(tmp_path, monkeypatch):
    with create(tmp_path) as session:
        before = session.state

        def missing(*_):
            raise ModuleNotFoundError("No module named 'opendp'", name="opendp")

        monkeypatch.setattr(secure, "draw_bernoulli", missing)
        with pytest.raises(ModuleNotFoundError):
            session.release(COUNTS[:1])
        assert session.state == before


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (ReleasePlan, "bounds"),  # what the batch costs
        (statement, "statement"),
        (certificate, "render_certificate"),
    ],
)
def test_whatever_is_said_after_a_charge_fails_before_it(tmp_path, monkeypatch, where, name):
    with create(tmp_path) as session:
        before = session.state
        monkeypatch.setattr(where, name, fail)
        with pytest.raises(RuntimeError, match="made to fail"):
            session.release(COUNTS[:1], key="a")
        assert session.state == before


def test_a_session_that_has_labels_is_told_without_any_account(tmp_path, monkeypatch):
    with create(tmp_path) as session:
        session.release(COUNTS[:1], key="a")
        for where, name in [(ReleasePlan, "bounds"), (certificate, "prove")]:
            monkeypatch.setattr(where, name, fail)
        assert 0 < session.spent.epsilon < session.total.epsilon
        report = session_export.status(session)
        assert report["spent"]["least"] <= report["spent"]["epsilon"] == session.spent.epsilon
        assert "statement.html" in session.documents(session.batch("a"))


def test_what_cannot_be_proven_fails_before_there_is_a_session(tmp_path, monkeypatch):
    with create(tmp_path) as session:
        session.release(COUNTS[:1])
        head = session.head
        monkeypatch.setattr(certificate, "prove", fail)
        with pytest.raises(RuntimeError, match="made to fail"):
            session.extend(9, epsilon=9.0)
        assert session.head == head
    (tmp_path / "b").mkdir()
    with pytest.raises(RuntimeError, match="made to fail"):
        create(tmp_path / "b")
    assert not list((tmp_path / "b").iterdir())


def test_a_lost_batch_stays_charged_and_is_drawn_again_only_for_a_new_charge(tmp_path, monkeypatch):
    with create(tmp_path) as session:
        session._dry_run()
        with monkeypatch.context() as patched:
            patched.setattr(Session, "_draw", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                session.release(COUNTS[:1], key="a")
        assert session.remaining == 3
        with pytest.raises(ValueError, match="its labels were lost"):
            session.release(COUNTS[:1], key="a")
        assert session.remaining == 3
        labels = session.release(COUNTS[:1], key="a", again=True)
        assert session.remaining == 2
        assert session.batch("a").attempt == 2
        assert session.release(COUNTS[:1], key="a").tolist() == labels.tolist()
        assert session.remaining == 2
        session.verify()


def seen_and_charged(path):
    """How many labels the file shows, and how many it counts; it agrees with its own hashes."""
    with Session.open(path) as session:
        session.verify()
        seen = sum(len(batch.labels or []) for batch in session.batches())
        return seen, session.state.labels


def test_a_kill_in_any_state_leaves_no_label_uncharged_and_one_command_goes_on(
    tmp_path, monkeypatch
):
    """Each kill is on a session of its own, as a first one; every draw is noted by a file."""
    path = tmp_path / "a.session"
    draws = tmp_path / "draws"
    create(tmp_path).close()
    draw = Session._draw

    def noted(self, counts, *rest):
        labels = draw(self, counts, *rest)
        if self._tried:
            with open(draws, "a", encoding="utf-8") as file:
                file.write(f"{len(counts)}\n")
        return labels

    monkeypatch.setattr(Session, "_draw", noted)

    def work():
        with Session.open(path) as session:
            session.release(COUNTS[:2], key="a")

    kinds = set()
    places = (sessions, ledger_file, session_plan)
    for _ in ending.visit_every_state(work, places, tmp_path):
        drawn = sum(map(int, draws.read_text().split())) if draws.exists() else 0
        seen, charged = seen_and_charged(path)
        assert seen <= charged
        assert drawn <= charged
        kinds.add((seen, charged))
        with Session.open(path) as session:
            again = charged > seen
            labels = session.release(COUNTS[:2], key="a", again=again)
            assert len(labels) == 2
            assert session.state.labels == (4 if again else 2)
    assert kinds == {(0, 0), (0, 2), (2, 2)}


def test_a_kill_while_a_session_is_made_leaves_it_whole_or_not_there(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "a.session"
    plan = flat.planned(shards="disjoint", mechanisms=["gnmax_exact"], **SMALL)
    terms = Terms.from_plan(plan, Names()).to_json()

    def work():
        with sessions.hold_lock(sessions.lock_of(path)):
            ledger_file.LedgerFile.create(path, terms).close()

    found = set()
    for _ in ending.visit_every_state(work, (ledger_file,), folder):
        found.add(path.exists())
        folder.mkdir(exist_ok=True)
        if not path.exists():
            work()
        assert seen_and_charged(path) == (0, 0)
        path.unlink()
        assert {left.name for left in folder.iterdir()} <= {".a.session.lock", ".a.session.part"}
    assert found == {False, True}


RACES = 20
# Five ties: a second draw would have the same labels once in 32 times.
TIES = np.full((5, 2), 50)


def _race(path, barrier, results):
    with Session.open(path) as session:
        for number in range(RACES):
            barrier.wait()
            results.put((number, session.release(TIES, key=f"b{number}").tolist()))


def test_two_processes_never_draw_twice_for_one_charge(tmp_path):
    """Both ask for the same batch at the same moment, twenty times."""
    labels = RACES * len(TIES)
    create(tmp_path, teachers=100, labels=labels, mechanisms=["gnmax_analytic"]).close()
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(2), context.Queue()
    arguments = (tmp_path / "a.session", barrier, results)
    racers = [context.Process(target=_race, args=arguments) for _ in range(2)]
    for racer in racers:
        racer.start()
    answers = [results.get(timeout=600) for _ in range(2 * RACES)]
    for racer in racers:
        racer.join()
    assert all(racer.exitcode == 0 for racer in racers)
    by_batch = {}
    for number, batch in answers:
        by_batch.setdefault(number, set()).add(tuple(batch))
    assert all(len(batch) == 1 for batch in by_batch.values())
    assert len(set.union(*by_batch.values())) > 5  # they are drawn, and differ
    assert seen_and_charged(tmp_path / "a.session") == (labels, labels)


def test_a_larger_cap_costs_what_its_account_says_and_keeps_the_noise(tmp_path):
    with create(tmp_path) as session:
        session.release(COUNTS)
        noise = session.plan.parameters.sigma
        cost = session.cost_of(8)
        assert 3.0 < cost.epsilon < 6.0
        with pytest.raises(ValueError, match=r"epsilon = 3\.01: must be at least"):
            session.extend(8, epsilon=3.01)
        with pytest.raises(ValueError, match="must be at least"):
            session.extend(8, epsilon=math.nextafter(cost.epsilon, 0))
        assert session.remaining == 0
        session.extend(8, epsilon=cost.epsilon)
        assert session.plan.parameters.sigma == noise
        assert session.total == cost
        session.release(COUNTS, key="x" * 200)  # no name may be longer
        assert session.remaining == 0
        session.verify()
        with pytest.raises(ValueError, match="labels = 7: must be an integer >= 8"):
            session.extend(7, epsilon=9.0)


def test_the_same_file_by_another_name_is_the_same_session(tmp_path, monkeypatch):
    """A link, another folder to stand in: one lock, one cap."""
    create(tmp_path).close()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(tmp_path / "a.session")
    monkeypatch.chdir(tmp_path)
    with Session.open("a.session") as session, Session.open("elsewhere/link") as other:
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert sessions.lock_of(session.path) == sessions.lock_of(other.path)
        session.release(COUNTS[:3])
        with pytest.raises(ValueError, match="2 queries: must be at most 1"):
            other.release(COUNTS[:2])
        other.release(COUNTS[:1])
        assert session.remaining == 0
        session.verify()


@pytest.mark.parametrize(("queries", "labels"), [(5, 0), (4, 3)])
def test_more_queries_or_labels_than_the_plan_allows_are_noticed(tmp_path, queries, labels):
    caps = {"mechanisms": ["confident_gnmax"], "labels": 2, "queries": 4}
    with create(tmp_path, **caps) as session:
        session._file.charge(None, queries, labels, before=session.state, cost=Bounds(0.0, 3.0))
        with pytest.raises(ValueError, match="holds more labels than its plan allows"):
            session.verify()


def test_who_only_looks_cannot_release_or_extend(tmp_path):
    create(tmp_path).close()
    with Session.open(tmp_path / "a.session", write=False) as session:
        for change in (lambda: session.release(COUNTS), lambda: session.extend(9, epsilon=9)):
            with pytest.raises(ValueError, match="opened for reading only"):
                change()
        assert session.remaining == 4


def test_after_a_threshold_as_many_labels_are_charged_as_there_might_have_been(tmp_path):
    """How many there are is an outcome, on which a claim may not depend."""
    with create(
        tmp_path, **THRESHOLD, mechanisms=["confident_gnmax"], noise="reproducible"
    ) as session:
        plan = session.plan
        session.release(np.tile([[17, 17, 16]], (5, 1)))
        assert session.spent.epsilon == plan.epsilon(5, 3)
        assert plan.epsilon(2, 0) == plan.epsilon(2, 2) < plan.epsilon(5, 0)


def test_an_extension_by_another_process_is_seen(tmp_path):
    with create(tmp_path) as session, Session.open(session.path) as other:
        cost = other.cost_of(6)
        other.extend(6, epsilon=9.0)
        assert session.total == cost
        assert session.remaining == 6


def test_an_extension_by_another_process_is_used(tmp_path):
    with create(tmp_path) as session, Session.open(session.path) as other:
        other.extend(6, epsilon=9.0)
        session.release(COUNTS)
        session.release(COUNTS[:2])
        assert session.remaining == 0


def test_sizes_out_of_range_are_refused_and_nothing_is_left(tmp_path):
    for changes, message in (
        ({"teachers": 1}, "teachers = 1"),
        ({"labels": 0}, "labels = 0"),
        ({"epsilon": 0}, "epsilon = 0"),
        ({"noise": "reproducible", "seed": -1}, "seed = -1"),
        ({"mechanisms": ["committee"]}, "mechanism = 'committee'"),
        ({"profile": {"hope": 1}}, "profile: hope"),
        ({"queries": 3}, "labels = 4: must be at most queries = 3"),
    ):
        with pytest.raises(ValueError, match=message):
            create(tmp_path, **changes)
    assert not list(tmp_path.iterdir())


def test_neighbouring_votes_leave_the_same_file_if_the_labels_are_the_same(tmp_path, monkeypatch):
    """All that a session writes is a function of the plan and of labels."""
    clock = SimpleNamespace(time=lambda: 1_000_000_000.5)
    monkeypatch.setattr(ledger_file, "time", clock)
    files = []
    for name, counts in (("one", COUNTS), ("other", COUNTS[:, ::-1])):
        folder = tmp_path / name
        folder.mkdir()
        with create(folder) as session, monkeypatch.context() as patched:
            patched.setattr(
                secure, "draw_bernoulli", lambda chances: np.zeros(len(chances), dtype=bool)
            )
            monkeypatch.setattr(
                Session, "_draw", lambda self, counts, *_: np.zeros(len(counts), dtype=int)
            )
            session.release(counts, key="a")
        files.append((folder / "a.session").read_bytes())
    assert files[0] == files[1]


def test_a_session_states_its_shards_or_is_not_made(tmp_path):
    with pytest.raises(ValueError, match="shards: must be stated"):
        create(tmp_path, shards=None)
    assert list(tmp_path.iterdir()) == []
    with create(tmp_path, unit="patient") as session:
        assert session.plan.task.protection == Protection.disjoint("patient")
    with Session.open(tmp_path / "a.session", write=False) as session:
        assert session.plan.task.protection.unit == "patient"
        assert session_plan.facts(session.plan)["unit"] == "patient"


def test_a_session_of_too_little_use_is_not_made_unless_it_is_allowed(tmp_path):
    sizes = {"labels": 200, "epsilon": 0.5, "teachers": 40, "mechanisms": ["gnmax_analytic"]}
    with pytest.raises(ValueError, match=r"^usefulness = .* allow it with anyway=True$"):
        create(tmp_path, **sizes, anyway=False)
    assert list(tmp_path.iterdir()) == []
    with create(tmp_path, **sizes) as session:
        assert not session_plan.expect_session_labels(session.plan).useful
    with (
        pytest.warns(UserWarning, match="usefulness") as told,
        Session.create(
            tmp_path / "b.session", **flat.things(**SMALL | sizes, noise="reproducible")
        ) as session,
    ):
        assert session.plan.task.protection == Protection.disjoint()
    assert {warning.filename for warning in told} == {__file__}


def test_absent_ballots_give_the_same_labels_however_queries_are_cut(tmp_path):
    """The rule by which they are dealt out does not depend on the place of a query."""
    ballots, dealt = np.array([[3, 0], [0, 0], [1, 3]]), np.array([[4, 1], [3, 2], [2, 3]])
    drawn = set()
    for session, parts in copies(tmp_path, noise="reproducible", seed=7, absent=True):
        labels = np.concatenate([session.release(ballots[part]) for part in parts])
        drawn.add(labels.tobytes())
    with Session.open(shutil.copy(tmp_path / "a.session", tmp_path / "dealt.session")) as session:
        drawn.add(session.release(dealt).tobytes())
    assert len(drawn) == 1


def test_absent_ballots_cost_a_session_nothing_more_and_are_stated(tmp_path):
    with create(tmp_path, noise="reproducible", absent=True) as session:
        plan = session.plan
        with pytest.raises(ValueError, match="every row must add up to at most 5 votes"):
            session.release([[4, 2]])
        with pytest.raises(ValueError, match="must be numbers of votes"):
            session.release([[4, -2]])
        assert session.state.queries == 0
    (tmp_path / "other").mkdir()
    with create(tmp_path / "other", noise="reproducible") as session:
        assert session.plan.parameters == plan.parameters
        with pytest.raises(ValueError, match="rows add up to 4 to 4: must add up to the 5"):
            session.release([[4, 0]])
        assert "absent" not in session_plan.facts(session.plan)
        assert '"absent"' not in session.plan.to_json()
    assert session_plan.facts(plan)["absent"] is True


@pytest.mark.parametrize(
    ("teachers", "classes", "epsilon"),
    [(10, 4, 4.0), pytest.param(5, 3, 10.0, marks=pytest.mark.slow)],
)
def test_the_first_label_of_little_noise_is_told_with_its_cost(
    tmp_path, teachers, classes, epsilon
):
    budget = {"epsilon": epsilon, "delta": 1e-5}
    stated = {"shards": "disjoint", "anyway": True, "mechanisms": ["gnmax_exact"]}
    sizes = {"teachers": teachers, "classes": classes, "labels": 20}
    counts = np.eye(classes, dtype=int)[:1] * teachers
    with flat.create(tmp_path / "a.session", **sizes, **budget, **stated) as session:
        session.release(counts, key="first")
        assert 0 < session.spent.epsilon < epsilon


def test_a_larger_cap_has_queries_in_proportion_unless_they_are_said(tmp_path):
    """Three labels of forty queries, of which each may fail its threshold."""
    with create(tmp_path, **THRESHOLD, mechanisms=["confident_gnmax"]) as session:
        plan = session.plan
    delta, costs = plan.task.budget.delta, []
    for labels, queries, expected in (
        (3, None, 40),
        (3, 41, 41),
        (4, None, 54),  # 53 1/3
        (4, 40, 40),
        (6, None, 80),
    ):
        larger = session_plan.enlarge_cap(plan, labels, queries)
        assert (larger.task.wanted.labels, larger.task.wanted.queries) == (labels, expected)
        cost = larger.task.budget.epsilon
        assert cost == larger.epsilon(expected, labels, delta) == plan.epsilon(expected, labels)
        costs.append(cost)
    same, one_more_query, more_labels, as_many_queries, twice = costs
    assert same <= plan.task.budget.epsilon
    assert same < one_more_query < more_labels < twice
    assert same < as_many_queries < more_labels
    for labels, queries, least in ((3, 39, 40), (4, 39, 40), (50, 49, 50)):
        with pytest.raises(ValueError, match=f"queries = {queries}: must be an integer >= {least}"):
            session_plan.enlarge_cap(plan, labels, queries)
    with pytest.raises(ValueError, match="labels = 2: must be an integer >= 3"):
        session_plan.enlarge_cap(plan, 2, 100)


@pytest.mark.parametrize("key", ["a", "x" * 200, " ", "é", "1"])
def test_any_printable_name_of_up_to_200_characters_is_taken(key):
    sessions._check_key(key)
