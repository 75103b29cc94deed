"""Find the optimal noise function gamma of DaRRM, with its certificate."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from private_ensembles.command.numbers import parse_integer, parse_real
from private_ensembles.command.output import emit, format_upper_bound, to_plain_types

EXAMPLES = ("private-ensembles gamma -K 11 -m 3 --epsilon 0.1 --Delta 1e-5 --out gamma.json",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gamma`."""
    parser.add_argument(
        "-K", type=parse_integer, required=True, help="how many teachers, an odd number"
    )
    parser.add_argument(
        "-m",
        type=parse_real,
        required=True,
        help="how many times its epsilon a label may cost (the privacy allowance), in [1, K]",
    )
    parser.add_argument("--epsilon", type=parse_real, required=True, help="what one teacher costs")
    parser.add_argument(
        "--Delta", type=parse_real, default=0.0, help="the delta of that cost; default 0"
    )
    parser.add_argument(
        "--delta",
        type=parse_real,
        help="what one label may cost besides m times epsilon; default 1 - (1 - Delta)^m",
    )
    parser.add_argument(
        "--prior",
        default="uniform:0.5,1",
        help="how the teachers' chances of saying 1 are distributed; default uniform:0.5,1",
    )
    parser.add_argument(
        "--solver",
        choices=("auto", "gurobi", "highs"),
        default="auto",
        help="of linear programs: highs (auto, the default), or gurobi with a licence of yours",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help="where gamma and its certificate are written"
    )


def run(options: argparse.Namespace) -> int:
    """Print gamma, write it to `--out`, and return the exit status.

    Returns:
        0 if the certificate holds, else 1; then nothing is written.
    """
    from private_ensembles.base import files
    from private_ensembles.papers.darrm.mathematics.certificate_file import make_gamma_record
    from private_ensembles.papers.darrm.mathematics.optimize import optimize_gamma
    from private_ensembles.release.release_files import write_atomically

    optimised = optimize_gamma(
        options.K,
        options.m,
        options.epsilon,
        options.Delta,
        options.delta,
        prior=options.prior,
        solver=options.solver,
    )
    solution = make_gamma_record(optimised)
    certificate = solution["certificate"]
    if options.out is not None and certificate["holds"]:
        write_atomically(options.out, partial(files.write_json, value=solution), int(time.time()))
    values = ", ".join(f"{value:.6g}" for value in solution["gamma"])
    cost = ", ".join(map(format_upper_bound, (options.m * options.epsilon, solution["delta"])))
    text = [
        f"gamma for K = {options.K}, m = {options.m:g}: {values}",
        f"utility {solution['utility']:.10f}, at most {solution['utility_upper_bound']:.10f}",
        f"certificate {'holds' if certificate['holds'] else 'FAILS'}: a label is "
        f"({cost})-DP, by {certificate['method']}",
    ]
    emit(to_plain_types(solution), text, as_json=options.json)
    return 0 if certificate["holds"] else 1
