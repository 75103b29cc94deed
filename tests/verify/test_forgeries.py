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

from private_ensembles.darrm import optimize_gamma
from private_ensembles.darrm.certificate_file import exactly, record
from private_ensembles.jobs import io
from private_ensembles.ledger import certificates as of_labels
from private_ensembles.ledger.ledger import setting
from private_ensembles.mechanisms import registry
from verify import verify

from .mutations import stated

BUDGET = {"K": 5, "m": 2, "epsilon": 0.5, "Delta": 1e-4}
KINDS = (
    "gamma file",
    "gamma_privacy",
    "gamma_utility",
    "named law",
    "table",
    "response",
    "backward_induction",
    "counterexample",
    "laplace_noise",
    "gaussian_noise",
    "renyi",
    "discrete_counts",
    "adaptive_labels",
    "gaussian_maximum",
    "ledger file",
)
WRONG = (None, True, [], {}, "text", "0.5", 0.5, -1, "-1/2", "1e9999999999", "\u0663/\u0664")
HUGE = (10**700, "1" + 700 * "0" + "/1", f"1/{10**700}")


@pytest.fixture(scope="module")
def solution():
    return optimize_gamma(5, 2, 0.5, 1e-4, solver="highs")


@pytest.fixture(scope="module")
def real(solution):
    """What a file holds, by kind: as the package writes it."""
    gamma = json.loads(json.dumps(record(solution)))
    given = setting(BUDGET, solution.gamma)
    proven = of_labels.certificates_of_budgets({"small": given}, [7], 1e-4)
    labels = {}
    for body in proven["certificates"]:
        law = body.get("law", {}).get("name")
        labels.setdefault((body["theorem"], law), body)
    noise = {"noise": "gaussian", "times": 7, "squared": "2/1", "scale": "40/1"}
    curve = {"releases": [noise], "epsilon": "1/2", "delta": "1/1000000"}
    order = {"order": "30/1", "epsilon": "1/1", "delta": "1/1000000"}
    pure = {"releases": [noise | {"noise": "laplace"}], "epsilon": "1/2", "delta": 0}
    weak = of_labels.named_law("laplace", 1.0, 5)
    whole = {"counts": [{"times": 7, "scale": "40/1"}], "epsilon": "1/2", "delta": "1/1000"}
    coins = {"name": "coins", "rows": [[1, "1/4"], [1, "1/3"], [0, "1/3"], [0, "1/4"]]}
    beside = {"counts": [{"times": 2, "scale": "9/1", "reach": 9}], "step": "1/8", "width": 3}
    adaptive = stated(
        "total",
        "adaptive_labels",
        **beside,
        law=coins,
        groups=[[0, 1, 1], [0, 1, 1]],
        blocks=[{"times": 1, "labels": 2}],
        places=[0, 1, 2, 6, 8],
        epsilon="2/1",
        delta="1/8",
    )
    largest = {"name": "gaussian_maximum", "scale": "4/1", "teachers": 3, "classes": 3}
    largest |= {"cells": 2, "panels": 1, "lattice": "fine"}
    maximum = verify.Maximum(largest)
    nodes = [[0] * maximum.middles for _ in range(2 * maximum.leads + 1)]
    found = {
        "gamma file": gamma | {"provenance": io.provenance("numpy")},
        "gamma_privacy": gamma["certificates"][0],
        "gamma_utility": gamma["certificates"][1],
        "named law": labels["hockey_stick", "gaussian"],
        "table": labels["hockey_stick", "table"],
        "response": labels["loss_distribution", "response"],
        "backward_induction": labels["backward_induction", "laplace"],
        "counterexample": of_labels.of_label("counterexample", weak, 0.5, 1e-5),
        "laplace_noise": stated("total", "laplace_noise", **pure),
        "gaussian_noise": stated("total", "gaussian_noise", **curve),
        "renyi": stated("total", "renyi", **curve | order),
        "discrete_counts": stated("total", "discrete_counts", **whole),
        "adaptive_labels": adaptive,
        "gaussian_maximum": adaptive | {"law": largest, "groups": nodes},
        "ledger file": {key: proven[key][:2] for key in proven},
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


# Without these a file says less, and all that it says is proven.
OPTIONAL = {
    ("provenance",),
    ("provenance", "device"),
    ("about",),
}


def may_be_left_out(path):
    return path in OPTIONAL or path[:-1] == ("provenance", "versions")


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_may_be_left_out(real, status, kind):
    for path in places(real[kind]):
        # Fewer rows may prove as much, fewer noisy counts cost less, and any thresholds will do.
        lists = ("rows",), ("certificates", 1, "rows"), ("counts",), ("places",)
        shorter = path[:-1] in lists and kind != "discrete_counts"
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
    for path in places(real[kind]):
        old = within(real[kind], path)
        for new in WRONG:
            none = path == ("counts",) and new == []  # no noisy counts cost nothing
            if not says_nothing(path, old, new) and not none:
                refused(status, changed(real[kind], path, new), path, new)


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_may_be_longer_than_is_read(real, status, kind):
    for path in places(real[kind]):
        if not isinstance(within(real[kind], path), dict | list) and path[0] != "provenance":
            for new in HUGE:
                if not says_nothing(path, within(real[kind], path), new):
                    refused(status, changed(real[kind], path, new), path)


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_numbers_that_are_read_end_in_time(real, status, kind):
    """Some make a claim weaker, which stays true. Little work is allowed: all must be counted."""
    for path in places(real[kind]):
        if not isinstance(within(real[kind], path), dict | list):
            for new in (99999, 10**599, f"{10**599}/1", f"1/{10**599}", "0x1.fffffffffffffp+1023"):
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
    stated = file["certificate"]
    for name in ("worst_cost", "allowance", "slack", "attained_cost"):
        for new in moved(stated[name]):
            refused(status, changed(file, ("certificate", name), new), name, new)
    for path, values in OTHERS.items():
        for new in values:
            refused(status, changed(file, path, new), path, new)


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
    for bodies in (real["gamma file"]["certificates"] * 2, [real["named law"]]):
        refused(status, real["gamma file"] | {"certificates": bodies})


def test_a_certificate_of_another_gamma_or_prior_is_not_the_file_s(real, status):
    for other in (
        optimize_gamma(5, 3, 0.5, 1e-4, solver="highs"),
        optimize_gamma(5, 2, 0.5, 1e-4, prior="common:0.5,1", solver="highs"),
    ):
        for number in (0, 1):
            file = copy.deepcopy(real["gamma file"])
            body = record(other)["certificates"][number]
            if body != file["certificates"][number]:
                file["certificates"][number] = body
                refused(status, file)


def test_a_utility_that_nobody_can_recompute_is_said_to_be_unchecked(status):
    solution = optimize_gamma(3, 1, 0.1, prior="absolute-uniform:0,1", solver="highs")
    code, said = status(record(solution))
    assert code == 2
    assert [line.split()[0] for line in said.splitlines()] == ["holds", "unchecked"]
    assert "utility_upper_bound" in said


@pytest.mark.parametrize(
    "names",
    [
        [["small: gnmax"]],
        [["small: gnmax"], ["small: lnmax_pure"]],
        [["small: gnmax"], ["small: darrm_opt"]],
        [["small: gnmax"], ["dpbag, SAA: one label"]],
        [["small: gnmax"], ["small: committee"]],
        [["small: gnmax"], ["small: better_than_gnmax"]],
        [["small: gnmax"], []],
        [["small: gnmax"], ["gnmax, " + 200 * "x"]],
        ["small: gnmax", "small: gnmax"],
    ],
)
def test_a_name_that_no_certificate_bears_is_refused(real, status, names):
    assert real["ledger file"]["about"] == [["small: gnmax"], ["small: gnmax"]]
    refused(status, real["ledger file"] | {"about": names})


def test_every_mechanism_has_its_noise_in_the_verifier(real):
    for name in registry.entries():
        body = {"kind": "ledger_row", "theorem": "none", "why": f"{name}, row: none"}
        verify.check_name(f"{name}, row", body)


def law(name="laplace", **changes):
    return {"name": name, "teachers": 3, "moved": 1, "scale": 2} | changes


def of_law(law, epsilon="2/1", delta=0, theorem="hockey_stick"):
    return stated("label", theorem, law=law, epsilon=epsilon, delta=delta)


def many(theorem, **changes):
    grid = {"labels": 3, "step": "1/100", "reach": 99, "below": 900, "above": 900}
    return stated("total", theorem, law=law(), epsilon=3, delta="1/10", **grid) | changes


EVEN = [["1/2", "1/2"], ["1/2", "1/2"]]
ODD = [["9/10", "9/10"], ["1/10", "1/10"]]


def table(rows, pairs, histograms=([1, 0], [0, 1]), moved=1):
    votes = {"histograms": list(histograms), "moved": moved}
    return {"name": "table", "rows": rows, "pairs": pairs, **votes}


BY_HAND = {
    "delta above 1": of_law(law(), delta="3/2"),
    "delta below 0": of_law(law(), delta="-1/2"),
    "epsilon below 0": of_law(law(), epsilon="-1/1", delta=1),
    "a response with delta above 1": of_law(law("response") | {"epsilon": 1, "delta": 2}),
    "no teachers": of_law(law(teachers=0, moved=0)),
    "more moved than there are": of_law(law(moved=4)),
    "no noise": of_law(law(scale=0)),
    "a probability above 1": of_law(table([[["3/2", "3/2"], [0, 0]], EVEN], [[0, 1]])),
    "a probability below 0": of_law(table([[["3/2", "3/2"], ["-1/2", "-1/2"]]] * 2, [[0, 1]])),
    "an interval upside down": of_law(table([[["1/1", "0/1"], [0, 1]], EVEN], [[0, 1]])),
    "rows of two lengths": of_law(table([[[1, 1]], EVEN], [[0, 1]])),
    "no rows": of_law(table([], [])),
    "no pairs": of_law(table([ODD, ODD[::-1]], [])),
    "a row beside itself": of_law(table([ODD, ODD[::-1]], [[0, 0]])),
    "a row that is not there": of_law(table([ODD, EVEN], [[0, 2]])),
    "nothing moves": of_law(table([ODD, ODD[::-1]], [[0, 0], [1, 1]], moved=0)),
    "a pair left out": of_law(table([EVEN] * 3, [[0, 1]], [[2, 0], [1, 1], [0, 2]])),
    "a pair of no neighbours": of_law(
        table([EVEN] * 3, [[0, 1], [1, 2], [0, 2]], [[2, 0], [1, 1], [0, 2]])
    ),
    "inputs of more votes": of_law(table([EVEN] * 2, [[0, 1]], [[2, 0], [1, 2]])),
    "an input left out": of_law(table([EVEN] * 2, [[0, 1]], [[2, 0], [1, 1]])),
    "the same input twice": of_law(table([EVEN] * 2, [[0, 1]], [[1, 0], [1, 0]])),
    "a false denial": of_law(law(), theorem="counterexample"),
    "another proof": of_law(law()) | {"proof": "docs/certificates.md#renyi"},
    "no proof": {key: x for key, x in of_law(law()).items() if key != "proof"},
    "an exponent out of range": of_law(law(scale="1/99999"), epsilon=10**5),
    "more teachers than are read": of_law(law(teachers=10**5)),
    "a law of no name": of_law({"teachers": 3}),
    "a law that is a text": of_law("laplace"),
    "an unknown law": of_law(law("cauchy")),
    "no labels": many("loss_distribution", labels=0),
    "a step of 0": many("backward_induction", step=0),
    "no reach": many("backward_induction", reach=0),
    "no release": stated("total", "renyi", releases=[], order=2, epsilon=1, delta=1),
    "very many releases": stated(
        "total",
        "gaussian_noise",
        releases=[
            {"noise": "gaussian", "times": 1, "squared": 1, "scale": f"{10**599 + k}/1"}
            for k in range(5000)
        ],
        epsilon=1,
        delta=0,
    ),
    "noise of no size": stated(
        "total",
        "laplace_noise",
        releases=[{"noise": "laplace", "times": 1, "squared": 0, "scale": 1}],
        epsilon=0,
        delta=0,
    ),
    "another noise": stated(
        "total",
        "gaussian_noise",
        releases=[{"noise": "laplace", "times": 1, "squared": 1, "scale": 1}],
        epsilon=9,
        delta=1,
    ),
    "a theorem in a list": {"kind": ["label"], "theorem": {"a": 1}, "proof": None},
    "a row that is said to hold": {"kind": "ledger_row", "theorem": "none", "why": "it holds"},
    "certificates in certificates": {"certificates": [{"certificates": [of_law(law())]}]},
    "a list of nothing": {"certificates": [None]},
}


def gamma_of(K, gamma, **changes):
    numbers = {"m": 1, "epsilon": "1/10", "Delta": "1/100000", "delta": "1/100000"} | changes
    return stated("gamma_privacy", "darrm_lemma_3.4", K=K, gamma=gamma, **numbers)


BY_HAND |= {
    "gamma = 1": gamma_of(5, [1] * 6),
    "gamma above 1": gamma_of(1, [2, 2]),
    "an even number of teachers": gamma_of(2, [0, 0, 0]),
    "m below 1": gamma_of(1, [0, 0], m="1/2"),
    "Delta of 1/2": gamma_of(1, [0, 0], Delta="1/2", delta="1/2"),
    "a large epsilon": gamma_of(1, [0, 0], epsilon=10**599),
}
TOO_MUCH = {
    "a large grid, induction": many("backward_induction", below=99999, above=99999),
    "a large reach": many("backward_induction", reach=99999),
    "many labels, induction": many("backward_induction", labels=99999),
    "a large grid": many("loss_distribution", below=99999, above=99999, step="1/10000"),
    "many labels": many("loss_distribution", labels=99999, below=99999, above=99999),
    "all at once": many("loss_distribution", labels=99999, reach=99999, below=99999, above=99999),
    "many teachers": of_law(law(teachers=99999, scale="1/7"), epsilon="1/7"),
    "many teachers, normal noise": of_law(law("gaussian", teachers=99999), epsilon="1/7"),
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
    "another encoding": json.dumps(of_law(law())).encode("utf-16"),
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
    body = many("loss_distribution", labels=2**9, step="1/1000") | changes
    return body | {"law": law(scale="400/1")}


def test_a_file_of_many_certificates_ends(tmp_path, capsys):
    """Ten times the work of one certificate is what a file may take."""
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"certificates": [long()] * 2000}))
    assert verify.main(["--limit", 1, path]) == 2
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert 10 <= words.count("holds") < 50
    assert words[-1] == "unchecked"
    assert len(words) < 60


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
        ({"kind": "ledger_row", "theorem": "none", "why": "a row: nobody knows"}, 2),
        (BY_HAND["an unknown law"], 2),
        (BY_HAND["an exponent out of range"], 2),
        (gamma_of(1, [1, 1], Delta=0, delta=0), 2),
        (gamma_of(3, [1, 1, 1, 1], Delta=0, delta="1/1000000"), 1),
        (BY_HAND["a law that is a text"], 1),
        (of_law(law(), epsilon="1/2"), 1),
        (of_law(law(), epsilon="2/1"), 0),
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
    (tmp_path / "false.json").write_text(json.dumps(of_law(law(), epsilon="1/2")))
    done = run(tmp_path / "none.json", tmp_path / "false.json")
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["unchecked", "FAILS"]


def test_more_work_may_be_allowed(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(long()))
    done = run("--limit", 1, path)
    assert (done.returncode, done.stderr) == (0, "")
    path.write_text(json.dumps(long(reach=3000)))
    done = run("--limit", 1, path)
    assert done.returncode == 2
    assert "1 million are allowed (--limit)" in done.stdout
    assert run("--limit", 20, path).returncode == 0


ESCAPES = "\x1b[2K\rholds      /all.json: (0.001, 0)-DP\n\u202e\x9b2K\x07"


@pytest.mark.parametrize(
    "content",
    [
        {"kind": "ledger_row", "theorem": "none", "why": ESCAPES},
        of_law(law(ESCAPES)),
        of_law(law()) | {ESCAPES: 1},
        {"kind": ESCAPES, "theorem": ESCAPES},
        {"certificates": [of_law(law())], "about": [[f"{ESCAPES}: lnmax"]]},
        of_law(law(teachers=ESCAPES)),
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


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 0.3, 2.0, 1e-7, 123456.789])
def test_printed_costs_are_never_below_the_proven_ones(status, epsilon):
    row = {"noise": "laplace", "times": 1, "squared": 1, "scale": "100000000/1"}
    body = stated("total", "laplace_noise", releases=[row], epsilon=exactly(epsilon), delta=0)
    code, said = status(body)
    assert code == 0
    assert Decimal(epsilon) <= number_after(said, "what moves by the root of 1: (")
    assert number_after(said, "what moves by the root of 1: (") <= Decimal(epsilon * (1 + 2e-9))


def test_what_is_denied_is_rounded_down(status):
    body = of_law(
        law(scale="1/2"), epsilon=exactly(0.3), delta=exactly(0.1), theorem="counterexample"
    )
    code, said = status(body)
    assert code == 0
    assert number_after(said, ": not (") <= Decimal("0.3")


def test_a_delta_of_1e_400_is_not_printed_as_0(status):
    row = {"noise": "gaussian", "times": 1, "squared": 1, "scale": 1}
    claim = {"epsilon": 1000, "delta": f"1/{10**400}"}
    code, said = status(stated("total", "renyi", releases=[row], order=2, **claim))
    assert code == 0
    assert said.endswith("(1000, 1e-400)-DP\n")


def test_the_line_says_all_that_the_claim_is_about(real, status):
    said = status(real["gamma file"])[1].splitlines()
    for line in said:
        for words in ("K = 5 teachers", "(0.5, ~0.0001)-DP", "2 classes", "m = 2"):
            assert words in line
    assert "(1, 0.0001999900001)-DP" in said[0]
    assert "uniform prior on [0.5, 1]" in said[1]
    said = status(of_law(law("permute_and_flip", teachers=9, moved=2, scale=7)))[1]
    assert "9 teachers, 2 classes, 2 moved, permute_and_flip, scale 7: (2, 0)-DP" in said
    said = status(real["response"])[1]
    assert "7 labels, asked adaptively, of any mechanism whose label is (1, ~0.0002)-DP" in said


def test_a_table_is_of_all_pairs_of_neighbours(real, status):
    every = "a table of 6 inputs and 2 labels, for all 5 pairs of neighbours: 5 teachers, 2 classes"
    assert every in status(real["table"])[1]


def test_a_table_of_three_classes_knows_its_neighbours(status):
    histograms = [[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 2]]
    pairs = [[0, 1], [0, 2], [1, 2], [1, 3], [1, 4], [2, 4], [2, 5], [3, 4], [4, 5]]
    rows = [[["1/3", "1/3"]] * 2 + [["1/3", "1/2"]]] * 6
    body = of_law(table(rows, pairs, histograms))
    assert "for all 9 pairs of neighbours: 2 teachers, 3 classes, 1 moved" in status(body)[1]
