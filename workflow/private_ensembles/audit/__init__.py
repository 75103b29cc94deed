"""Exact privacy of any label mechanism with finitely many vote histograms.

The audit sees a mechanism as a table of probabilities, or as a sampler, and a relation that says
which inputs are neighbours; never how the mechanism was derived. May import the floors up to
`accounting`. Public names resolve on first use.
"""

from importlib import import_module

_PUBLIC = {
    "exact_delta": "divergence",
    "exact_epsilon": "divergence",
    "delta_curve": "divergence",
    "renyi_curve": "divergence",
    "worst_pair": "divergence",
    "EpsilonBounds": "bounds",
    "epsilon_bounds": "bounds",
    "enumerate_histograms": "histograms",
    "neighbour_pairs": "histograms",
    "vote_neighbours": "histograms",
    "FiniteMechanism": "finite",
    "audit_function": "finite",
    "audit_shared_data": "finite",
    "SamplerBound": "any_sampler",
    "audit_sampler": "any_sampler",
    "reduced_histograms": "histograms",
    "sorted_histograms": "histograms",
    "two_class_matrix": "histograms",
    "two_class_pairs": "histograms",
    "leading_pairs": "histograms",
    "shared_data_curve": "shared_data",
    "shared_data_delta": "shared_data",
    "shared_data_epsilon": "shared_data",
    "worst_teachers": "shared_data",
    "epsilon_lower_bound": "sampler",
    "delta_lower_bound": "sampler",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
