"""The views that ``sections.yaml`` may name: functions of an item's tables and printed numbers."""

from private_ensembles.page import darrm_views, pivots

VIEWS = {
    "accuracy": darrm_views.accuracy,
    "privacy": darrm_views.privacy,
    "planner": pivots.planner,
    "many_labels": pivots.many_labels,
    "equal_budget": pivots.equal_budget,
    "leads": pivots.leads,
    "table2": pivots.table2,
}
