"""private-ensembles: run a subcommand and report its errors in one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from private_ensembles.base.checks import did_you_mean
from private_ensembles.run.removed_names import advice

# The subcommands are imported where they are needed: a Ctrl-C meanwhile is one line, too.

BAD_INPUT = 2
NOT_PRINTED = 3
STOPPED = 130
# What the library and the configuration call an option by another name than the command.
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
# A name with its value: what is wrong, at the start of a message, or further on one that is no
# word, as in "say votes_kind=counts"; not in a path, nor what a file has.
_NAME = re.compile(
    r"^[A-Za-z]\w*(?=(?:, \w+)* = )|(?<![\w/,.-])(?<!has )[A-Za-z]+_\w+(?=(?:, \w+)* ?=)"
)

# A value that is none of those allowed, and these, as argparse quotes them or not.
_CHOICE = re.compile(
    r"argument (?P<name>\S+): invalid choice: '(?P<value>.*)' \(choose from (.*)\)"
)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything here does, and what may have been meant."""

    hands_over = False

    def add_subparsers(self, **options):
        """Return where subcommands are added, each of which reads the words after its name."""
        self.hands_over = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args=None, namespace=None):
        """Parse as argparse does; an unknown option is told before what is missing without it."""
        known = ["--help", *re.findall(r"(?<![\w-])--[\w-]+", self.format_usage())]
        for word in sys.argv[1:] if args is None else args:
            if word == "--" or (self.hands_over and word[:1] != "-"):
                break  # values follow, or what another parser reads
            name = word.partition("=")[0]
            option = (name[:2] == "--" and " " not in name) or f"-{name}" in known
            if option and name not in known:
                hint = did_you_mean(name, known) or f"see {self.prog} --help"
                gone = advice(name)
                self.error(f"{name} {gone}" if gone else f"{name}: unknown option; {hint}")
        return super().parse_known_args(args, namespace)

    def error(self, message: str):
        """End the process with status 2."""
        if choice := _CHOICE.fullmatch(message):
            name, value, known = choice["name"], choice["value"], re.findall(r"[\w-]+", choice[3])
            hint = did_you_mean(value, known) or f"must be one of {', '.join(known)}"
            gone = advice(value)
            message = f"{value} {gone}" if gone else f"{name} = {value!r}: {hint}"
        self.exit(BAD_INPUT, f"error: {' '.join(message.split())}\n")


def parser() -> Parser:
    """Return the parser of all subcommands; each sets `run`, a function of what was parsed.

    It also sets `help_text`, a function that returns what --help prints, and `work`, what it does.
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

    layout = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    whole = Parser(
        prog="private-ensembles",
        description="Private prediction from teacher ensembles: what labels cost, and labels.",
        **layout,
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    whole.set_defaults(run=output.print_help, help_text=whole.format_help, work="")
    commands = whole.add_subparsers(metavar="COMMAND")
    for module in (audit, verify, plan, release, session, gamma, compare):
        name = module.__name__.rpartition(".")[2]
        summary = module.__doc__.partition("\n")[0]
        epilog = "example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES)
        own = commands.add_parser(name, help=summary, description=summary, epilog=epilog, **layout)
        module.add_arguments(own)
        own.add_argument("--json", action="store_true", help="print JSON, for programs")
        own.set_defaults(run=module.run, help_text=own.format_help, work=summary)
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status.

    0: done, and what was asked about holds. 1: a claim or certificate does not hold, or two runs
    are not the same. 2: bad input, with one line on standard error that says what is wrong. 3:
    done, but there was no room to print it. 130: stopped by Ctrl-C.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("error: stopped by Ctrl-C", file=sys.stderr)
        return STOPPED


def _run(arguments: Sequence[str] | None) -> int:
    from private_ensembles.base.files import describe
    from private_ensembles.command.output import NotPrinted, announce_slow_work, guard_printing

    options = ""
    try:
        try:
            asked = parser().parse_args(arguments)
        except SystemExit:
            with guard_printing():  # of --help, perhaps to a reader who has seen enough
                pass
            raise
        options = asked.help_text()
        with announce_slow_work(f"{asked.work.rstrip('.')} ..."):
            return asked.run(asked)
    except NotPrinted as error:
        print(f"error: {error}", file=sys.stderr)
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
        print(f"error: {translate_to_options(describe(error), options)}", file=sys.stderr)
        return BAD_INPUT


def translate_to_options(message: str, help_text: str) -> str:
    """Return a message of the library with the names of its arguments as those of options.

    Names that are no option of the subcommand stay, and so does what a file is said to have.
    help_text: what --help prints, which shows every option.

    >>> translate_to_options("n_classes = 1: must be at least 2", "--classes N --labels N")
    '--classes = 1: must be at least 2'
    """
    options = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", help_text))

    def option(name: re.Match) -> str:
        word = _OTHER_NAMES.get(name[0], name[0]).replace("_", "-")
        return next((each for each in (f"--{word}", f"-{word}") if each in options), name[0])

    if "--absent" in options:  # a flag, which takes no value
        message = message.replace("absent=yes", "--absent")
    return _NAME.sub(option, message)
