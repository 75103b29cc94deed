"""Forged files of releases: each field of an honest file of every kind changed; none holds.

A refusal is one line, and the exit status is not 0.
"""

import copy
import dataclasses
import hashlib
import json
import math
from itertools import combinations

import pytest

from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import Task
from private_ensembles.release.release_plan import ReleasePlan
from tests.release import releases
from tests.release.releases import SMALL
from verify import verify

WRONG = (None, True, [], {}, "text", "0x1p-3", -1, 1.5, 10**700)
# These may be larger or smaller, or another word, and no claim of privacy is stronger for it. A
# larger budget than is stated, or more labels wanted than are paid for, are no lies. Nothing is
# claimed about how right labels are, or how teachers agree.
HARMLESS = {
    ("correct",),
    ("version",),
    ("task", "unit"),
    ("task", "counts_only"),
    ("task", "epsilon"),
    ("task", "labels"),
    ("parameters", "threshold"),
}


# Mechanisms of the same noise, whose labels cost the same by the same theorem.
SELECTIONS = {"exponential", "permute_and_flip"}  # in more than two classes
ALIKE = [{"gnmax", "gnmax_analytic"}, {"darrm_sub", "darrm_opt"}, SELECTIONS]


@pytest.fixture
def refused(tmp_path, capsys):
    """Write a file and the labels beside it; check that it is refused in one line."""

    def refused(record, labels, *why):
        status = verify.main([releases.put(tmp_path, record, labels)])
        said = capsys.readouterr().out
        assert status in (1, 2), (why, said)
        assert said.count("\n") == 1, (why, said)
        assert said.split()[0] == ("FAILS" if status == 1 else "unchecked"), (why, said)
        return said

    return refused


def paths(node, path=()):
    """The path of everything in objects of objects."""
    if isinstance(node, dict):
        for key in node:
            yield (*path, key)
            yield from paths(node[key], (*path, key))


def within(content, path):
    for key in path:
        content = content[key]
    return content


def changed(content, path, value):
    content = copy.deepcopy(content)
    within(content, path[:-1])[path[-1]] = value
    return content


def renamed(content, path, name):
    content = copy.deepcopy(content)
    node = within(content, path[:-1])
    node[name] = node.pop(path[-1])
    return content


def forge_terms(record, terms):
    return changed(record, ("release", "terms"), json.dumps(terms))


QUICK = ("gnmax_exact, few ones", "lnmax_pure", "ladder, one label", "committee")
KINDS = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SMALL]


def opened(name):
    """The record, its plan as JSON, and the labels of an honest file."""
    text, labels = releases.honest(name)
    record = json.loads(text)
    return record, json.loads(record["release"]["terms"]), labels


@pytest.fixture(params=KINDS)
def honest(request):
    return opened(request.param)


def is_harmless(terms, path):
    of_teachers = path[0] == "task" and path[-1] in ("teacher_epsilon", "teacher_Delta")
    if of_teachers and terms["name"] not in verify.PRIVATE:
        return True
    return path in HARMLESS or path[:2] == ("task", "profile")


def test_the_verifier_knows_each_field_of_a_plan():
    """A field that is added to a plan must be added to the verifier, and checked there."""
    plan = {field.name for field in dataclasses.fields(ReleasePlan)}
    assert set(verify.PLAN) == plan
    assert set(verify.PROFILE) == {field.name for field in dataclasses.fields(ConsensusProfile)}
    sizes = {"labels": 4, "queries": 4, "n_teachers": 5, "n_classes": 2}
    task = Task.from_dict({"epsilon": 1.0, "delta": 1e-5} | sizes | {"most_ones": 1})
    absent = Task.from_dict({"epsilon": 1.0, "delta": 1e-5} | sizes | {"absent": True})
    stated = set(task.to_dict()) | set(absent.to_dict())
    assert set(verify.TASK) | set(verify.SELDOM) == stated


@pytest.mark.parametrize("name", registry.offered_mechanisms())
def test_the_verifier_knows_each_mechanism_and_its_noise(name):
    load_mechanism(name)
    kind, _ = verify.MECHANISMS[name]
    from private_ensembles.labels.parameters import Parameters
    from private_ensembles.release.release_plan import _kinds

    fields = {field.name for field in dataclasses.fields(_kinds(Parameters)[kind])}
    known = set(verify.NOISE) | set(verify.KINDS[kind][0])
    assert known == fields | {"kind"}


def test_no_field_of_the_plan_may_be_missing_or_have_another_name(honest, refused):
    record, terms, labels = honest
    for path in paths(terms):
        refused(forge_terms(record, renamed(terms, path, f"{path[-1]}_")), labels, "renamed", path)
        gone = copy.deepcopy(terms)
        del within(gone, path[:-1])[path[-1]]
        if path != ("task", "most_ones"):  # without which more labels are charged: see below
            refused(forge_terms(record, gone), labels, "without", path)


def is_alike(new, old):
    """Whether both are numbers, or of one type, or one is missing."""
    numbers = (int, float)
    return (
        new is None or old is None or type(new) is type(old) or {type(new), type(old)} <= {*numbers}
    )


def test_no_field_of_the_plan_may_be_of_another_kind(honest, refused):
    record, terms, labels = honest
    for path in paths(terms):
        old = within(terms, path)
        for new in WRONG:
            if new == old or (is_harmless(terms, path) and is_alike(new, old)):
                continue
            if path[-1] == "own_scale" and new is None:  # that of label_epsilon, which is the same
                continue
            refused(forge_terms(record, changed(terms, path, new)), labels, path, new)


def test_no_number_of_the_plan_may_be_smaller_or_larger(honest, refused):
    record, terms, labels = honest
    known = terms["parameters"]
    for path in paths(terms):
        old = within(terms, path)
        if type(old) not in (int, float) or is_harmless(terms, path) or not old:
            continue
        for new in (old / 2, old * 2) if type(old) is float else (old - 1, old + 1):
            # Teachers that cost less than the proof says, and queries that are not answered.
            cheaper = path[-1].startswith("teacher_") and new < old
            if cheaper and known["kind"] in ("Members", "Answers"):
                continue
            if path == ("task", "queries") and new > old and "queries" not in known:
                continue
            refused(forge_terms(record, changed(terms, path, new)), labels, path, new)


def test_no_object_may_have_a_field_that_nobody_checks(honest, refused):
    record, terms, labels = honest
    objects = [(), *(path for path in paths(terms) if isinstance(within(terms, path), dict))]
    others = {name for fields, _ in verify.KINDS.values() for name in fields}
    for path in objects:
        known = set(within(terms, path))
        for name in sorted({"remark", "scale", "moved", "weights", "seed"} | others):
            if name not in known:
                refused(forge_terms(record, changed(terms, (*path, name), 9.0)), labels, path, name)
    for path in ((), ("release",), ("certificates", 0)):
        refused(changed(record, (*path, "remark"), "it is private"), labels, path)


def test_no_name_may_stand_twice_in_an_object(honest, refused):
    """Readers of JSON keep the last one, so that a text could show one plan and mean another."""
    record, terms, labels = honest
    for path in paths(terms):
        marked = json.dumps(renamed(terms, path, "MARK"))
        for first in ("null", "1"):
            twice = marked.replace('"MARK"', f'"{path[-1]}": {first}, "{path[-1]}"')
            refused(changed(record, ("release", "terms"), twice), labels, path)
    for path in paths(record | {"certificates": record["certificates"][0]}):
        path = (path[0], 0, *path[1:]) if path[0] == "certificates" and path[1:] else path
        twice = json.dumps(renamed(record, path, "MARK"))
        twice = twice.replace('"MARK"', f'"{path[-1]}": null, "{path[-1]}"')
        refused(twice, labels, path)


def test_no_two_numbers_of_the_plan_may_be_exchanged(honest, refused):
    record, terms, labels = honest
    for part in ("task", "parameters"):
        known = {name: x for name, x in terms[part].items() if type(x) in (int, float)}
        for (one, x), (other, y) in combinations(known.items(), 2):
            if x != y and not {one, other} & {"teacher_Delta", "threshold"}:
                forged = changed(changed(terms, (part, one), y), (part, other), x)
                refused(forge_terms(record, forged), labels, one, other)


def test_no_fact_may_be_another_one(honest, refused):
    record, terms, labels = honest
    release = record["release"]
    for name in release:
        gone = copy.deepcopy(record)
        del gone["release"][name]
        refused(gone, labels, "without", name)
        refused(renamed(record, ("release", name), f"{name}_"), labels, "renamed", name)
        for new in WRONG:
            refused(changed(record, ("release", name), new), labels, name, new)
    epsilon, delta = (float.fromhex(release[name]) for name in ("epsilon", "delta"))
    for name, old in (("epsilon", epsilon), ("delta", delta)):
        for new in (old * (1 - 1e-11), old * 0.999, old / 2, 0.0, -old):
            refused(changed(record, ("release", name), write_hexadecimal(new)), labels, name, new)
    for new in ("2026-11-26T15:00:00Z", "2026-11-31T15:00:00+00:00", "9999-99-99T99:99:99+00:00"):
        refused(changed(record, ("release", "time"), new), labels, new)
    refused(
        changed(record, ("release", "epsilon"), write_hexadecimal(4.0)),
        labels,
        "more than the budget",
    )
    for name in (*registry.entries(), "trust me"):
        if name != release["mechanism"]:
            forged = changed(record, ("release", "mechanism"), name)
            refused(forged, labels, name)
            again = changed(terms, ("name",), name)
            both = {name, release["mechanism"]}
            if both not in ALIKE or (both == SELECTIONS and terms["task"]["n_classes"] == 2):
                refused(forge_terms(forged, again), labels, "both", name)


def test_the_plan_is_of_one_secure_release_of_the_ballots_that_it_says(honest, refused):
    record, terms, labels = honest
    refused(forge_terms(record, changed(terms, ("seed",), 1)), labels)
    refused(forge_terms(record, changed(terms, ("task", "secure"), False)), labels)
    refused(forge_terms(record, changed(terms, ("parameters", "continuous"), True)), labels)
    shared = terms["task"]["privacy_model"] == "shared_data"
    forged = changed(terms, ("task", "privacy_model"), ["shared_data", "disjoint_shards"][shared])
    if terms["name"] not in ("darrm_sub", "darrm_opt"):  # whose proof covers both
        refused(forge_terms(record, forged), labels)
    for reach in (0, 2, terms["task"]["n_teachers"] + 1):
        refused(forge_terms(record, changed(terms, ("task", "reach"), reach)), labels)


def test_a_certificate_of_another_mechanism_or_of_less_is_refused(honest, refused):
    record, _, labels = honest
    body = record["certificates"][0]
    for name in body:
        gone = copy.deepcopy(record)
        del gone["certificates"][0][name]
        refused(gone, labels, "without", name)
        refused(renamed(record, ("certificates", 0, name), f"{name}_"), labels, "renamed", name)
        for new in WRONG:
            free = name in ("width", "reach") or (new == [] and body[name] == [])
            if new != body[name] and not free:
                refused(changed(record, ("certificates", 0, name), new), labels, name, new)
    law = body.get("law") or {}
    for part, value in ((name, value) for name, value in law.items() if name != "rows"):
        for new in WRONG:
            if new != value:
                refused(changed(record, ("certificates", 0, "law", part), new), labels, part, new)
    for row in range(len(law.get("rows", []))):
        for new in (None, [], [0, "1/2", 0], ["0", "0x1.0p-3"], [True, "0x1.0p-3"], [0, 0.125]):
            refused(changed(record, ("certificates", 0, "law", "rows", row), new), labels, row)
    # Grids prove a little less than is stated, and some mechanisms leave something of delta.
    spare = record["release"]["mechanism"] in ("lnmax_pure", "majority_private", "darrm_opt")
    for name, by in (("epsilon", 0.99), ("delta", 0.5)):
        less = write_hexadecimal(float.fromhex(body[name]) * by)
        path = ("certificates", 0, name)
        pure = law.get("delta") == "0x0.0p+0"  # what costs no delta holds for any
        if not (spare or (pure and name == "delta")):
            refused(changed(record, path, less), labels, "less", name)
        more = write_hexadecimal(float.fromhex(body[name]) * 1.001)
        refused(changed(record, path, more), labels, "more than is stated", name)
    for number in ([], [body, body]):
        refused(changed(record, ("certificates",), number), labels)
    for other in (*QUICK, "gnmax", "confident_gnmax", "darrm_sub"):
        theirs = json.loads(releases.honest(other)[0])["certificates"][0]
        if theirs != body:
            refused(changed(record, ("certificates", 0), theirs), labels, other)


def forge_labels(record, content):
    content = content if isinstance(content, bytes) else content.encode()
    return changed(record, ("release", "labels_sha256"), hashlib.sha256(content).hexdigest())


LABELS = {
    "a thousand rows": releases.table(1000),
    "no file at all": b"",
    "bytes": bytes(range(256)),
    "zeros": bytes(1000),
    "no header": "0,0\n1,0\n",
    "other columns": "query,answer\n0,0\n",
    "a column more": "query,label,votes\n0,0,41\n",
    "columns in another order": "label,query\n0,0\n",
    "a class that there is none of": "query,label\n0,20\n",
    "a class more, from 0 and from 1": "query,label\n0,0\n1,3\n2,1\n3,2\n",
    "a label below 0": "query,label\n0,-1\n",
    "no label": "query,label\n0,\n",
    "a label that is a fraction": "query,label\n0,0.5\n",
    "half a row": "query,label\n0\n",
    "a query twice": "query,label\n0,0\n0,1\n",
    "names that change": "query,label,class_name\n0,0,no\n1,0,yes\n",
    "one name of two classes": "query,label,class_name\n0,0,no\n1,1,no\n2,0,no\n3,1,no\n",
    "a query of a batch twice": "batch,query,label\na,0,0\nb,0,0\na,00,0\n",
    "batches of more labels": "batch,query,label\n" + "".join(f"{k},0,0\n" for k in range(99)),
    "batches that nobody asked": "batch,label\na,0\n",
    "a byte order mark": "\ufeff" + releases.table(4),
    "semicolons": releases.table(4).replace(",", ";"),
    "a blank line": releases.table(4) + "\n",
    "digits of other scripts": "query,label\n0,\u0660\n1,0\n2,0\n3,0\n",
    "a cell of a million digits": f"query,label\n{'0' * 10**6},0\n",
    "a quote that is not closed": 'query,label\n0,"0\n',
}


@pytest.mark.parametrize("name", ["gnmax", "confident_gnmax"])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_are_not_the_plan_s_are_refused(refused, kind, name):
    record, forged = opened(name)[0], LABELS[kind]
    assert "labels.csv: " in refused(forge_labels(record, forged), forged, kind)
    refused(record, forged, "of another hash")


def test_as_many_labels_are_there_as_the_plan_has(honest, refused, tmp_path, capsys):
    record, terms, _ = honest
    number = terms["parameters"]["labels"]
    more = releases.table(number + 1)
    refused(forge_labels(record, more), more)
    fewer = releases.table(number - 1)
    if terms["parameters"]["kind"] == "CheckedNoise":  # the others did not pass the threshold
        assert verify.main([releases.put(tmp_path, forge_labels(record, fewer), fewer)]) == 0
    else:
        refused(forge_labels(record, fewer), fewer)
    # A session has asked for some of them so far.
    rows = "".join(f"{batch},0,0\n" for batch in range(max(1, number - 1)))
    batches = f"batch,query,label\n{rows}"
    assert verify.main([releases.put(tmp_path, forge_labels(record, batches), batches)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "labels",
    [
        'query,id,label,class_name\n0,"a, b",0,no\n7,c,2,"ja\nnein"\n2,d,0,no\n1,e,1,x\n',
        "query,label\n0,1\n1,3\n2,1\n3,2\n",
    ],
)
def test_labels_with_identifiers_and_names_or_from_1_hold(tmp_path, capsys, labels):
    record = forge_labels(opened("gnmax")[0], labels)
    assert verify.main([releases.put(tmp_path, record, labels)]) == 0
    assert "the file of 4 labels that was charged" in capsys.readouterr().out


def test_forgeries_that_held_before(refused):
    """As they were found: each of a plan that is none of the mechanism that it names."""

    def forge(name, *changes):
        text, labels = releases.honest(name)
        record = json.loads(text)
        terms = json.loads(record["release"]["terms"])
        for path, value in changes:
            terms = changed(terms, path, value)
        return forge_terms(record, terms), labels

    noise = ("parameters",)
    for name, *changes in (
        ("gnmax_exact, coins", ((*noise, "label_epsilon"), 0.01)),
        ("gnmax_exact, coins", ((*noise, "sigma"), None)),
        ("gnmax_exact, coins", ((*noise, "own_scale"), 3.0)),
        ("lnmax_pure", ((*noise, "own_scale"), None), ((*noise, "label_epsilon"), 1.0)),
        ("lnmax_pure", ((*noise, "own_scale"), 9.0)),
        ("exponential", ((*noise, "rate"), 5.0)),
        ("exponential", ((*noise, "leak"), 1e-5)),
        ("ladder", ((*noise, "label_epsilon"), 0.01)),
        ("ladder", ((*noise, "label_delta"), 1e-3)),
        ("confident_gnmax", ((*noise, "queries"), 0)),
        ("confident_gnmax", ((*noise, "queries"), 1)),
        ("confident_gnmax_exact", ((*noise, "sigma1"), None)),
        ("gnmax", (("name",), "unheard_of")),
        ("gnmax", (("seed",), 7)),
        ("gnmax", (("task", "privacy_model"), "shared_data")),
    ):
        refused(*forge(name, *changes), name, changes)
    record, labels = forge("confident_gnmax")
    terms = json.loads(record["release"]["terms"])
    del terms["parameters"]["queries"]
    refused(forge_terms(record, terms), labels)
    record, labels = forge("gnmax_exact, few ones")
    terms = json.loads(record["release"]["terms"])
    del terms["task"]["most_ones"]
    refused(forge_terms(record, terms), labels)


@pytest.mark.parametrize("terms", ["", "{", "[]", "3", "null", "[" * 10**5, '{"name": NaN}'])
def test_terms_that_are_no_plan_are_refused(refused, terms):
    record, labels = releases.honest("gnmax")
    refused(changed(json.loads(record), ("release", "terms"), terms), labels)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"epsilon": "', '"epsilon": NaN, "e": "', 1),
        lambda text: text.replace('"epsilon": "', '"epsilon": 2.0, "e": "', 1),
        lambda text: text.replace('"epsilon": "', '"epsilon": "1/0", "e": "', 1),
        lambda text: text.replace('"epsilon": "', '"epsilon": "0x1.0p+9999", "e": "', 1),
        lambda text: text + text,
        lambda text: text[:-5],
        lambda text: f"[{text}]",
        lambda text: text.replace('"', "'"),
        lambda text: '{"kind": "label", ' + text[1:],
        lambda text: '{"K": 5, ' + text[1:],
        lambda text: '{"release": {}, ' + text[1:],
        lambda text: '{"release": ' + "[" * 10**5,
        lambda text: text.encode("utf-16").decode("latin-1"),
    ],
)
def test_files_that_are_no_release_are_refused(refused, change):
    record, labels = releases.honest("gnmax")
    refused(change(record), labels)


def test_a_reason_for_no_certificate_cannot_pass_for_a_proof(refused, tmp_path, capsys):
    record, _, labels = opened("gnmax")
    for why in ("holds", "\nholds      certificate.json: all", "\x1b[2K\rholds", "x" * 10**5):
        none = {"kind": "none", "theorem": "none", "why": why}
        path = releases.put(tmp_path, changed(record, ("certificates",), [none]), labels)
        assert verify.main([path]) == 2
        said = capsys.readouterr().out
        assert said.startswith("unchecked  ")
        assert said.splitlines()[1].startswith(f"holds      {path}: labels.csv: ")
        assert said.count("\n") == 2
        assert "\x1b" not in said
        assert len(said) < 10**4
    proof = record["certificates"][0] | {"kind": "none", "theorem": "none", "why": "as above"}
    refused(changed(record, ("certificates",), [proof]), labels)


def test_a_ladder_does_not_leak_less_than_its_plan_says(refused, monkeypatch):
    """Its coins are compared to what is small against its leak: here 3e-13, of which 1e-15 is told.

    Without the leak each chance is e^epsilon times the next one, and (epsilon, 0)-DP is true of it.
    """
    record, terms, labels = opened("ladder, one label")
    K, loss, leak, claimed = 59, 1.0, 3e-13, (1.000000001, 1e-15)
    sizes = {"n_teachers": K, "n_classes": 2}
    terms["task"] |= sizes | {"epsilon": claimed[0], "delta": claimed[1]}
    terms["parameters"] |= sizes | {"label_epsilon": loss, "label_delta": leak}
    start = (1 - leak) / (1 + math.exp(loss))
    body = record["certificates"][0]
    body["law"]["rows"] = [
        [int(2 * ones < K), write_hexadecimal(start * math.exp(-loss * (abs(2 * ones - K) // 2)))]
        for ones in range(K + 1)
    ]
    for part in (record["release"], body):
        part |= {
            name: write_hexadecimal(x)
            for name, x in zip(("epsilon", "delta"), claimed, strict=True)
        }
    assert "a coin is not that of the plan's noise" in refused(forge_terms(record, terms), labels)
    monkeypatch.setattr(verify, "check_against_plan", lambda *_: None)
    with pytest.raises(AssertionError, match="holds"):  # of these coins the claim is true
        refused(forge_terms(record, terms), labels)
