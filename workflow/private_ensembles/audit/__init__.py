"""Exact privacy of any label mechanism with finitely many vote histograms.

The audit sees a mechanism as a table of probabilities, or as a sampler, and a relation that says
which inputs are neighbours. It never sees how the mechanism was derived. This room may import the
floors up to `accounting`. Public names resolve on first use.
"""

from importlib import import_module

_MODULES = {
    "divergence": ("exact_delta", "exact_epsilon", "delta_curve", "renyi_curve", "worst_pair"),
    "bounds": ("EpsilonBounds", "epsilon_bounds"),
    "histograms": (
        "enumerate_histograms",
        "neighbour_pairs",
        "vote_neighbours",
        "reduced_histograms",
        "count_sorted_histograms",
        "two_class_matrix",
        "two_class_pairs",
        "leading_pairs",
    ),
    "finite_mechanism": ("FiniteMechanism", "audit_function", "audit_shared_data"),
    "sampler": ("SamplerBound", "audit_sampler", "epsilon_lower_bound", "delta_lower_bound"),
    "shared_data": (
        "shared_data_curve",
        "shared_data_delta",
        "shared_data_epsilon",
        "worst_teachers",
    ),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
