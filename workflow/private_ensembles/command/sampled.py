"""Say what labels cost if every query sees a sample of voters, or the noise that keeps a budget."""

from __future__ import annotations

import argparse

from private_ensembles.command.numbers import real, whole
from private_ensembles.command.output import emit, high, low, plain

EXAMPLES = (
    "private-ensembles sampled --teachers 250 --rate 0.1 --queries 100 --epsilon 1 --delta 1e-5",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `sampled` takes."""
    parser.add_argument("--mechanism", choices=("gnmax", "exponential"), default="gnmax")
    parser.add_argument("--teachers", type=whole, required=True, help="voters there are, or may be")
    parser.add_argument("--rate", type=real, required=True, help="of the sample, in (0, 1]")
    parser.add_argument("--queries", type=whole, required=True, help="labels in all")
    parser.add_argument("--classes", type=whole, default=2, help="default 2")
    parser.add_argument("--delta", type=real, required=True, help="of all labels together")
    parser.add_argument("--adjacency", choices=("add_remove", "replace_one"), default="add_remove")
    parser.add_argument("--nearest", type=whole, help="how many of the sample vote; default: all")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--epsilon", type=real, help="of all labels: find the noise")
    asked.add_argument("--scale", type=real, help="of the noise, in votes: say what labels cost")


def run(options: argparse.Namespace) -> int:
    """Print the scale and what labels cost at it; return 0."""
    from private_ensembles.api.sampling import sampled_epsilon, sampled_scale

    case = {
        name: getattr(options, name)
        for name in ("rate", "queries", "delta", "teachers", "adjacency", "classes", "nearest")
    }
    scale = options.scale
    if scale is None:
        scale = sampled_scale(options.mechanism, epsilon=options.epsilon, **case)
    bounds = sampled_epsilon(options.mechanism, scale, **case)
    report = {"mechanism": options.mechanism, **case, "scale": scale}
    report |= {"epsilon": bounds.upper, "epsilon_at_least": bounds.lower}
    votes = "whole sample" if options.nearest is None else f"{options.nearest} nearest of a sample"
    text = [
        f"{options.mechanism}, scale {scale:.6g} votes, the {votes} of rate {options.rate:g}",
        f"{options.queries} labels together: ({high(bounds.upper)}, {high(options.delta)})-DP for "
        f"{options.adjacency}; epsilon is at least {low(bounds.lower)}",
    ]
    emit(plain(report), text, as_json=options.json)
    return 0
