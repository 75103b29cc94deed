"""Say what draws by bounded scores cost, such as a language model's tokens, or what is allowed."""

from __future__ import annotations

import argparse

from private_ensembles.command.numbers import real, whole
from private_ensembles.command.output import emit, high, low

EXAMPLES = (
    "private-ensembles scores --epsilon 3 --draws 500 --delta 1e-6",
    "private-ensembles scores --range 0.0544 --draws 500 --delta 1e-6",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `scores` takes."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--epsilon", type=real, help="of all draws: what range may scores have?")
    asked.add_argument(
        "--range",
        type=real,
        help="of the scores' change, largest less least: what do draws cost?",
    )
    parser.add_argument("--draws", type=whole, required=True, help="classes drawn, such as tokens")
    parser.add_argument("--delta", type=real, required=True, help="of all draws")


def run(options: argparse.Namespace) -> int:
    """Print the range that a budget allows, or what draws of a range cost; return 0."""
    from private_ensembles.api.scores import score_epsilon, score_scale

    draws, delta = options.draws, options.delta
    of_draws = f"{draws:,} draws" if draws != 1 else "1 draw"
    if options.range is None:
        found = score_scale(options.epsilon, draws, delta)
        value = {"range": found}
        text = [
            f"range {low(found)} at most: {of_draws} then cost "
            f"({high(options.epsilon)}, {high(delta)})"
        ]
    else:
        bounds = score_epsilon(options.range, draws, delta)
        value = {"epsilon": bounds.upper, "not_below": bounds.lower}
        text = [
            f"{of_draws} cost at most ({high(bounds.upper)}, {high(delta)}); "
            f"epsilon is not below {low(bounds.lower)}"
        ]
    emit(value | {"draws": draws, "delta": delta}, text, as_json=options.json)
    return 0
