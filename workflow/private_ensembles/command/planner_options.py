"""What `plan`, `release` and `session` ask about an ensemble: the planner's settings as options."""

from __future__ import annotations

import argparse
from typing import Any

from private_ensembles.base import checks
from private_ensembles.command import votes_options
from private_ensembles.command.numbers import parse_integer, parse_real
from private_ensembles.command.votes_options import TakesOptions
from private_ensembles.labels import registry
from private_ensembles.labels.planner import defaults
from private_ensembles.labels.task import PRIVACY_MODELS, Protection, protection_from_options


def add_ensemble(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options that say who votes, and on what.

    Args:
        parser: The parser that gets the options.
        required: Whether parsing asks for the number of teachers. A release asks for it later,
            when it has seen the file.
    """
    privacy = defaults.PRIVACY
    ensemble = parser.add_argument_group("ensemble", "who votes, and on what")
    ensemble.add_argument(
        "--teachers",
        type=parse_integer,
        required=required,
        metavar="N",
        help="how many vote; the promise rests on it, so it must be stated",
    )
    ensemble.add_argument(
        "--classes",
        type=parse_integer,
        metavar="N",
        help="among how many labels, never read off the votes; default: as many as --class-names",
    )
    ensemble.add_argument(
        "--absent",
        action="store_true",
        help="a teacher may say nothing about a query (an empty cell, or -1); whether it did is "
        "protected as its vote is",
    )
    ensemble.add_argument(
        "--teacher-epsilon",
        type=parse_real,
        metavar="X",
        help="what each teacher costs, if teachers are trained privately (add_remove)",
    )
    ensemble.add_argument(
        "--teacher-delta",
        type=parse_real,
        default=privacy["teacher_Delta"],
        metavar="X",
        help="the delta of that cost; default 0",
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what all labels may cost."""
    budget = parser.add_argument_group("budget", "what the labels may cost")
    meanings = "what they may cost, all together", "the delta of that cost"
    for (name, value), words in zip(defaults.BUDGET.items(), meanings, strict=True):
        budget.add_argument(
            f"--{name}",
            type=parse_real,
            default=value,
            metavar="X",
            help=f"{words}; default {value:g}",
        )


def add_protection(parser: argparse.ArgumentParser, *, shards: str | None = None) -> None:
    """Add the options that say whom the labels protect.

    Args:
        parser: The parser that gets the options.
        shards: The default of `--shards`. With None it must be stated where labels are released.
    """
    privacy = defaults.PRIVACY
    description = "whom the labels protect: facts that nothing in the votes shows"
    model = parser.add_argument_group("protection", description)
    model.add_argument(
        "--shards",
        choices=tuple(PRIVACY_MODELS),
        default=shards,
        help="disjoint: no record is in the data of two teachers; shared: one may be; "
        + (f"default {shards}" if shards else "must be stated, unless it is a rehearsal"),
    )
    model.add_argument(
        "--unit", default="record", help="what one record is, such as patient; default record"
    )
    model.add_argument(
        "--reach",
        type=parse_integer,
        default=1,
        metavar="N",
        help="the most shards that the data of one unit may be in; default 1",
    )
    model.add_argument(
        "--adjacency",
        default=privacy["adjacency"],
        metavar="RELATION",
        help="how neighbouring data differ: replace_one (default) or add_remove",
    )


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the teachers agree and which mechanisms are considered."""
    profile: dict[str, Any] = defaults.ASSUMED_PROFILE
    description = "how the teachers agree, by which the mechanism is chosen: from public data alone"
    stated = parser.add_argument_group("profile", description)
    stated.add_argument(
        "--profile-from",
        metavar="FILE",
        help="votes with known labels on data that are public: the profile is fitted to them, "
        "in place of --easy-share, --easy, --hard and --confusion",
    )
    stated.add_argument(
        "--easy-share",
        type=parse_real,
        default=profile["easy_share"],
        metavar="SHARE",
        help=f"the share of queries that are easy; default {profile['easy_share']:g}",
    )
    for name in ("easy", "hard"):
        first, second = profile[name]
        stated.add_argument(
            f"--{name}",
            type=parse_real,
            nargs=2,
            default=profile[name],
            metavar=("A", "B"),
            help=f"the share of right votes on {name} queries has the law Beta(A, B); default "
            f"{first:g} {second:g}",
        )
    stated.add_argument(
        "--confusion",
        type=parse_real,
        default=profile["confusion"],
        metavar="C",
        help="wrong votes are spread over the other classes by a Dirichlet law of parameter C: "
        f"less puts more of them into one class; default {profile['confusion']:g}",
    )
    stated.add_argument(
        "--commonest",
        type=parse_real,
        metavar="SHARE",
        help="the share of queries whose right label is the commonest class, to compare with; "
        "default: all classes are equally common",
    )
    stated.add_argument(
        "--absent-share",
        type=parse_real,
        default=profile["absent_share"],
        metavar="SHARE",
        help="the share of votes that are absent; default 0; more needs --absent",
    )
    stated.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help="consider this one alone; may be given several times; default: all, of which the "
        "best is taken",
    )


def add_noise(group: TakesOptions, *, seed: str) -> None:
    """Add the options that say which noise is drawn; `seed` says what `--seed` is for."""
    group.add_argument(
        "--noise",
        choices=("secure", "reproducible"),
        default="secure",
        help="secure (default): exact samplers, and the operating system's entropy; reproducible: "
        "a rehearsal, from a seed",
    )
    group.add_argument(
        "--seed", type=parse_integer, default=0, metavar="N", help=f"{seed}; default 0"
    )


def add_anyway(group: TakesOptions) -> None:
    """Add the option that lets a release go on where it would otherwise stop."""
    group.add_argument(
        "--anyway",
        action="store_true",
        help="go on even if too few labels are expected to be right to be of use",
    )


def build_planner_settings(options: argparse.Namespace, **sizes: int) -> dict:
    """Return the section `planner` that the options describe.

    Args:
        options: What was parsed.
        **sizes: The keys teachers, n_classes, queries and labels.

    Raises:
        ValueError: A mechanism is unknown.
    """
    offered = registry.offered_mechanisms()
    for name in options.mechanism or ():
        checks.check_choice(offered, mechanism=name)
    return defaults.planner_settings(
        mechanisms=options.mechanism or offered,
        privacy_model=PRIVACY_MODELS[options.shards or "disjoint"],
        adjacency=options.adjacency,
        teacher_epsilon=options.teacher_epsilon,
        teacher_Delta=options.teacher_delta,
        profile=votes_options.read_profile(options),
        **sizes,
    )


def protection_of(options: argparse.Namespace) -> Protection:
    """Return who is protected.

    Raises:
        ValueError: Labels are to be released and `--shards` was not stated.
    """
    stated = options.shards, options.unit, options.reach, options.adjacency
    try:
        return protection_from_options(*stated, secure=options.noise == "secure")
    except ValueError as error:
        raise ValueError(str(error).replace("shards: must", "--shards: must")) from None
