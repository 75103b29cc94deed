"""Audit anybody's mechanism on votes: exactly, or from below if it can only be run."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from private_ensembles.base import checks
from private_ensembles.command import user_functions
from private_ensembles.command.numbers import parse_integer, parse_real
from private_ensembles.command.output import emit, format_lower_bound, format_upper_bound

if TYPE_CHECKING:  # --help audits nothing
    from private_ensembles.audit.finite_mechanism import FiniteMechanism
    from private_ensembles.audit.sampler import SamplerBound

EXAMPLES = (
    "private-ensembles audit examples/randomized_response.py:labels --teachers 11 --classes 3"
    " --claims 1.01,0",
    "private-ensembles audit examples/randomized_response.py:draw --teachers 11 --classes 3"
    " --runs 200000",
)
_RENYI_ORDERS = (1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_FALSE_ALARM_RATES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5)
# The curve delta(epsilon) is shown at so many points.
_CURVE_POINTS = 9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `audit`."""
    parser.add_argument(
        "mechanism",
        metavar="FILE.py:FUNCTION",
        help="takes counts (n, C) and returns probabilities (n, L); or takes counts and a NumPy "
        "generator and returns labels (n,)",
    )
    parser.add_argument(
        "--teachers", type=parse_integer, required=True, metavar="N", help="how many vote"
    )
    parser.add_argument(
        "--classes", type=parse_integer, required=True, metavar="N", help="among how many labels"
    )
    parser.add_argument(
        "--delta",
        type=parse_real,
        default=1e-5,
        metavar="X",
        help="at which epsilon is found; default 1e-5",
    )
    parser.add_argument(
        "--neighbours",
        default="moved_vote",
        help="which votes are compared: moved_vote (default), one vote moves, and a record of "
        "disjoint shards can do no more; missing_vote, a teacher comes or goes; private_teachers, "
        "each teacher is private and may see all data (two classes)",
    )
    parser.add_argument(
        "--claims",
        type=_claim,
        action="append",
        default=[],
        metavar="EPS,DELTA",
        help="say whether this claim holds; may be given several times",
    )
    parser.add_argument(
        "--kind", choices=user_functions.KINDS, default="auto", help=argparse.SUPPRESS
    )
    exact = parser.add_argument_group("functions of probabilities")
    exact.add_argument(
        "--relative-error",
        type=parse_real,
        default=1e-12,
        metavar="X",
        help="of the function's probabilities, at most; default 1e-12",
    )
    exact.add_argument(
        "--absolute-error",
        type=parse_real,
        default=0.0,
        metavar="X",
        help="of the function's probabilities, at most; default 0",
    )
    exact.add_argument(
        "--teacher-epsilon",
        type=parse_real,
        metavar="X",
        help="what one teacher costs, for private_teachers",
    )
    exact.add_argument(
        "--teacher-delta", type=parse_real, default=0.0, metavar="X", help="of that cost; default 0"
    )
    runs = parser.add_argument_group("samplers")
    runs.add_argument(
        "--runs",
        type=parse_integer,
        default=1_000_000,
        metavar="N",
        help="how many labels are drawn; default 1000000",
    )
    runs.add_argument(
        "--confidence",
        type=parse_real,
        default=0.999,
        metavar="SHARE",
        help="with which the bound holds; default 0.999",
    )
    runs.add_argument(
        "--seed", type=parse_integer, default=0, metavar="N", help="of the generator; default 0"
    )


def run(options: argparse.Namespace) -> int:
    """Print the audit and return the exit status.

    Returns:
        1 if a claim fails, else 0.

    Raises:
        ValueError: An option is out of range, options do not fit together, or the function fails.
    """
    checks.check_integer(seed=options.seed, at_least=0)
    has_teacher_cost = options.teacher_epsilon is not None or options.teacher_delta != 0
    if has_teacher_cost and options.neighbours != "private_teachers":
        raise ValueError(
            f"neighbours = {options.neighbours}: takes no --teacher-epsilon or --teacher-delta; "
            "only private_teachers does"
        )
    function = user_functions.load(options.mechanism)
    exact = user_functions.find_kind(function, options.kind) == "probabilities"
    report, text = (_audit_exactly if exact else _audit_by_sampling)(function, options)
    emit(report, text, as_json=options.json)
    return int(any(claim["verdict"] == "fails" for claim in report["claims"]))


def _audit_exactly(
    function: Callable, options: argparse.Namespace
) -> tuple[dict[str, Any], list[str]]:
    """Return the exact audit as a report for JSON and as lines of text."""
    audited = _run_exact_audit(function, options)
    worst, delta = audited.worst_pair(options.delta), options.delta
    lower, pure = audited.epsilon(delta, "lower"), audited.epsilon(0.0)
    largest = next(epsilon for epsilon in (pure, worst.value, 1.0) if math.isfinite(epsilon))
    epsilons = [largest * i / (_CURVE_POINTS - 1) for i in range(_CURVE_POINTS)]
    inputs = [audited.inputs[row].round(6).tolist() for row in (worst.first, worst.second)]
    report = {
        **_describe_request(options, "probabilities"),
        "inputs": len(audited.inputs),
        "pairs": len(audited.pairs),
        "epsilon": worst.value,
        "epsilon_lower": lower,
        "pure_epsilon": pure,
        "rho": audited.rho(),
        "mu": audited.mu(),
        "mu_lower": audited.mu("lower"),
        "delta_curve": _table("epsilon", epsilons, "delta", audited.curve(epsilons)),
        "renyi": _table("order", _RENYI_ORDERS, "divergence", audited.renyi(_RENYI_ORDERS)),
        "trade_off": _table(
            "false_alarm", _FALSE_ALARM_RATES, "miss", audited.trade_off(_FALSE_ALARM_RATES)
        ),
        "worst_pair": {"first": inputs[0], "second": inputs[1], "labels": list(worst.labels)},
        "claims": [
            {"epsilon": e, "delta": d, "verdict": audited.verdict(e, d)} for e, d in options.claims
        ],
    }
    return report, _exact_text(report)


def _run_exact_audit(function: Callable, options: argparse.Namespace) -> FiniteMechanism:
    """Return the exact audit of a function of probabilities, for the neighbours that are asked."""
    from private_ensembles.audit.finite_mechanism import audit_function, audit_shared_data

    if options.neighbours != "private_teachers":
        return audit_function(
            function,
            options.teachers,
            options.classes,
            neighbours=options.neighbours,
            relative_error=options.relative_error,
            absolute_error=options.absolute_error,
        )
    if options.teacher_epsilon is None or options.classes != 2:
        raise ValueError("neighbours = private_teachers: needs --teacher-epsilon and --classes 2")
    return audit_shared_data(
        function,
        options.teachers,
        options.teacher_epsilon,
        options.teacher_delta,
        relative_error=options.relative_error,
    )


def _exact_text(report: dict) -> list[str]:
    """Return the report of an exact audit as lines of text."""
    pair = report["worst_pair"]
    first, second, labels = pair["first"], pair["second"], pair["labels"]
    private = report["neighbours"] == "private_teachers"
    inputs = "teachers that say 1 with chances" if private else "counts"
    mu, mu_lower = format_upper_bound(report["mu"]), format_lower_bound(report["mu_lower"])
    return [
        f"{report['mechanism']}: {report['teachers']} teachers, {report['classes']} classes, "
        f"{report['neighbours']}: all {report['inputs']} inputs, all {report['pairs']} pairs",
        f"epsilon at delta = {report['delta']:g}   {format_upper_bound(report['epsilon'])} "
        f"(not below {format_lower_bound(report['epsilon_lower'])})",
        f"epsilon at delta = 0       {format_upper_bound(report['pure_epsilon'])}",
        f"rho of zCDP                {format_upper_bound(report['rho'])}",
        f"mu of Gaussian DP          {mu} (not below {mu_lower})",
        *_rows("epsilon", "delta", report["delta_curve"], format_upper_bound),
        *_rows("order", "divergence", report["renyi"], format_upper_bound),
        *_rows("false_alarm", "miss", report["trade_off"], format_lower_bound),
        f"worst pair: {inputs} {first} against {second}, labels {labels}",
        *(_describe_claim(claim, "") for claim in report["claims"]),
    ]


def _audit_by_sampling(
    function: Callable, options: argparse.Namespace
) -> tuple[dict[str, Any], list[str]]:
    """Return the audit of a sampler as a report for JSON and as lines of text."""
    import numpy as np

    from private_ensembles.audit.sampler import audit_sampler

    audited = audit_sampler(
        function,
        options.teachers,
        options.classes,
        options.delta,
        np.random.default_rng(options.seed),
        neighbours=options.neighbours,
        runs=options.runs,
        confidence=options.confidence,
    )
    report = {
        **_describe_request(options, "sampler"),
        "inputs": audited.histograms,
        "pairs": audited.pairs,
        "all_inputs": audited.complete,
        "confidence": audited.confidence,
        "runs": audited.runs,
        "epsilon_lower": audited.epsilon,
        "worst_pair": {
            "first": audited.first.tolist(),
            "second": audited.second.tolist(),
            "labels": list(audited.labels),
            "successes": list(audited.successes),
        },
        "claims": [
            {"epsilon": e, "delta": d, "verdict": _judge_by_lower_bound(audited, e, d)}
            for e, d in options.claims
        ],
    }
    pair = report["worst_pair"]
    first, second, labels = pair["first"], pair["second"], pair["labels"]
    which = "all" if audited.complete else "the most fragile"
    lower = format_lower_bound(audited.epsilon)
    return report, [
        f"{report['mechanism']}: {report['teachers']} teachers, {report['classes']} classes, "
        f"{report['neighbours']}: {which} {audited.histograms} inputs, {audited.pairs} pairs, "
        "a sampler",
        f"epsilon at delta = {report['delta']:g} is at least {lower}, at confidence "
        f"{audited.confidence:g}",
        f"seen between counts {first} and {second}: labels {labels} came "
        f"{audited.successes[0]} and {audited.successes[1]} times in {audited.runs} runs each",
        *(
            _describe_claim(claim, "; no number of runs proves a claim")
            for claim in report["claims"]
        ),
    ]


def _judge_by_lower_bound(audited: SamplerBound, epsilon: float, delta: float) -> str:
    """Return the verdict on a claim.

    At a larger delta a mechanism needs less epsilon, so that only claims at the audit's delta or a
    smaller one can be refuted.
    """
    return "fails" if audited.epsilon > epsilon and delta <= audited.delta else "not refuted"


def _describe_request(options: argparse.Namespace, kind: str) -> dict[str, Any]:
    """Return what was to be audited, for the report."""
    return {
        "mechanism": options.mechanism,
        "kind": kind,
        "teachers": options.teachers,
        "classes": options.classes,
        "neighbours": options.neighbours,
        "delta": options.delta,
    }


def _table(
    x_name: str, x_values: Iterable[float], y_name: str, y_values: Iterable[float]
) -> list[dict[str, float]]:
    """Return the points of a curve as rows with two named numbers."""
    return [{x_name: float(x), y_name: float(y)} for x, y in zip(x_values, y_values, strict=True)]


def _rows(
    x_name: str, y_name: str, table: list[dict[str, float]], write: Callable[[float], str]
) -> list[str]:
    """Return the points of a curve as two lines of text, one above the other."""
    lines = [f"{x_name.replace('_', ' '):12}", f"  {y_name:10}"]
    for row in table:
        cells = f"{row[x_name]:.4g}", write(row[y_name])
        width = max(map(len, cells)) + 2
        lines = [line + cell.rjust(width) for line, cell in zip(lines, cells, strict=True)]
    return lines


def _describe_claim(claim: dict, caveat: str) -> str:
    """Return the verdict on a claim as a line of text; `caveat` follows if it is not refuted."""
    meaning = {
        "holds": "",
        "fails": "",
        "undecided": ": it lies between the two bounds, as an exactly tight claim does",
        "not refuted": caveat,
    }[claim["verdict"]]
    return f"claim ({claim['epsilon']:g}, {claim['delta']:g}): {claim['verdict']}{meaning}"


def _claim(text: str) -> tuple[float, float]:
    """Return the epsilon and the delta of a claim; the `type` of an option."""
    try:
        epsilon, delta = map(parse_real, text.split(","))
        valid = epsilon >= 0 and 0 <= delta <= 1
    except (ValueError, argparse.ArgumentTypeError):
        valid = False
    if not valid:
        raise argparse.ArgumentTypeError(f"{text!r}: must be EPS,DELTA, as in 1,1e-5")
    return epsilon, delta
