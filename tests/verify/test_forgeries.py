"""Forged certificates: none is accepted, none keeps the verifier busy, none makes it crash.

One real certificate of every kind, with every field removed, written twice, of a wrong type and
too large; every number of a file of gamma moved by as little as its rounding allows; and attacks
by hand.
"""

import copy
import json
import math
import os
import subprocess
import sys
from decimal import Decimal

import pytest

from private_ensembles.accounting.certificate_format import write_hexadecimal
from private_ensembles.base import files
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.darrm.mathematics.certificate_file import make_gamma_record
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from verify import verify

from .mutations import build_certificate

KINDS = (
    "gamma file",
    "gamma_privacy",
    "gamma_utility",
    "coins",
    "response",
    "discrete_counts",
    "two counts",
    "adaptive_labels",
    "near coins",
    "gaussian_maximum",
)
WRONG = (None, True, [], {}, "text", "0.5", 0.5, -1, "-1/2", "1e9999999999", "\u0663/\u0664")
HUGE = (10**700, "1" + 700 * "0" + "/1", f"1/{10**700}")


@pytest.fixture(scope="module")
def solution():
    return optimize_gamma(5, 2, 0.5, 1e-4, solver="highs")


@pytest.fixture(scope="module")
def real(solution):
    """What a file holds, by kind: as the package writes it."""
    gamma = json.loads(json.dumps(make_gamma_record(solution)))
    response = {
        "name": "response",
        "epsilon": write_hexadecimal(1.0),
        "delta": write_hexadecimal(2e-4),
    }
    grid = {"labels": 7, "step": write_hexadecimal(1.0), "reach": 1}
    whole = {"counts": [{"times": 7, "scale": "40/1"}], "epsilon": "1/2", "delta": "1/1000"}
    two = {"counts": [{"times": 7, "scale": "20/1"}, {"times": 2, "scale": "9/1"}]}
    two |= {"epsilon": "1/1", "delta": "1/1000"}
    beside = {"counts": [{"times": 2, "scale": "9/1", "reach": 9}], "step": "1/8", "width": 3}
    adaptive = build_certificate(
        "total",
        "adaptive_labels",
        **beside,
        law=law(),
        groups=[[0, 1, 1], [0, 1, 1]],
        blocks=[{"times": 1, "labels": 2}],
        places=[0, 1, 2, 6, 8],
        epsilon="2/1",
        delta="1/8",
    )
    largest = {"name": "gaussian_maximum", "scale": "4/1", "teachers": 3, "classes": 3}
    largest |= {"leads": "cells", "cells": 2, "panels": 1, "lattice": "fine"}
    maximum = verify.Maximum(largest)
    nodes = [[0] * maximum.middles for _ in range(2 * maximum.leads + 1)]
    found = {
        "gamma file": gamma | {"provenance": files.provenance("numpy")},
        "gamma_privacy": gamma["certificates"][0],
        "gamma_utility": gamma["certificates"][1],
        "coins": forge_law(law()),
        "response": build_certificate(
            "total", "loss_distribution", law=response, **grid, epsilon="7/1", delta="1/500"
        ),
        "discrete_counts": build_certificate("total", "discrete_counts", **whole),
        "two counts": build_certificate("total", "discrete_counts", **two),
        "adaptive_labels": adaptive,
        "near coins": adaptive | {"law": law(apart="1/10000")},
        "gaussian_maximum": adaptive | {"law": largest, "groups": nodes},
    }
    assert tuple(found) == KINDS
    return found


@pytest.fixture
def status(tmp_path, capsys):
    """The exit status for a file of this content, and what was printed."""

    def status(content, limit=20):
        path = tmp_path / "forged.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
        code = verify.main(["--limit", limit, path])
        return code, capsys.readouterr().out

    return status


# What a certificate has of its own, if the rest of it is that of another one.
OWN = {"two counts": ("counts",), "near coins": ("law",), "gaussian_maximum": ("law", "groups")}


def own_places(kind, content):
    """The path of everything that no other certificate has in the same place."""
    return [path for path in places(content) if path[0] in OWN.get(kind, path)]


def places(node, path=()):
    """The path of everything in an object; of a list the first two and the last."""
    if isinstance(node, dict):
        keys = list(node)
    elif isinstance(node, list):
        keys = sorted({*range(min(2, len(node))), *range(len(node))[-1:]})
    else:
        return
    for key in keys:
        yield (*path, key)
        yield from places(node[key], (*path, key))


def within(content, path):
    for key in path:
        content = content[key]
    return content


def changed(content, path, value):
    content = copy.deepcopy(content)
    within(content, path[:-1])[path[-1]] = value
    return content


def removed(content, path):
    content = copy.deepcopy(content)
    del within(content, path[:-1])[path[-1]]
    return content


def refused(status, content, *why):
    code, said = status(content)
    assert code in (1, 2), (why, said)
    words = [line.split()[0] for line in said.splitlines()]
    assert ("FAILS" in words) == (code == 1), (why, said)
    assert code == 1 or "unchecked" in words, (why, said)


@pytest.mark.parametrize("kind", KINDS)
def test_a_real_certificate_is_accepted(real, status, kind):
    assert status(real[kind])[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_work_that_was_charged_is_never_given_back(real, status, monkeypatch, kind):
    """What is still allowed only falls, until the next certificate begins."""
    charged, take = [], verify.Steps.take

    def see_charge(steps, number):
        charged.append(number)
        return take(steps, number)

    monkeypatch.setattr(verify.Steps, "take", see_charge)
    assert status(real[kind])[0] == 0
    assert min(charged) >= 0
    assert sum(charged) > 0


# Without these a file says less, and all that it says is proven.
OPTIONAL = {
    ("provenance",),
    ("provenance", "device"),
}


def may_be_left_out(path):
    return path in OPTIONAL or path[:-1] == ("provenance", "versions")


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_may_be_left_out(real, status, kind):
    for path in own_places(kind, real[kind]):
        # Fewer rows may prove as much, fewer noisy counts and coins cost less, and any thresholds
        # will do.
        lists = [("rows",), ("certificates", 1, "rows"), ("counts",), ("places",)]
        lists += [("law", "rows")] * (kind == "coins")
        shorter = path[:-1] in lists and kind != "discrete_counts"
        shorter = shorter or path == ("law", "apart")  # of which coins are as they are
        if not (may_be_left_out(path) or shorter):
            refused(status, removed(real[kind], path), "without", path)


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_may_stand_twice(real, status, kind):
    """JSON's reader would take the last one: a person may read the first."""
    objects = [
        (),
        *(path for path in places(real[kind]) if isinstance(within(real[kind], path), dict)),
    ]
    tried = 0
    for path in objects:
        for name in within(real[kind], path):
            text = json.dumps(changed({"all": real[kind]}, ("all", *path), {"@": None})["all"])
            pairs = [*within(real[kind], path).items(), (name, within(real[kind], path)[name])]
            doubled = ", ".join(f"{json.dumps(key)}: {json.dumps(x)}" for key, x in pairs)
            refused(status, text.replace('{"@": null}', f"{{{doubled}}}"), "twice", path, name)
            tried += 1
    assert tried > 1


@pytest.mark.parametrize("kind", KINDS)
def test_no_object_may_have_a_field_that_nobody_checks(real, status, kind):
    for path in ((), *places(real[kind])):
        node = within(real[kind], path)
        if isinstance(node, dict) and path[-1:] not in (("versions",), ("worst_assignment",)):
            for name in ("mechanism", "remark"):
                forged = changed(real[kind], (*path, name), "safe")
                refused(status, forged, "with", path, name)


def says_nothing(path, old, new):
    """The same again; or how gamma was found, a text or a number of the right type: no claim."""
    if type(new) is type(old) and new == old:
        return True
    if path[0] not in ("solver", "provenance"):
        return False
    return type(old) is type(new) or path[-1] in ("seconds", "revision") or "versions" in path


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_may_be_of_another_type(real, status, kind):
    for path in own_places(kind, real[kind]):
        old = within(real[kind], path)
        for new in WRONG:
            none = path == ("counts",) and new == []  # no noisy counts cost nothing
            if not says_nothing(path, old, new) and not none:
                refused(status, changed(real[kind], path, new), path, new)


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_may_be_longer_than_is_read(real, status, kind):
    for path in own_places(kind, real[kind]):
        if not isinstance(within(real[kind], path), dict | list) and path[0] != "provenance":
            for new in HUGE:
                if not says_nothing(path, within(real[kind], path), new):
                    refused(status, changed(real[kind], path, new), path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_numbers_that_are_read_end_in_time(real, status, kind):
    """Some make a claim weaker, which stays true. Little work is allowed: all must be counted."""
    for path in own_places(kind, real[kind]):
        if not isinstance(within(real[kind], path), dict | list):
            for new in (99999, 10**599, f"1/{10**599}", "0x1.fffffffffffffp+1023"):
                assert status(changed(real[kind], path, new), limit=1)[0] in (0, 1, 2)


def moved(x, share=1e-9):
    return [x * (1 - share), x * (1 + share)] if share else [math.nextafter(x, y) for y in (-9, 9)]


# Exactly what is proven; up to the rounding of the package's floats; and what is not a number.
EXACT = ("m", "epsilon", "Delta", "delta", "utility_upper_bound")
ROUNDED = ("utility",)
OTHERS = {
    ("K",): [3, 7],
    ("prior",): ["common:0.5,1", "uniform:0.6,1", "uniform:0.5,0.9", "uniform:0.5", ""],
    ("monotone",): [True],
    ("scaling_loss",): [0.5, 1e-3],
    ("certificate", "holds"): [False, 1],
    ("certificate", "method"): ["three_corners", "four_corners", "trust"],
    ("certificate", "rounding_error"): [0.0, 1.0],
    ("certificate", "worst_assignment"): [{}, {"0,0": 5}, {"1,1": 5}, {"H,h": 6}, {"0,1": 5}],
    ("certificates",): [[]],
}


def test_no_number_of_the_file_may_differ_from_what_is_proven(real, status):
    file = real["gamma file"]
    assert file["monotone"] is False
    tried = [(name, x) for name in EXACT for x in moved(file[name], 0)]
    tried += [(name, x) for name in ROUNDED for x in moved(file[name])]
    for name, x in tried:
        refused(status, file | {name: x}, name, x)
    for place, x in enumerate(file["gamma"]):
        for new in moved(x, 0):
            refused(status, changed(file, ("gamma", place), new), place)
    certificate = file["certificate"]
    for name in ("worst_cost", "allowance", "slack", "attained_cost"):
        for new in moved(certificate[name]):
            refused(status, changed(file, ("certificate", name), new), name, new)
    for path, values in OTHERS.items():
        for new in values:
            refused(status, changed(file, path, new), path, new)


def test_the_rounding_of_a_gamma_that_was_not_scaled_is_the_least_that_is_accepted(real, status):
    file, place = real["gamma file"], ("certificate", "rounding_error")
    setting = (file[name] for name in ("K", "m", "epsilon", "Delta", "delta"))
    least = PrivacyProblem(*setting).rounding_bound()
    assert within(file, place) == 2 * least  # the gamma of this file was
    assert status(changed(file, place, least))[0] == 0
    refused(status, changed(file, place, least * (1 - 1e-5)))


def test_a_worst_cost_below_what_gamma_costs_is_refused_though_the_label_is_private(real, status):
    """Its slack moves along, so that only gamma can tell."""
    file = copy.deepcopy(real["gamma file"])
    body = file["certificate"]
    body["worst_cost"] *= 0.999
    body["slack"] = body["allowance"] - body["worst_cost"]
    body["attained_cost"] = body["worst_cost"]
    code, said = status(file)
    assert (code, "above worst_cost" in said) == (1, True)


def test_a_file_of_gamma_needs_a_certificate_of_privacy(real, status):
    """The attack: gamma = 1, and its certificate left out."""
    file = copy.deepcopy(real["gamma file"])
    file["gamma"], file["certificates"] = [1.0] * 6, file["certificates"][1:]
    code, said = status(file)
    assert (code, "certificate of its privacy" in said) == (1, True)
    for bodies in (real["gamma file"]["certificates"] * 2, [real["coins"]]):
        refused(status, real["gamma file"] | {"certificates": bodies})


def test_a_certificate_of_another_gamma_or_prior_is_not_the_file_s(real, status):
    for other in (
        optimize_gamma(5, 3, 0.5, 1e-4, solver="highs"),
        optimize_gamma(5, 2, 0.5, 1e-4, prior="common:0.5,1", solver="highs"),
    ):
        for number in (0, 1):
            file = copy.deepcopy(real["gamma file"])
            body = make_gamma_record(other)["certificates"][number]
            if body != file["certificates"][number]:
                file["certificates"][number] = body
                refused(status, file)


def test_a_utility_that_nobody_can_recompute_is_said_to_be_unchecked(status):
    solution = optimize_gamma(3, 1, 0.1, prior="absolute-uniform:0,1", solver="highs")
    code, said = status(make_gamma_record(solution))
    assert code == 2
    assert [line.split()[0] for line in said.splitlines()] == ["holds", "unchecked"]
    assert "utility_upper_bound" in said


def law(**changes):
    rows = [[1, "1/4"], [1, "1/3"], [0, "1/3"], [0, "1/4"]]
    return {"name": "coins", "rows": rows} | changes


def forge_law(law, epsilon="2/1", delta=0):
    return build_certificate("label", "hockey_stick", law=law, epsilon=epsilon, delta=delta)


def many(**changes):
    grid = {"labels": 3, "step": "1/100", "reach": 99}
    body = build_certificate(
        "total", "loss_distribution", law=law(), epsilon=3, delta="1/10", **grid
    )
    return body | changes


BY_HAND = {
    "delta above 1": forge_law(law(), delta="3/2"),
    "delta below 0": forge_law(law(), delta="-1/2"),
    "epsilon below 0": forge_law(law(), epsilon="-1/1", delta=1),
    "a response with delta above 1": forge_law({"name": "response", "epsilon": 1, "delta": 2}),
    "no teachers": forge_law(law(rows=[[1, "1/2"]])),
    "no coins": forge_law(law(rows=[])),
    "more than half for the less likely": forge_law(law(rows=[[1, "2/3"], [0, "1/3"]])),
    "a probability below 0": forge_law(law(rows=[[1, "-1/3"], [0, "-1/3"]])),
    "a third label": forge_law(law(rows=[[2, "1/3"], [2, "1/3"]])),
    "a coin of three parts": forge_law(law(rows=[[1, "1/3", 0], [0, "1/3", 0]])),
    "another proof": forge_law(law()) | {"proof": "docs/certificates.md#weak_duality"},
    "no proof": {key: x for key, x in forge_law(law()).items() if key != "proof"},
    "an exponent out of range": forge_law(law(), epsilon=10**5),
    "a law of no name": forge_law({"rows": law()["rows"]}),
    "a law that is a text": forge_law("coins"),
    "an unknown law": forge_law(law(name="cauchy")),
    "no labels": many(labels=0),
    "a step of 0": many(step=0),
    "no reach": many(reach=0),
    "a theorem in a list": {"kind": ["label"], "theorem": {"a": 1}, "proof": None},
    "a release that is said to hold": {"kind": "none", "theorem": "none", "why": "it holds"},
    "a list of certificates": {"certificates": [forge_law(law())]},
    "a list of nothing": {"certificates": [None]},
}


def gamma_of(K, gamma, **changes):
    numbers = {"m": 1, "epsilon": "1/10", "Delta": "1/100000", "delta": "1/100000"} | changes
    return build_certificate("gamma_privacy", "darrm_lemma_3.4", K=K, gamma=gamma, **numbers)


BY_HAND |= {
    "gamma = 1": gamma_of(5, [1] * 6),
    "gamma above 1": gamma_of(1, [2, 2]),
    "an even number of teachers": gamma_of(2, [0, 0, 0]),
    "m below 1": gamma_of(1, [0, 0], m="1/2"),
    "Delta of 1/2": gamma_of(1, [0, 0], Delta="1/2", delta="1/2"),
    "a large epsilon": gamma_of(1, [0, 0], epsilon=10**599),
}
TOO_MUCH = {
    "a large reach": many(reach=99999),
    "many labels": many(labels=99999),
    "all at once": many(labels=99999, reach=99999),
    "many coins": forge_law(law(rows=[[1, "1/3"]] * 30_000)),
    "gamma of 99,999 teachers": gamma_of(99999, [0] * 100000),
    "gamma of 1,001 teachers": gamma_of(1001, ["1/1000"] * 1002),
    "gamma that moves are tried for": gamma_of(
        151, ["1/2"] * 152, m=100, Delta="49/100", delta="49/100"
    ),
}
BY_TEXT = {
    "nothing": "",
    "half an object": "{",
    "no object": "[]",
    "an empty object": "{}",
    "a number": "3",
    "no JSON": "holds",
    "NaN": '{"certificates": [{"kind": "label", "epsilon": NaN}]}',
    "infinity": '{"K": 1, "m": Infinity}',
    "a number that grows": '{"K": 3, "epsilon": 1e9999999999, "certificates": []}',
    "a number that vanishes": '{"K": 3, "epsilon": 1e-9999999999, "certificates": []}',
    "a million digits": '{"K": ' + "9" * 10**6 + "}",
    "a million digits behind the point": '{"K": 0.' + "1" * 10**6 + "}",
    "a deep list": "[" * 10**5,
    "a deep object": '{"certificates":' * 10**5,
    "more than is read": " " * (verify.LARGEST_FILE + 1),
    "a list of lists": '{"certificates": [' + "[]," * 10**6 + "[]]}",
    "another encoding": json.dumps(forge_law(law())).encode("utf-16"),
    "zeros": bytes(1000),
    "half a letter": b'{"kind": "\xc3"}',
    "a lone surrogate": '{"kind": "label", "theorem": "\\ud800"}',
}


@pytest.mark.parametrize("name", [*BY_HAND, *BY_TEXT])
def test_no_certificate_forged_by_hand_is_accepted(status, name):
    refused(status, BY_TEXT[name] if name in BY_TEXT else BY_HAND[name])


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_takes_too_much_work_is_given_up(status, name):
    code, said = status(TOO_MUCH[name], limit=1)
    assert (code, "1 million are allowed (--limit)" in said) == (2, True)


def long(**changes):
    """True, and of several hundred thousand steps."""
    near = [[1, "499/1000"], [0, "499/1000"]]
    return many(law=law(rows=near), labels=2**5, step="1/1000") | changes


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{", 2),
        ("", 2),
        ("{}", 2),
        ("[]", 1),
        ("3", 1),
        ({"certificates": []}, 2),
        ({"kind": "label", "theorem": "trust me"}, 2),
        ({"kind": "none", "theorem": "none", "why": "nobody knows"}, 2),
        (BY_HAND["an unknown law"], 2),
        (BY_HAND["an exponent out of range"], 2),
        (gamma_of(1, [1, 1], Delta=0, delta=0), 2),
        (gamma_of(3, [1, 1, 1, 1], Delta=0, delta="1/1000000"), 1),
        (BY_HAND["a law that is a text"], 1),
        (forge_law(law(), epsilon="1/2"), 1),
        (forge_law(law(), epsilon="2/1"), 0),
    ],
)
def test_false_is_1_and_what_cannot_be_told_is_2(status, content, code):
    assert status(content)[0] == code


def run(*words, **options):
    command = [sys.executable, "-I", verify.__file__, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_no_argument_no_file_and_no_json_end_with_2_and_no_traceback(tmp_path):
    (tmp_path / "half.json").write_text("{")
    for words in ([], [tmp_path / "none.json"], [tmp_path], [tmp_path / "half.json"], ["--limit"]):
        done = run(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert "usage" in run().stderr


def test_what_could_not_be_read_does_not_hide_what_is_false(tmp_path):
    (tmp_path / "false.json").write_text(json.dumps(forge_law(law(), epsilon="1/2")))
    done = run(tmp_path / "none.json", tmp_path / "false.json")
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["unchecked", "FAILS"]


def test_more_work_may_be_allowed(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(long()))
    done = run("--limit", 1, path)
    assert (done.returncode, done.stderr) == (0, "")
    path.write_text(json.dumps(long(labels=1, reach=3000)))
    done = run("--limit", 1, path)
    assert done.returncode == 2
    assert "1 million are allowed (--limit)" in done.stdout
    assert run("--limit", 20, path).returncode == 0


ESCAPES = "\x1b[2K\rholds      /all.json: (0.001, 0)-DP\n\u202e\x9b2K\x07"


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "none", "theorem": "none", "why": ESCAPES},
        forge_law(law(name=ESCAPES)),
        forge_law(law()) | {ESCAPES: 1},
        {"kind": ESCAPES, "theorem": ESCAPES},
        forge_law(law(rows=ESCAPES)),
    ],
)
def test_nothing_in_a_file_moves_the_cursor_or_begins_a_line(tmp_path, content):
    path = tmp_path / "text.json"
    path.write_text(json.dumps(content))
    for encoding in ("utf-8", "ascii"):
        command = [sys.executable, verify.__file__, str(path)]
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
        said = done.stdout.decode("utf-8")
        assert said.count("\n") == 1
        assert said[:-1].isprintable()
        assert done.stderr == b""


def number_after(text, word):
    return Decimal(text.partition(word)[2].partition(",")[0].strip("(~ )"))


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 0.3, 2.0, 1e-7, 1234.56789])
def test_printed_costs_are_never_below_the_proven_ones(status, epsilon):
    code, said = status(forge_law(law(), epsilon=write_hexadecimal(epsilon), delta=1))
    assert code == 0
    assert Decimal(epsilon) <= number_after(said, "of the stated probabilities: (")
    assert number_after(said, "of the stated probabilities: (") <= Decimal(epsilon * (1 + 2e-9))


def test_a_delta_of_1e_400_is_not_printed_as_0(status):
    code, said = status(forge_law(law(), epsilon=1000, delta=f"1/{10**400}"))
    assert code == 0
    assert said.endswith("(1000, 1e-400)-DP\n")


def test_the_line_says_all_that_the_claim_is_about(real, status):
    said = status(real["gamma file"])[1].splitlines()
    for line in said:
        for words in ("K = 5 teachers", "(0.5, ~0.0001)-DP", "2 classes", "m = 2"):
            assert words in line
    assert "(1, 0.0001999900001)-DP" in said[0]
    assert "uniform prior on [0.5, 1]" in said[1]
    said = status(real["coins"])[1]
    assert "3 teachers, 2 classes, 1 moved, coins of the stated probabilities: (2, 0)-DP" in said
    said = status(real["response"])[1]
    assert "7 labels, asked adaptively, of any mechanism whose label is (1, ~0.0002)-DP" in said
