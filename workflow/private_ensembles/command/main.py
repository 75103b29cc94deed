"""private-ensembles: run a subcommand and report its errors in one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from private_ensembles.base.checks import did_you_mean
from private_ensembles.run.removed_names import advice

# The subcommands are imported where they are needed, so that a Ctrl-C meanwhile gives one line.

BAD_INPUT = 2
NOT_PRINTED = 3
STOPPED = 130
# The library and the configuration call these options by another name than the command does.
_OTHER_NAMES = {
    "n_teachers": "teachers",
    "n_classes": "classes",
    "n_queries": "queries",
    "labels_wanted": "labels",
    "teacher_Delta": "teacher_delta",
    "id_column": "id",
    "truth_column": "truth",
    "ignore_columns": "ignore",
    "long_columns": "long",
}
# This matches a name with its value: at the start of a message, where it is what is wrong, or
# further on if it is no word, as in "say votes_kind=counts". It matches neither part of a path nor
# what a file is said to have.
_NAME = re.compile(
    r"^[A-Za-z]\w*(?=(?:, \w+)* = )|(?<![\w/,.-])(?<!has )[A-Za-z]+_\w+(?=(?:, \w+)* ?=)"
)

# This matches what argparse says of a value that is none of those allowed. Whether it quotes these
# depends on the Python.
_CHOICE = re.compile(
    r"argument (?P<name>\S+): invalid choice: '(?P<value>.*)' \(choose from (.*)\)"
)


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong, and what may have been meant."""

    has_subcommands = False

    def add_subparsers(self, **options):
        """Return where subcommands are added, each of which reads the words after its name."""
        self.has_subcommands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args=None, namespace=None):
        """Parse as argparse does, but report an unknown option before one that is missing."""
        options = ["--help", *re.findall(r"(?<![\w-])--[\w-]+", self.format_usage())]
        for word in sys.argv[1:] if args is None else args:
            if word == "--" or (self.has_subcommands and word[:1] != "-"):
                break  # values follow, or what another parser reads
            name = word.partition("=")[0]
            is_option = (name[:2] == "--" and " " not in name) or f"-{name}" in options
            if is_option and name not in options:
                hint = did_you_mean(name, options) or f"see {self.prog} --help"
                removed = advice(name)
                self.error(f"{name} {removed}" if removed else f"{name}: unknown option; {hint}")
        return super().parse_known_args(args, namespace)

    def error(self, message: str):
        """Print the message as one line and end the process with status 2."""
        if choice := _CHOICE.fullmatch(message):
            name, value, allowed = choice["name"], choice["value"], re.findall(r"[\w-]+", choice[3])
            hint = did_you_mean(value, allowed) or f"must be one of {', '.join(allowed)}"
            removed = advice(value)
            message = f"{value} {removed}" if removed else f"{name} = {value!r}: {hint}"
        self.exit(BAD_INPUT, f"error: {' '.join(message.split())}\n")


def parser() -> Parser:
    """Return the parser of all subcommands.

    Each subcommand sets `run`, a function of what was parsed; `help_text`, a function that returns
    what --help prints; and `work`, a sentence on what it does.
    """
    from private_ensembles import __version__
    from private_ensembles.command import (
        audit,
        compare,
        gamma,
        output,
        plan,
        release,
        session,
        verify,
    )

    layout: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    root = Parser(
        prog="private-ensembles",
        description="Private prediction from teacher ensembles: what labels cost, and labels.",
        **layout,
    )
    root.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    root.set_defaults(run=output.print_help, help_text=root.format_help, work="")
    commands = root.add_subparsers(metavar="COMMAND")
    for module in (audit, verify, plan, release, session, gamma, compare):
        name = module.__name__.rpartition(".")[2]
        summary = module.__doc__.partition("\n")[0]
        epilog = "example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES)
        command = commands.add_parser(
            name, help=summary, description=summary, epilog=epilog, **layout
        )
        module.add_arguments(command)
        command.add_argument("--json", action="store_true", help="print JSON, for programs")
        command.set_defaults(run=module.run, help_text=command.format_help, work=summary)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status.

    Args:
        arguments: The words after the program's name; None for those of the process.

    Returns:
        0: done, and what was asked about holds.
        1: a claim or certificate does not hold, or two runs are not the same.
        2: bad input; one line on standard error says what is wrong.
        3: done, but there was no room to print it.
        130: stopped by Ctrl-C.
    """
    from private_ensembles.command.output import say

    try:
        return _run(arguments)
    except KeyboardInterrupt:
        say("error: stopped by Ctrl-C")
        return STOPPED


def _run(arguments: Sequence[str] | None) -> int:
    from private_ensembles.base.files import describe
    from private_ensembles.command.output import NotPrinted, announce_slow_work, guard_printing, say

    help_text = ""
    try:
        try:
            options = parser().parse_args(arguments)
        except SystemExit:
            with guard_printing():  # the reader of --help may have closed the pipe
                pass
            raise
        help_text = options.help_text()
        with announce_slow_work(f"{options.work.rstrip('.')} ..."):
            return options.run(options)
    except NotPrinted as error:
        say(f"error: {error}")
        return NOT_PRINTED
    except (
        ValueError,
        OSError,
        TypeError,
        RuntimeError,
        MemoryError,
        ImportError,
        ArithmeticError,
    ) as error:
        say(f"error: {translate_to_options(describe(error), help_text)}")
        return BAD_INPUT


def translate_to_options(message: str, help_text: str) -> str:
    """Return a message of the library with its arguments named as the command's options.

    Names that are no option of the subcommand stay, and so does what a file is said to have.

    Args:
        message: What the library said.
        help_text: What --help prints, which shows every option of the subcommand.

    >>> translate_to_options("n_classes = 1: must be at least 2", "--classes N --labels N")
    '--classes = 1: must be at least 2'
    """
    options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", help_text))

    def rename(match: re.Match) -> str:
        word = _OTHER_NAMES.get(match[0], match[0]).replace("_", "-")
        candidates = (f"--{word}", f"-{word}")
        return next((option for option in candidates if option in options), match[0])

    if "--absent" in options:  # it is a flag, which takes no value
        message = message.replace("absent=yes", "--absent")
    return _NAME.sub(rename, message)
