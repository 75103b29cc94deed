"""The verifier: its numbers, the package's verdicts beside its own, and certificates that lie."""

import ast
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp

from private_ensembles.papers.darrm.mathematics.certificate import certify
from private_ensembles.papers.darrm.mathematics.certificate_file import (
    certificates_of_gamma,
    certify_privacy,
    make_gamma_record,
)
from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
from private_ensembles.papers.darrm.mathematics.privacy_cost import PrivacyProblem
from verify import verify

from . import mutations, truth

FILE = Path(verify.__file__)


def verdict(body):
    """What the verifier says of a file of its own: True, False or, where it cannot tell, None."""
    verify.steps.allow(20 * verify.MILLION)
    try:
        verify.check(body)
    except NotImplementedError:
        return None
    except Exception:
        return False
    return True


def test_one_file_of_the_standard_library():
    source = FILE.read_text()
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    assert names <= set(sys.stdlib_module_names)
    assert [path.name for path in FILE.parent.glob("*.py")] == ["verify.py"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (3, Fraction(3)),
        ("-3/4", Fraction(-3, 4)),
        ("0x1.8p-3", Fraction(3, 16)),
        (float.hex(0.1), Fraction(0.1)),
        (float.hex(5e-324), Fraction(5e-324)),
    ],
)
def test_a_number_is_read_to_its_last_digit(text, value):
    assert verify.number(text) == value


@pytest.mark.parametrize(
    "text", [0.1, True, None, "0.1", "1/0", "1e5", "nan", "0x1p", "0x1.8p-1074", [], "1 /2"]
)
def test_what_is_no_exact_number_is_refused(text):
    with pytest.raises(ValueError, match="exact number"):
        verify.number(text)


def enclosed(bounds, function, x, digits):
    """The verifier's bounds on a function, between which its value at so many digits must lie."""
    low, high = bounds(x)
    with mp.workdps(digits):
        true = function(mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= true
        assert true <= mpmath.mpf(high.numerator) / high.denominator
    return low, high


@pytest.mark.parametrize("x", ["0", "1/3", "-5", "700", "-1999", "1/1000000007", "355/113"])
def test_the_exponential_lies_between_its_bounds(x):
    low, high = enclosed(verify.exp, mpmath.exp, Fraction(x), digits=150)
    assert high - low <= high / 2**220


@pytest.mark.parametrize("y", ["0", "1/100", "1", "7/2", "9", "12", "1201/100", "40"])
def test_the_error_function_lies_between_its_bounds(y):
    low, high = enclosed(verify.erfc, mpmath.erfc, Fraction(y), digits=900)
    assert high - low <= Fraction(1, 10**62)


def random_case(rng, violates):
    """A problem and a gamma whose worst cost is the allowance and a billionth more, or less."""
    while True:
        K, Delta = int(rng.choice([1, 3, 5, 7])), float(rng.choice([0.0, 1e-5, 1e-3, 0.02]))
        m, epsilon = float(rng.uniform(1, K)), float(rng.uniform(0.05, 1.0))
        problem = PrivacyProblem(K, m, epsilon, Delta, m * Delta)
        half = rng.random((K + 1) // 2)
        gamma = np.concatenate([half[::-1], half])
        found = certify(gamma, m, epsilon, Delta, problem.delta)
        gamma *= found.allowance / found.attained_cost * (1 + (1e-9 if violates else -1e-9))
        if found.attained_cost > 0 and gamma.max() <= 1:
            return problem, gamma


@pytest.mark.parametrize(
    ("seed", "number"), [(0, 60), pytest.param(1, 3000, marks=pytest.mark.slow)]
)
def test_same_verdict_as_the_package_on_random_gamma(seed, number):
    rng = np.random.default_rng(seed)
    for k in range(number):
        violates = k % 2 == 1
        problem, gamma = random_case(rng, violates)
        ours = certify(gamma, problem.m, problem.epsilon, problem.Delta, problem.delta).holds
        assert ours == (not violates)
        assert verdict(certify_privacy(problem, gamma)) == ours


@pytest.mark.parametrize("Delta", [0.0, 1e-5, 0.01])
@pytest.mark.parametrize("prior", ["uniform:0.5,1", "uniform:0.7,1", "common:0.5,1"])
def test_optimised_gamma_are_private_and_optimal(Delta, prior):
    solution = optimize_gamma(11, 3, 0.1, Delta, prior=prior, solver="highs")
    for body in certificates_of_gamma(solution):
        assert verdict(body) is True
    # The bound that the multipliers prove is next to the one that the search reports.
    proven = float.fromhex(body["utility"])
    assert proven == pytest.approx(solution.utility_upper_bound, abs=1e-9)
    too_much = body | {"utility": math.nextafter(solution.utility, 0).hex()}
    assert verdict(too_much) is False


@pytest.mark.parametrize(("K", "m"), [(11, 3), (101, 10)])
def test_a_hundred_and_one_teachers_are_checked_within_the_default_limit(K, m):
    bodies = certificates_of_gamma(optimize_gamma(K, m, 0.1, 1e-5, solver="highs"))
    assert [verdict(body) for body in bodies] == [True, True]


@pytest.mark.parametrize("Delta", [0.0, 1e-5, 1e-3])
def test_a_billionth_less_allowance_is_too_little_among_many_teachers(Delta):
    solution = optimize_gamma(35, 5, 0.3, Delta, solver="highs")
    body = certificates_of_gamma(solution)[0]
    assert verdict(body) is True
    less = {"m": (5 * (1 - 1e-9)).hex()}
    assert verdict(body | less) is False


@pytest.mark.parametrize("Delta", [1e-3, 0.03])
def test_moves_by_delta_that_no_bound_settles_are_all_tried(Delta):
    """With the bounds useless everything is tried: the same verdict, and the truth's."""
    rng = np.random.default_rng(int(Delta * 1e4))
    for _ in range(5):
        half = rng.random(2)
        gamma = np.concatenate([half[::-1], half])
        problem = PrivacyProblem(3, 1.5, 0.4, Delta, 1.5 * Delta)
        body = certify_privacy(problem, gamma)
        assert verdict(body) == truth.is_true(body)


def solved(path):
    """A file as the workflow writes it, of three teachers."""
    written = json.loads(json.dumps(make_gamma_record(optimize_gamma(3, 1, 0.1, solver="highs"))))
    path.write_text(json.dumps(written))
    return written


def test_a_line_for_each_certificate_and_the_first_that_fails_ends_it(tmp_path):
    paths = [tmp_path / name for name in ("good.json", "bad.json", "unread.json")]
    written = solved(paths[0])
    written["certificates"][0]["gamma"] = [(1.0).hex()] * 4
    written["gamma"] = [1.0] * 4
    paths[1].write_text(json.dumps(written))
    run = [sys.executable, FILE, *paths]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["holds", "holds", "FAILS"]
    assert "not private" in done.stdout
    assert done.stderr == ""


def number_of(seeds):
    tried = accepted = 0
    for seed in seeds:
        body, rng = mutations.fresh(seed)
        assert truth.is_true(body) is not False
        assert verdict(body) is True, body
        for _ in range(4):
            changed = mutations.mutated(body, rng)
            tried += 1
            if verdict(changed) is True:
                accepted += 1
                assert truth.is_true(changed) is not False, (body, changed)
    return tried, accepted


def test_no_mutated_certificate_is_accepted_whose_claim_is_false():
    tried, accepted = number_of(range(80))
    assert tried == 320
    assert accepted > 16  # some changes weaken the claim, which stays true
    assert accepted < 160


@pytest.mark.slow
def test_no_mutated_certificate_out_of_very_many():
    """Others than above, four to a seed: "first,last" says which, 100,000 are 0,25000."""
    first, last = os.environ.get("PRIVATE_ENSEMBLES_MUTATIONS", "80,2000").split(",")
    seeds = range(int(first), int(last))
    assert number_of(seeds)[0] == 4 * len(seeds)


def test_without_multipliers_the_largest_utility_is_that_of_no_noise_to_the_last_digit():
    """11/16 for three teachers, each right with a probability uniform in [1/2, 1]."""
    body = certificates_of_gamma(optimize_gamma(3, 1, 0.1, solver="highs"))[1] | {"rows": []}
    assert verdict(body | {"utility": "11/16"}) is True
    assert verdict(body | {"utility": f"{11 * 2**200 - 1}/{2**204}"}) is False


@pytest.mark.parametrize("delta", ["0/1", "1/1000"])
def test_a_label_at_its_very_delta_holds_and_a_hair_below_it_does_not(delta):
    law = {"name": "response", "epsilon": "1/1", "delta": delta}
    claim = {"law": law, "epsilon": "1/1"}
    body = mutations.build_certificate("label", "hockey_stick", **claim, delta=delta)
    assert verdict(body) is True
    assert verdict(body | {"delta": str(Fraction(delta) + Fraction(1, 10**60))}) is True
    assert verdict(body | {"delta": str(Fraction(delta) - Fraction(1, 10**60))}) is False


@pytest.mark.parametrize("delta", ["0/1", "1/1000", "1/1"])
@pytest.mark.parametrize("own", ["0/1", "1/3", "5/1"])
def test_below_its_own_epsilon_a_label_costs_more_than_its_delta(own, delta):
    """By delta + (1 - delta) (e^own - e^epsilon) / (1 + e^own); from there on delta is its own."""
    law = {"name": "response", "epsilon": own, "delta": delta}
    own, delta = Fraction(own), Fraction(delta)
    for epsilon in (Fraction(0), own / 2, own - Fraction(1, 10**30), own, own + 1):
        _, least, most = verify.bound_label_delta({"law": law}, epsilon)
        if epsilon >= own:
            assert least == most == delta
        elif epsilon >= 0:
            with mp.workdps(100):
                high, low = (
                    mpmath.exp(mpmath.mpf(x.numerator) / x.denominator) for x in (own, epsilon)
                )
                leak = mpmath.mpf(delta.numerator) / delta.denominator
                exact = leak + (1 - leak) * (high - low) / (1 + high)
                least, most = (mpmath.mpf(x.numerator) / x.denominator for x in (least, most))
                assert least <= exact <= most <= least + mpmath.mpf(10) ** -60
