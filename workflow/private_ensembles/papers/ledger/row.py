"""One row of the privacy ledger: what is claimed, what is proven, and what is true."""

from __future__ import annotations

from private_ensembles.audit.verdicts import exceeds, verdict
from private_ensembles.base import checks
from private_ensembles.labels import registry

_TRUE = ("holds", "proven")


def ledger_row(
    mechanism: str,
    setting: str,
    *,
    delta: float,
    privacy_model: str = "disjoint_shards",
    adjacency: str = "replace_one",
    claimed_epsilon: float | None = None,
    proven_epsilon: float | None = None,
    exact_epsilon: float | None = None,
    lower_epsilon: float | None = None,
    proof: str | None = None,
) -> dict[str, object]:
    """Return a row, its verdict computed: a mechanism in one setting, for one kind of neighbours.

    Args:
        mechanism: a name, whose guarantee must cover privacy_model and adjacency.
        setting: in words.
        delta: of all epsilons.
        privacy_model: whether teachers share data.
        adjacency: how neighbours differ.
        claimed_epsilon: what the paper (or the literature) says at delta, in nats, or None.
        proven_epsilon: the least upper bound that this package proves at delta, or None.
        exact_epsilon: the audit's value at delta, an upper bound up to rounding, or None.
        lower_epsilon: what is proven not to be enough, if the exact value is not known, or None.
        proof: the page of docs/ and the section with the theorem that proven_epsilon rests on;
            None: the mechanism's own.

    Returns:
        These by name, the proof empty if nothing is proven of the claim; and verdict: as
        `audit.verdicts.verdict` has it; data_dependent: the cost is a function of the votes;
        release: labels (and costs) may leave the workflow, only if the mechanism's do and the claim
        is proven or holds.

    Raises:
        ValueError: the guarantee does not cover the model or the adjacency, an epsilon is negative
            or NaN, delta is outside [0, 1], or a proven epsilon is below the exact one, which no
            proof can give.
    """
    entry = registry.get_entry(mechanism)
    entry.require_coverage(privacy_model, adjacency)
    epsilons = {
        "claimed_epsilon": claimed_epsilon,
        "proven_epsilon": proven_epsilon,
        "exact_epsilon": exact_epsilon,
        "lower_epsilon": lower_epsilon,
    }
    known_epsilons = {name: value for name, value in epsilons.items() if value is not None}
    checks.check_number(at_least=0, **known_epsilons)
    checks.check_probability(delta=delta)
    for audited_epsilon in (exact_epsilon, lower_epsilon):
        if None not in (proven_epsilon, audited_epsilon) and exceeds(
            audited_epsilon, proven_epsilon
        ):
            raise ValueError(
                f"proven_epsilon = {proven_epsilon}: must not be below the exact {audited_epsilon}"
            )
    outcome = verdict(claimed_epsilon, proven_epsilon, exact_epsilon, lower_epsilon)
    if outcome == "unproven":
        proof = ""
    elif proof is None:
        proof = entry.origin.proof
    return {
        "mechanism": mechanism,
        "setting": setting,
        "claimed_epsilon": claimed_epsilon,
        "proven_epsilon": proven_epsilon,
        "exact_epsilon": exact_epsilon,
        "delta": delta,
        "privacy_model": privacy_model,
        "adjacency": adjacency,
        "data_dependent": entry.guarantee.data_dependent,
        "release": entry.guarantee.holds and outcome in _TRUE,
        "verdict": outcome,
        "lower_epsilon": lower_epsilon,
        "proof": proof,
    }
