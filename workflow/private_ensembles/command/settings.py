"""What `plan` and `release` need to know about an ensemble: the planner's settings as options."""

from __future__ import annotations

import argparse

from private_ensembles import checks
from private_ensembles.api.profile import PROFILE
from private_ensembles.command.numbers import real, whole

# As the section `planner` of config.yaml has them.
DEFAULTS = {
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0.0,
    "profile": PROFILE,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the budget, the privacy model and the stated profile."""
    parser.add_argument("--epsilon", type=real, default=1.0, help="of all labels; default 1")
    parser.add_argument("--delta", type=real, default=1e-5, help="of all labels; default 1e-5")
    parser.add_argument("--seed", type=whole, default=0, help="of the profile's votes; default 0")
    parser.add_argument(
        "--noise",
        choices=("secure", "reproducible"),
        default="secure",
        help="secure: exact samplers, the system's entropy (default); reproducible: a rehearsal",
    )
    model = parser.add_argument_group("privacy model")
    model.add_argument(
        "--privacy-model",
        default=DEFAULTS["privacy_model"],
        metavar="MODEL",
        help="disjoint_shards (default) or shared_data",
    )
    model.add_argument(
        "--adjacency",
        default=DEFAULTS["adjacency"],
        metavar="RELATION",
        help="replace_one (default) or add_remove",
    )
    model.add_argument("--teacher-epsilon", type=real, help="of private teachers (add_remove)")
    model.add_argument("--teacher-delta", type=real, default=0.0, help="theirs; default 0")
    model.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help="consider this one; may be given several times; default all",
    )
    profile = parser.add_argument_group(
        "stated profile of how teachers agree: from public data, never from the votes"
    )
    stated = DEFAULTS["profile"]
    profile.add_argument("--easy-share", type=real, default=stated["easy_share"], metavar="S")
    profile.add_argument("--easy", type=real, nargs=2, default=stated["easy"], metavar=("A", "B"))
    profile.add_argument("--hard", type=real, nargs=2, default=stated["hard"], metavar=("A", "B"))
    profile.add_argument("--confusion", type=real, default=stated["confusion"], metavar="C")


def of(options: argparse.Namespace, **sizes: int) -> dict:
    """Return the section `planner` that the options describe.

    sizes: teachers, n_classes, queries, labels. Raises ValueError for an unknown mechanism.
    """
    from private_ensembles import mechanisms

    offered = mechanisms.offered()
    for name in options.mechanism or ():
        checks.one_of(offered, mechanism=name)
    profile = {key: getattr(options, key) for key in DEFAULTS["profile"]}
    return {
        "mechanisms": options.mechanism or offered,
        "privacy_model": options.privacy_model,
        "adjacency": options.adjacency,
        "teacher_epsilon": options.teacher_epsilon,
        "teacher_Delta": options.teacher_delta,
        "profile": profile,
        **sizes,
    }
