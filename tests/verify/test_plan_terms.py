"""The terms of a release: the ends of its numbers, and plans that contradict themselves.

One honest plan, and what is changed of it: "a.b" is the field b of the object a.
"""

import copy
import json
from fractions import Fraction

import mpmath
import pytest
from mpmath import mp

from verify import verify

TASK = {"epsilon": 2.0, "delta": 1e-5, "queries": 9, "labels": 6, "n_teachers": 5}
TASK |= {"n_classes": 2, "secure": True, "unit": "record", "reach": 1}
TASK |= {"privacy_model": "disjoint_shards", "adjacency": "add_remove", "counts_only": False}
TASK |= {"teacher_epsilon": None, "teacher_Delta": 0.0, "profile": None}
SIZES = {"labels": 4, "continuous": False, "n_teachers": 5, "n_classes": 2}
NOISES = {
    "gnmax": {"kind": "GaussianNoise", "sigma": 3.0},
    "majority_private": {"kind": "Answers", "weaker": None},
    "committee": {"kind": "Members", "members": 3},
    "darrm_sub": {"kind": "NoisyMajority", "m": 3, "K": 5, "delta": 1e-5, "gamma": None}
    | {"teacher_epsilon": 0.25, "teacher_Delta": 0.0},
    "confident_gnmax": {"kind": "CheckedNoise", "threshold": 2.0, "sigma1": 9.0, "sigma2": 3.0}
    | {"queries": 9, "score": None},
}
PROFILE = {"n_classes": 2, "easy_share": 0.5, "easy": [1.0, 1.0], "hard": [1.0, 1.0]}
PROFILE |= {"confusion": 1.0, "imbalance": 1.0, "mislabelled": 0.0}
PROFILE |= {"commonest": None, "absent_share": 0.0}


def terms_of(name="gnmax", /, **changes):
    """The terms of a plan by this mechanism."""
    terms = {"name": name, "task": TASK, "parameters": SIZES | NOISES[name]}
    terms = copy.deepcopy(terms | {"correct": 0.0, "seed": None, "version": "0"})
    if name in verify.PRIVATE:
        terms["task"] |= {"teacher_epsilon": 0.25}
        terms["task"]["privacy_model"] = verify.PRIVATE[name][-1]
    for place, value in changes.items():
        *way, last = place.split(".")
        part = terms
        for key in way:
            part = part[key]
        part[last] = value
    return terms


def plan_of(name="gnmax", /, **changes):
    return verify.Plan(json.dumps(terms_of(name, **changes)))


def sizes(field, number):
    """A number of teachers or classes that is the same in the task and in its noise."""
    return {f"task.{field}": number, f"parameters.{field}": number}


ROUNDED = 4 * (1 + 0.9e-9)
# Changes that leave a plan, and changes that make it none, by mechanism.
PLANS = {
    ("gnmax", "labels"): (
        [{"task.labels": x} for x in (4, 9)] + [{"parameters.labels": x} for x in (1, 6)],
        [{"task.labels": x} for x in (0, 3, 10)] + [{"parameters.labels": x} for x in (0, 7)],
    ),
    ("gnmax", "queries"): ([{"task.queries": 6}], [{"task.queries": 5}]),
    ("gnmax", "teachers and classes"): (
        [sizes("n_teachers", 1), sizes("n_classes", 2), sizes("n_classes", 3)],
        [sizes("n_teachers", 0), sizes("n_classes", 1)]
        + [{f"{part}.n_teachers": x} for x in (4, 6) for part in ("task", "parameters")]
        + [{f"{part}.n_classes": x} for x in (1, 3) for part in ("task", "parameters")],
    ),
    ("gnmax", "right labels"): (
        [{"correct": x} for x in (0, 4.0, ROUNDED)],
        [{"correct": x} for x in (-1e-300, 4 * (1 + 1.1e-9))],
    ),
    ("gnmax", "unit"): (
        [{"task.unit": x} for x in ("x", 100 * "x")],
        [{"task.unit": x} for x in ("", 101 * "x", "a\nb", "\x1b[2K")],
    ),
    ("gnmax", "reach"): (
        [{"task.reach": x} for x in (1, 2, 5)],
        [{"task.reach": x} for x in (0, 6)],
    ),
    ("gnmax", "ones"): (
        [{"task.most_ones": 1}, {"task.absent": True}],
        [
            {"task.most_ones": 0},
            {"task.most_ones": 1, **sizes("n_classes", 3)},
            {"task.most_ones": 1, "task.absent": True},
        ],
    ),
    ("gnmax", "profile"): (
        [{"task.profile": PROFILE}, {"task.profile": PROFILE | {"commonest": 0.5}}],
        [{"task.profile": PROFILE | {"n_classes": x}} for x in (1, 3)]
        + [{"task.profile": PROFILE | {name: [1.0]}} for name in ("easy", "hard")]
        + [{"task.profile": PROFILE | {name: [1.0, 0]}} for name in ("easy", "hard")],
    ),
    ("gnmax", "model"): ([], [{"task.privacy_model": "shared_data"}]),
    ("majority_private", "model"): ([{}], [{"task.privacy_model": "shared_data"}]),
    ("committee", "model"): ([{}], [{"task.privacy_model": "disjoint_shards"}]),
    ("darrm_sub", "model"): (
        [{}, {"task.privacy_model": "disjoint_shards"}],
        [{"task.privacy_model": "shared_data", "task.reach": 2}],
    ),
    **{
        (name, "teachers"): ([], [{"task.teacher_epsilon": None}])
        for name in ("majority_private", "committee", "darrm_sub")
    },
    ("majority_private", "absent"): ([{"task.absent": True}], []),
    ("committee", "absent"): ([], [{"task.absent": True}]),
    ("darrm_sub", "absent"): ([], [{"task.absent": True}]),
    ("confident_gnmax", "thresholds"): ([{}], [{"parameters.queries": x} for x in (8, 10)]),
    ("gnmax", "kind"): (
        [{}],
        [{"parameters.kind": "PureScale"}, {"name": "gnmax_new"}, {"name": "lnmax_pure"}],
    ),
    ("gnmax", "what it is"): (
        [{"task.counts_only": True}],
        [
            {"task.secure": False},
            {"task.secure": 1},
            {"parameters.continuous": True},
            {"parameters.continuous": 0},
            {"seed": 0},
            {"task.counts_only": 0},
            {"task.absent": False},
            {"task.adjacency": "replace"},
        ],
    ),
    ("gnmax", "budget"): (
        [{"task.delta": x} for x in (0, 1)] + [{"task.epsilon": 5e-324}],
        [{"task.delta": x} for x in (-5e-324, 1.0000000000000002)]
        + [{"task.epsilon": x} for x in (0, -1.0, None)],
    ),
}


@pytest.mark.parametrize("case", PLANS, ids=" ".join)
def test_a_plan_is_taken_up_to_its_ends_and_refused_where_it_contradicts_itself(case):
    taken, others = PLANS[case]
    for changes in taken:
        plan_of(case[0], **changes)
    for changes in others:
        with pytest.raises(ValueError, match=r"\w"):
            plan_of(case[0], **changes)


@pytest.mark.parametrize(
    ("name", "most_ones", "charged"),
    [
        ("gnmax", None, (4, None)),
        ("gnmax", 1, (2, None)),
        ("gnmax", 2, (4, None)),
        ("gnmax", 3, (4, None)),
        ("confident_gnmax", None, (4, 9)),
        ("confident_gnmax", 1, (2, 2)),
        ("confident_gnmax", 4, (4, 8)),
        ("confident_gnmax", 5, (4, 9)),
        ("committee", 1, (4, None)),
    ],
)
def test_a_vote_that_changes_reaches_two_labels_for_each_one_that_a_teacher_may_say(
    name, most_ones, charged
):
    """Private teachers' own costs do not depend on it."""
    changes = {} if most_ones is None else {"task.most_ones": most_ones}
    assert plan_of(name, **changes).charged_counts == charged


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_a_teacher_of_replaced_records_costs_as_two_removals(adjacency):
    """2 epsilon, and (1 + e^epsilon) Delta by group privacy, rounded up."""
    changes = {"task.adjacency": adjacency, "task.teacher_Delta": 1 / 1024}
    epsilon, Delta = plan_of("committee", **changes).teacher_cost()
    if adjacency == "add_remove":
        assert (epsilon, Delta) == (Fraction(1, 4), Fraction(1, 1024))
        return
    assert epsilon == Fraction(1, 2)
    with mp.workdps(80):
        exact = (1 + mpmath.exp(mpmath.mpf("0.25"))) / 1024
        found = mpmath.mpf(Delta.numerator) / Delta.denominator
        assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -60)


HAIR = Fraction(1, 10**100)


def as_text(fraction):
    return f"{fraction.numerator}/{fraction.denominator}"


@pytest.mark.parametrize(
    ("body", "epsilon"),
    [
        ({"kind": "label"}, Fraction(1, 2)),
        ({"kind": "total"}, Fraction(1, 2)),
        ({"kind": "gamma_privacy", "m": "7/2"}, Fraction(7, 4)),
    ],
)
def test_a_release_states_no_less_than_its_certificate_proves(monkeypatch, body, epsilon):
    """Of gamma that is m epsilon."""
    monkeypatch.setattr(verify, "check_against_plan", lambda *_: None)
    monkeypatch.setattr(verify, "check", lambda _: "proven")
    body, delta = body | {"epsilon": "1/2", "delta": "1/1000"}, Fraction(1, 1000)
    for claim in ((epsilon, delta), (epsilon + HAIR, delta), (epsilon, delta + HAIR)):
        assert verify.check_claim("a label", body, None, claim) == ("holds", "a label: proven")
    for claim in ((epsilon - HAIR, delta), (epsilon, delta - HAIR)):
        with pytest.raises(ValueError, match="states less epsilon or less delta than is proven"):
            verify.check_claim("a label", body, None, claim)


@pytest.mark.parametrize("missing", ["kind", "epsilon", "delta", "m"])
def test_a_certificate_without_a_field_of_its_kind_is_none_of_the_plan_s(monkeypatch, missing):
    monkeypatch.setattr(verify, "check_against_plan", lambda *_: None)
    monkeypatch.setattr(verify, "check", lambda _: "proven")
    body = {"kind": "gamma_privacy", "m": 1, "epsilon": 1, "delta": 1}
    del body[missing]
    with pytest.raises(ValueError, match="has not the fields of its kind"):
        verify.check_claim("a label", body, None, (Fraction(9), Fraction(1)))


def test_where_there_is_no_certificate_nothing_is_compared():
    why = {"kind": "none", "theorem": "none", "why": "it is a rehearsal"}
    found = verify.check_claim("a label", why, None, (Fraction(0), Fraction(0)))
    assert found == ("unchecked", "a label: it is a rehearsal")


def release_of(**facts):
    """The file of a release of the honest plan."""
    facts = {
        "time": "2026-11-26T15:00:00+00:00",
        "terms": json.dumps(terms_of()),
        "labels_sha256": 64 * "0",
        "mechanism": "gnmax",
        "epsilon": 2,
        "delta": as_text(Fraction(1e-5)),
    } | facts
    return {"release": facts, "certificates": [{"kind": "label"}]}


def test_a_release_states_at_most_its_plan_s_epsilon_and_its_very_delta(monkeypatch):
    monkeypatch.setattr(verify, "check_labels_file", lambda *_: ("holds", "labels"))
    monkeypatch.setattr(verify, "check_claim", lambda *_: ("holds", "claim"))
    two, delta = Fraction(2), Fraction(1e-5)
    for epsilon in (Fraction(0), HAIR, two):
        found = verify.check_release_file(release_of(epsilon=as_text(epsilon)), "")
        assert list(found) == [("holds", "claim"), ("holds", "labels")]
    others = [{"epsilon": as_text(x)} for x in (-HAIR, two + HAIR)]
    others += [{"delta": as_text(delta + x)} for x in (HAIR, -HAIR)]
    for facts in [*others, {"mechanism": "gnmax_analytic"}]:
        with pytest.raises(ValueError, match="the terms"):
            list(verify.check_release_file(release_of(**facts), ""))


@pytest.mark.parametrize(
    ("word", "kind", "lines"),
    [("holds", "label", 2), ("unchecked", "label", 1), ("unchecked", "none", 2)],
)
def test_labels_are_spoken_of_once_their_certificate_is_checked(monkeypatch, word, kind, lines):
    monkeypatch.setattr(verify, "check_labels_file", lambda *_: ("holds", "labels"))
    monkeypatch.setattr(verify, "check_claim", lambda *_: (word, "claim"))
    record = release_of() | {"certificates": [{"kind": kind}]}
    assert len(list(verify.check_release_file(record, ""))) == lines
