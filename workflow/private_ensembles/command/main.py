"""private-ensembles: run a subcommand and report its errors in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from private_ensembles import __version__
from private_ensembles.command import audit, compare, gamma, plan, release, verify
from private_ensembles.jobs.io import describe

_SUBCOMMANDS = (audit, verify, plan, release, gamma, compare)
BAD_INPUT = 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything here does."""

    def error(self, message: str):
        """End the process with status 2."""
        self.exit(BAD_INPUT, f"error: {' '.join(message.split())}\n")


def parser() -> Parser:
    """Return the parser of all subcommands; each sets `run`, a function of what was parsed."""
    layout = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    whole = Parser(
        prog="private-ensembles",
        description="Private prediction from teacher ensembles: what labels cost, and labels.",
        **layout,
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _SUBCOMMANDS:
        name = module.__name__.rpartition(".")[2]
        summary = module.__doc__.partition("\n")[0]
        epilog = "example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES)
        own = commands.add_parser(name, help=summary, description=summary, epilog=epilog, **layout)
        module.add_arguments(own)
        own.add_argument("--json", action="store_true", help="print JSON, for programs")
        own.set_defaults(run=module.run)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status.

    0: done, and what was asked about holds. 1: a claim or certificate does not hold, or two runs
    are not the same. 2: bad input, with one line on standard error that says what is wrong.
    """
    try:
        given = parser().parse_args(arguments)
        return given.run(given)
    except (ValueError, OSError, TypeError, RuntimeError, MemoryError, ImportError) as error:
        print(f"error: {describe(error)}", file=sys.stderr)
        return BAD_INPUT
