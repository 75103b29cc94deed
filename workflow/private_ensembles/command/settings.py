"""What `plan` and `release` need to know about an ensemble: the planner's settings as options."""

from __future__ import annotations

import argparse

from private_ensembles import checks
from private_ensembles.command import votes_options
from private_ensembles.command.numbers import real, whole
from private_ensembles.mechanisms import registry
from private_ensembles.planner import defaults


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the budget, the privacy model and the stated profile."""
    budget, privacy, profile = defaults.BUDGET, defaults.PRIVACY, defaults.PROFILE
    for name, value in budget.items():
        said = f"of all labels; default {value:g}"
        parser.add_argument(f"--{name}", type=real, default=value, help=said)
    parser.add_argument(
        "--seed",
        type=whole,
        default=0,
        help="of the profile's votes and of a rehearsal's noise; default 0",
    )
    parser.add_argument(
        "--noise",
        choices=("secure", "reproducible"),
        default="secure",
        help="secure: exact samplers, the system's entropy (default); reproducible: a rehearsal",
    )
    model = parser.add_argument_group("privacy model")
    model.add_argument(
        "--privacy-model",
        default=privacy["privacy_model"],
        metavar="MODEL",
        help="disjoint_shards (default) or shared_data",
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


def of(options: argparse.Namespace, **sizes: int) -> dict:
    """Return the section `planner` that the options describe.

    sizes: teachers, n_classes, queries, labels. Raises ValueError for an unknown mechanism.
    """
    offered = registry.offered()
    for name in options.mechanism or ():
        checks.one_of(offered, mechanism=name)
    return defaults.settings(
        mechanisms=options.mechanism or offered,
        privacy_model=options.privacy_model,
        adjacency=options.adjacency,
        teacher_epsilon=options.teacher_epsilon,
        teacher_Delta=options.teacher_delta,
        profile=votes_options.profile(options),
        **sizes,
    )
