"""What a plan takes for granted unless it is told otherwise, for those who run no workflow.

The workflow's plans take the same from config.yaml, where it can be changed. A test compares the
two.
"""

from __future__ import annotations

from private_ensembles.labels import registry
from private_ensembles.labels.assumed_profile import ASSUMED_PROFILE

# All labels together may cost this much.
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
PRIVACY = {
    "privacy_model": "disjoint_shards",
    "adjacency": "replace_one",
    "teacher_epsilon": None,
    "teacher_Delta": 0.0,
}


def planner_settings(**stated) -> dict:
    """Return the section `planner` of the configuration, with `stated` in place of its defaults.

    >>> planner_settings(adjacency="add_remove")["adjacency"], planner_settings()["privacy_model"]
    ('add_remove', 'disjoint_shards')
    """
    return {
        "mechanisms": registry.offered_mechanisms(),
        **PRIVACY,
        "profile": ASSUMED_PROFILE,
    } | stated
