"""What labels cost a teacher by its own weight: individual guarantees, at the one noise there is.

The noise is for the largest weight. A teacher of less moves fewer votes of every query, so that
less can be told of its records. Weights are public, and so is whose guarantee is whose. Theorem
and proof: docs/ballots.md, "Each weight's own epsilon".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from private_ensembles.configuration.naming import at_most
from private_ensembles.release import certificate
from private_ensembles.release.certificate import Proof
from private_ensembles.release.release_plan import ReleasePlan

# So many different weights are accounted for one by one: each takes as long as the plan's own cost.
_MOST = 5


@dataclass(frozen=True)
class Own:
    """What all labels cost teachers of up to a weight, and what the verifier proves of it.

    teachers: how many have this weight, or one between it and the next smaller that is listed.
    """

    weight: int
    teachers: int
    epsilon: float
    proof: Proof


def by_weight(plan: ReleasePlan, epsilon: float | None = None) -> dict[int, float]:
    """Return the epsilon of all labels together for teachers of up to each weight, largest first.

    Upper bounds at the plan's delta. epsilon: what is stated of the largest weight; None: the
    plan's budget. Of more than five different weights five are listed, the largest and the smallest
    among them: a teacher of one between has the epsilon of the next larger one that is listed.
    Empty if no weights are stated, if a unit may reach several teachers, or if the privacy is the
    teachers' own.
    """
    weights = plan.task.weights
    if weights is None or plan.task.reach > 1 or not plan.mechanism.entry.hides_votes:
        return {}
    different = np.unique(weights)[::-1]
    if different.size > _MOST:
        different = different[np.linspace(0, different.size - 1, _MOST).round().astype(int)]
    most, found = plan.task.epsilon if epsilon is None else epsilon, {}
    for weight in different.tolist():
        if weight < plan.task.ballot:  # fewer votes that move cost no more
            most = min(most, _of_ballot(plan, weight).epsilon(plan.queries, plan.labels))
        found[weight] = most
    return found


def teachers_of(listed: Sequence[int], weights: Sequence[int]) -> dict[int, int]:
    """Return how many teachers have each listed weight, or one between it and the next smaller.

    >>> teachers_of([5, 1], (5, 3, 1, 1))
    {5: 2, 1: 2}
    """
    known = np.sort(np.asarray(listed))
    place = np.searchsorted(known, weights)
    return {weight: int((known[place] == weight).sum()) for weight in listed}


def lines(found: Mapping[int, float], weights: Sequence[int]) -> list[str]:
    """Return it as lines of text; none without weights.

    >>> lines({3: 1.0, 1: 0.339}, (3, 3, 1, 1, 1))
    ['by weight: up to 3: epsilon = 1 (2 teachers); up to 1: epsilon = 0.339 (3 teachers)']
    """
    if not found:
        return []
    numbers = teachers_of(list(found), weights)
    parts = [
        f"up to {weight}: epsilon = {at_most(own)} "
        f"({numbers[weight]} teacher{'s' * (numbers[weight] != 1)})"
        for weight, own in found.items()
    ]
    return [f"by weight: {'; '.join(parts)}"]


def proofs(plan: ReleasePlan, epsilon: float) -> tuple[Own, ...]:
    """Return what teachers of less than the largest weight are promised, each with its proof.

    epsilon: what is stated of the largest. A body that says why there is no certificate takes the
    place of one, as in `certificate.proof_or_reason`.
    """
    found = by_weight(plan, epsilon)
    numbers = teachers_of(list(found), plan.task.weights or ())
    return tuple(
        Own(
            weight, numbers[weight], own, certificate.proof_or_reason(_of_ballot(plan, weight), own)
        )
        for weight, own in found.items()
        if weight < plan.task.ballot
    )


def _of_ballot(plan: ReleasePlan, weight: int) -> ReleasePlan:
    """The plan as it concerns a teacher of this weight: the same noise, fewer votes that move."""
    return replace(plan, task=replace(plan.task, ballot=weight))
