"""Tight baselines: what label mechanisms on votes can do at equal privacy, without a paper's slack.

All are for disjoint shards, where a neighbouring data set moves one teacher's vote. Public names
resolve on first use.
"""

from importlib import import_module

_PUBLIC = {
    "ladder_flips": "ladder",
    "ladder_matrix": "ladder",
    "optimal_two_class": "linear_program",
    "lnmax_matrix": "laplace",
    "lnmax_scale": "laplace",
    "lnmax_noisy_counts_delta": "laplace",
    "exponential_distribution": "exponential",
    "permute_and_flip_distribution": "exponential",
    "selection_rate": "exponential",
    "majority_cost": "budgets",
    "pld_epsilon": "budgets",
    "total_budgets": "budgets",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
