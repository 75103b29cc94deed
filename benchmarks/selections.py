"""Other libraries' selections by scores: what they claim, what is exact, and what they draw.

Each is held against a law, a function from scores to probabilities, by which the audit works out
the least epsilon (pure DP) or rho (zCDP) over all neighbouring scores of a grid. That the library
draws from this law, and not from another one that is at hand, is tested on its own draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from private_ensembles.audit.finite_mechanism import FiniteMechanism
from private_ensembles.audit.sampler import clopper_pearson
from private_ensembles.audit.verdicts import exceeds
from private_ensembles.labels.laws import exponential as permute_and_flip
from private_ensembles.labels.laws import gumbel as exponential_mechanism

EPSILON = 1.0
# Three candidates have scores from 0 to 6; a neighbour's may differ by these shifts.
HIGHEST = 6
SHIFTS = {
    "each score by at most 1": (-1, 0, 1),
    "all scores up by at most 1, or all down": (0, 1),
}
# Each test that a library draws from a law errs with this probability.
ERROR = 1e-9

Law = Callable[[NDArray], NDArray]


def gumbel(scale: float) -> Law:
    """Return the exponential mechanism: the largest score with Gumbel noise of this scale."""
    return lambda scores: exponential_mechanism.label_probabilities(scores, 1 / scale)


def exponential_noise(scale: float) -> Law:
    """Return permute-and-flip: the largest score with exponential noise of this scale."""
    return lambda scores: permute_and_flip.label_probabilities(scores, 1 / scale)


LAWS = {"exponential": gumbel, "permute_and_flip": exponential_noise}


@cache
def neighbours(shifts: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """Return all scores up to HIGHEST, (inputs, 3), and pairs of rows that the shifts connect."""
    scores = np.array(list(itertools.product(range(HIGHEST + 1), repeat=3)))
    weights = (HIGHEST + 1) ** np.arange(2, -1, -1)
    pairs = []
    for shift in itertools.product(shifts, repeat=3):
        shifted = scores + shift
        is_in_range = ((shifted >= 0) & (shifted <= HIGHEST)).all(axis=1) & bool(any(shift))
        pairs.append(
            np.stack([np.flatnonzero(is_in_range), shifted[is_in_range] @ weights], axis=1)
        )
    return scores, np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)


def judge(answer: dict) -> list[dict]:
    """Return rows for what a reproducer says of selections: claims, and which end is selected."""
    rows = [_judge_claim(selection) for selection in answer["selections"]]
    return rows + [_judge_end(**end) for end in answer["ends"]]


def _judge_claim(selection: dict) -> dict:
    """Return one claim, the least that is true on the grid, and what draws say of the law."""
    words = tuple(SHIFTS)[selection["monotonic"]]
    scale = (1 if selection["monotonic"] else 2) / EPSILON
    law = LAWS[selection["law"]](scale)
    (other_law,) = (make(scale) for name, make in LAWS.items() if name != selection["law"])
    scores, pairs = neighbours(SHIFTS[words])
    table = FiniteMechanism(scores, law(scores), pairs, relative_error=1e-12)
    # OpenDP's claim of zCDP is the exponential mechanism's epsilon^2 / 8; others claim epsilon.
    zero_concentrated = "ZeroConcentrated" in selection["mechanism"]
    exact = table.rho() if zero_concentrated else table.epsilon(0.0)
    fits, excluded = check_draws(selection["scores"], selection["counts"], law, other_law)
    if fits and excluded:
        verdict = "fails" if exceeds(exact, selection["claimed"]) else "holds"
    else:
        verdict = "another law is drawn"
    return {
        "part": "claim",
        "mechanism": selection["mechanism"],
        "neighbours": words,
        "measure": "rho" if zero_concentrated else "epsilon",
        "claimed": selection["claimed"],
        "lower": exact,
        "exact": exact,
        "verdict": verdict,
    }


def check_draws(inputs: list, counts: list, law: Law, other: Law) -> tuple[bool, bool]:
    """Tell whether draws are as the law has it, and whether they exclude the other one.

    Args:
        inputs: lists of scores.
        counts: how often each candidate was drawn, for each list.
        law: the law that is documented.
        other: the law that is excluded.
    """
    fits, excluded = True, False
    for scores, drawn in zip(inputs, np.array(counts), strict=True):
        low, high = clopper_pearson(drawn, int(drawn.sum()), ERROR)
        expected, unexpected = (
            make_probabilities(np.array([scores]))[0] for make_probabilities in (law, other)
        )
        fits &= bool(((low <= expected) & (expected <= high)).all())
        excluded |= bool(((unexpected < low) | (unexpected > high)).any())
    return fits, excluded


def _judge_end(mechanism: str, counts: list[int]) -> dict:
    """Return which of the scores 0, 5 and 10 is selected if there is next to no noise."""
    total = sum(counts)
    return {
        "part": "observation",
        "mechanism": mechanism,
        "done": f"{total} draws at scores 0, 5, 10 with next to no noise",
        "seen": f"largest {counts[-1]} times, smallest {counts[0]} times",
        "expected": f"largest {total} times",
        "verdict": "as expected" if counts[-1] == total else "differs",
    }


@cache
def list_other_law() -> list[dict]:
    """Return the zCDP claim's worth if permute-and-flip were drawn: OpenDP's issue 2911."""
    scores, pairs = neighbours(SHIFTS["each score by at most 1"])
    matrix = exponential_noise(2 / EPSILON)(scores)
    exact = FiniteMechanism(scores, matrix, pairs, relative_error=1e-12).rho()
    return [
        {"mechanism": "permute-and-flip under the exponential mechanism's claim", "exact": exact}
    ]
