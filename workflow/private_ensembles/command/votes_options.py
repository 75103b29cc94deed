"""Options of every subcommand that reads votes, and what they mean.

They say how a file of votes is read, which queries are answered, and which public votes a profile
is fitted to.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from private_ensembles.command.numbers import parse_integer
from private_ensembles.labels.planner import defaults
from private_ensembles.release.files import formats


class TakesOptions(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **facts: object) -> object:
        """Add an option."""


if TYPE_CHECKING:  # --help reads no votes
    from private_ensembles.labels.votes import Votes
    from private_ensembles.release.pool import Pool

# The help says this of a file of votes.
FILE = f"a file {formats.list_endings()}; stays private"


# These facts are stated of a file. The workflow's keys and the reader's arguments have these names.
_READING = ("class_names", "first_class", "id_column", "truth_column", "ignore_columns")
_READING += ("long_columns", "absent_as")


class _AbsentAs(argparse.Action):
    """An option that says what an absent vote looks like, and so that votes may be absent."""

    def __call__(self, parser, options, value, name=None):
        options.absent_as, options.absent = value, True


def add_reading(parser: argparse.ArgumentParser, read: str = "the file of votes") -> None:
    """Add the options that say how a file of votes is read; `read` names the file in words."""
    files = parser.add_argument_group("reading", f"how {read} is read")
    files.add_argument(
        "--class-names",
        metavar="NAMES",
        help="of classes 0, 1, ...: cat,dog,bird, or a file with one on each line; votes may then "
        "be these words, and the labels have them, too",
    )
    files.add_argument(
        "--first-class",
        type=parse_integer,
        default=0,
        metavar="N",
        help="1 if classes count from 1; default 0",
    )
    files.add_argument(
        "--id",
        dest="id_column",
        metavar="COLUMN",
        help="what queries are called, which is public; default: a column id, query, query_id, "
        "index, or a first one without a name",
    )
    files.add_argument(
        "--truth",
        dest="truth_column",
        metavar="COLUMN",
        help="the right labels, if the file has them; default: a column label",
    )
    files.add_argument(
        "--ignore",
        dest="ignore_columns",
        metavar="COLUMN[,COLUMN]",
        help="columns that are no teacher's and none of the above, such as a prediction or a fold",
    )
    files.add_argument(
        "--long",
        dest="long_columns",
        metavar="QUERY,TEACHER,VOTE",
        help="the three columns of a file with one vote on each line, such as task,worker,label",
    )
    files.add_argument(
        "--absent-as",
        action=_AbsentAs,
        metavar="VALUE",
        help="what stands where a teacher gave no vote, such as 0 or ?; implies --absent, whose "
        "own are an empty cell, NA, NaN and -1",
    )
    files.add_argument(
        "--votes-kind",
        choices=("auto", "votes", "counts"),
        default="auto",
        help="votes: a column for each teacher; counts: one for each class; default auto: which "
        "of the two is found out",
    )


def add_most_ones(group: TakesOptions) -> None:
    """Add the option that says on how many queries one teacher votes 1 at most.

    A session has no such cap, so it lacks the option.
    """
    group.add_argument(
        "--most-ones",
        type=parse_integer,
        metavar="N",
        help="on how many queries one teacher votes 1 at most, of two classes: fewer labels are "
        "charged, and votes for 1 beyond this number count as 0; default: no limit",
    )


def add_answer(group: TakesOptions) -> None:
    """Add the option that says which queries are answered."""
    group.add_argument(
        "--answer",
        default="first",
        metavar="WHICH",
        help="which queries get the labels: first (default), in the file's order; random; or a "
        "file with an identifier, or a number from 0, on each line",
    )


def read_votes(
    options: argparse.Namespace, path: str | Path, classes: int | None, **stated: object
) -> Votes:
    """Return the votes of a file.

    Args:
        options: What was parsed.
        path: The file.
        classes: The number of classes.
        **stated: Arguments of `release.files.votes_reader.read_own_votes` that go before the
            options.

    Raises:
        ValueError: The file is not what was stated, as in `read_own_votes`.
    """
    from private_ensembles.release.files.votes_reader import read_own_votes

    return read_own_votes(path, **_collect_file_facts(options) | {"n_classes": classes} | stated)


def _collect_file_facts(options: argparse.Namespace) -> dict[str, object]:
    """Return what the options say of every file, votes to be released or a profile's."""
    return {name: getattr(options, name) for name in _READING} | {"kind": options.votes_kind}


def read_pool(options: argparse.Namespace, seed: int | None = None) -> Pool:
    """Return the votes to be released, in the order in which their queries are answered.

    Args:
        options: What was parsed.
        seed: The seed of a rehearsal; None for the operating system's entropy.

    Raises:
        ValueError: As in `release.pool.read_pool`.
    """
    from private_ensembles.release import pool

    file_facts = _collect_file_facts(options) | {
        "n_classes": options.classes,
        "absent": options.absent,
        "teachers": options.teachers,
        "most_ones": options.most_ones,
    }
    return pool.read_pool(options.votes, file_facts, options.answer, seed)


def count_classes(options: argparse.Namespace) -> int | None:
    """Return the number of classes that is stated, or the number of their names.

    Raises:
        ValueError: Neither is stated, or they differ.
    """
    from private_ensembles.release.class_names import read_class_names

    if options.class_names is None:
        if options.classes is None:
            raise ValueError("n_classes = None: must be given, or say class_names=NAME,NAME,...")
        return options.classes
    names = len(read_class_names(options.class_names))
    if options.classes not in (None, names):
        raise ValueError(f"n_classes = {options.classes}: must be {names}, as many as class_names")
    return names


def collect_file_facts(options: argparse.Namespace) -> dict[str, object]:
    """Return what is stated of the file, by the workflow's keys.

    The workflow has the same from `release.pool.collect_file_facts`.
    """
    keys = ("votes_kind", *_READING, "answer", "absent", "most_ones")
    facts = {key: getattr(options, key) for key in keys}
    return facts | {"n_teachers": options.teachers}


def read_profile(options: argparse.Namespace) -> dict:
    """Return the profile: stated, or fitted to public votes (`labels.profile_fit`).

    Raises:
        ValueError: Both are given, the file is that of the votes to be released, or its votes have
            too few labels.
    """
    stated = {key: getattr(options, key) for key in defaults.ASSUMED_PROFILE}
    file = getattr(options, "profile_from", None)
    if file is None:
        return stated
    from private_ensembles.labels.profile_fit import fit_profile

    as_tuples = {
        key: tuple(value) if isinstance(value, list) else value for key, value in stated.items()
    }
    if as_tuples != defaults.ASSUMED_PROFILE:
        raise ValueError(
            f"profile_from = {file!r}: must be given alone, "
            "without --easy-share, --easy, --hard, --confusion, --absent-share"
        )
    private = getattr(options, "votes", None)
    if private is not None and os.path.exists(private) and os.path.samefile(private, file):
        raise ValueError(
            f"profile_from = {file!r}: must be votes on public data, not those to be released"
        )
    try:
        stated = {"absent": False, "absent_as": None, "public": True}
        votes = read_votes(options, file, count_classes(options), **stated)
    except ValueError:
        # Absent votes are read only if the file cannot be read without them. The votes are public,
        # so what they lack may decide.
        if not options.absent:
            raise
        votes = read_votes(options, file, count_classes(options), absent=True, public=True)
    teachers = votes.n_teachers if votes.absent else None
    try:
        fitted = fit_profile(votes.cast_histogram(), votes.labels, teachers)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return {key: getattr(fitted, key) for key in defaults.ASSUMED_PROFILE}


def profile_text(options: argparse.Namespace, fitted: dict) -> list[str]:
    """Return a line that says which file the profile was fitted to, and how to state the profile.

    Args:
        options: What was parsed.
        fitted: The profile.

    Returns:
        One line, or none if the profile was not fitted.
    """
    file = getattr(options, "profile_from", None)
    if file is None:
        return []
    usual = {"commonest": None, "absent_share": 0}
    unusual = {key: value for key, value in fitted.items() if (key, value) not in usual.items()}
    numbers = {
        key: value if isinstance(value, tuple) else (value,) for key, value in unusual.items()
    }
    stated = " ".join(
        f"--{key.replace('_', '-')} {' '.join(f'{value:g}' for value in values)}"
        for key, values in numbers.items()
    )
    return [f"profile computed from votes on data that you say are public, {file}: {stated}"]
