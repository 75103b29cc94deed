"""Check certificates by a program of one file that shares no code with this package."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from private_ensembles.command.output import emit
from private_ensembles.release.verifier import VERIFIER

EXAMPLES = ("private-ensembles verify gamma.json",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="certificates")
    parser.add_argument(
        "--limit",
        type=int,
        metavar="MILLIONS",
        help="how many million steps a certificate may take; default: what the verifier allows",
    )
    parser.add_argument(
        "--verifier",
        metavar="verify.py",
        type=Path,
        default=VERIFIER,
        help="the program, if it is not the one that comes with the package",
    )


def run(options: argparse.Namespace) -> int:
    """Run the verifier, print what it says, and return its exit status.

    The verifier runs apart, without this package or any other (`python -I`). Whoever does not trust
    this package can give a copy of the program that they have read.

    Returns:
        0 if it accepts every file, 1 if something does not hold, 2 if something could not be
        checked.

    Raises:
        ValueError: The verifier is not there.
        OSError: A file cannot be read.
    """
    verifier = options.verifier
    if not verifier.is_file():
        raise ValueError(f"{verifier}: is not there; it is verify/verify.py in the repository")
    for file in options.files:
        with open(file, "rb"):
            pass  # if it cannot be read, the error is one line that names it
    # A file called -x.json must not be taken for an option.
    files = [os.path.join(".", file) if file.startswith("-") else file for file in options.files]
    limit = [] if options.limit is None else ["--limit", str(options.limit)]
    command = [sys.executable, "-I", str(verifier), *limit, *files]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [*completed.stdout.splitlines(), *completed.stderr.splitlines()]
    report = {"verifier": str(verifier), "holds": completed.returncode == 0, "lines": lines}
    emit(report, lines, as_json=options.json)
    return completed.returncode
