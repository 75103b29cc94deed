"""What `plan` and `release` need to know about an ensemble: the planner's settings as options."""

from __future__ import annotations

import argparse

from private_ensembles import checks
from private_ensembles.command import votes_options
from private_ensembles.command.numbers import real, whole
from private_ensembles.mechanisms import registry
from private_ensembles.planner import defaults
from private_ensembles.release.facts import MODELS, Facts, stated


def add_arguments(parser: argparse.ArgumentParser, *, seed: str, draws: bool = True) -> None:
    """Add the budget, the facts on which it rests, and the stated profile.

    seed: what the option of this name does, in words. draws: whether labels may come of it: then
    facts must be stated, and what is of little use has to be allowed.
    """
    shards = None if draws else "disjoint"
    budget, privacy, profile = defaults.BUDGET, defaults.PRIVACY, defaults.PROFILE
    for name, value in budget.items():
        said = f"of all labels; default {value:g}"
        parser.add_argument(f"--{name}", type=real, default=value, help=said)
    parser.add_argument(
        "--seed",
        type=whole,
        default=0,
        help=f"{seed}; default 0",
    )
    parser.add_argument(
        "--noise",
        choices=("secure", "reproducible"),
        default="secure",
        help="secure: exact samplers, the system's entropy (default); reproducible: a rehearsal",
    )
    model = parser.add_argument_group("what is protected: facts that nothing in the votes shows")
    model.add_argument(
        "--shards",
        choices=tuple(MODELS),
        default=shards,
        help="disjoint: no record is in the data of two teachers; shared: one may be; "
        + (f"default {shards}" if shards else "must be stated but for a rehearsal"),
    )
    model.add_argument(
        "--unit", default="record", help="what one record is, such as patient; default record"
    )
    model.add_argument(
        "--reach",
        type=whole,
        default=1,
        metavar="N",
        help="the most shards that the data of one unit may be in; default 1",
    )
    model.add_argument(
        "--absent",
        action="store_true",
        help="a teacher may say nothing about a query (an empty cell, or -1); whether it did is "
        "protected as its vote is",
    )
    model.add_argument(
        "--adjacency",
        default=privacy["adjacency"],
        metavar="RELATION",
        help="replace_one (default) or add_remove",
    )
    model.add_argument("--teacher-epsilon", type=real, help="of private teachers (add_remove)")
    model.add_argument(
        "--teacher-delta", type=real, default=privacy["teacher_Delta"], help="theirs; default 0"
    )
    model.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help="consider this one; may be given several times; default all",
    )
    stated = parser.add_argument_group(
        "stated profile of how teachers agree: from public data, never from the votes"
    )
    stated.add_argument("--easy-share", type=real, default=profile["easy_share"], metavar="S")
    stated.add_argument("--easy", type=real, nargs=2, default=profile["easy"], metavar=("A", "B"))
    stated.add_argument("--hard", type=real, nargs=2, default=profile["hard"], metavar=("A", "B"))
    stated.add_argument("--confusion", type=real, default=profile["confusion"], metavar="C")
    stated.add_argument(
        "--commonest",
        type=real,
        metavar="SHARE",
        help="of the commonest class, to compare with; default: all classes are alike likely",
    )
    stated.add_argument(
        "--absent-share",
        type=real,
        default=profile["absent_share"],
        metavar="SHARE",
        help="of ballots that are absent; default 0; above it only with --absent",
    )
    if draws:
        parser.add_argument(
            "--anyway",
            action="store_true",
            help="go on if too few labels are expected to be right to be of use",
        )


def of(options: argparse.Namespace, **sizes: int) -> dict:
    """Return the section `planner` that the options describe.

    sizes: teachers, n_classes, queries, labels. Raises ValueError for an unknown mechanism.
    """
    offered = registry.offered()
    for name in options.mechanism or ():
        checks.one_of(offered, mechanism=name)
    return defaults.settings(
        mechanisms=options.mechanism or offered,
        privacy_model=MODELS[options.shards or "disjoint"],
        adjacency=options.adjacency,
        teacher_epsilon=options.teacher_epsilon,
        teacher_Delta=options.teacher_delta,
        profile=votes_options.profile(options),
        **sizes,
    )


def facts_of(options: argparse.Namespace) -> Facts:
    """Return the facts that the options state; ValueError if those of a release are not stated."""
    secure = options.noise == "secure"
    try:
        return stated(options.shards, options.unit, options.reach, secure=secure)
    except ValueError as error:
        raise ValueError(str(error).replace("shards: must", "--shards: must")) from None
