"""What a plan takes for granted unless it is told otherwise, for who runs no workflow.

The workflow's plans have the same in config.yaml, where it is changed; a test compares the two.
"""

from __future__ import annotations

from private_ensembles.labels import registry
from private_ensembles.labels.assumed_profile import PROFILE

# Of all labels together.
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
PRIVACY = {
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0.0,
}


def settings(**stated) -> dict:
    """Return the section `planner` of the configuration, with `stated` in place of what it says.

    >>> settings(adjacency="add_remove")["adjacency"], settings()["privacy_model"]
    ('add_remove', 'disjoint_shards')
    """
    return {"mechanisms": registry.offered(), **PRIVACY, "profile": PROFILE} | stated
