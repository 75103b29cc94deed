"""PATE's mechanisms on votes: what is released, and what it costs.

The mathematics of that paper alone. May import the floors up to `votes`. Public names resolve on
first use, so that importing one module does not import its neighbours.
"""

from importlib import import_module

_PUBLIC = {
    "analytic_epsilon": "gnmax",
    "compose_rounds": "confident",
    "confident_gnmax_privacy": "confident",
    "gnmax_distribution": "gnmax_quadrature",
    "gnmax_log_distribution": "gnmax_quadrature",
    "gnmax_privacy": "confident",
    "gnmax_rdp": "rdp",
    "gnmax_sigma": "gnmax",
    "gnss_rdp": "sanitize",
    "label_probability": "gnmax",
    "lnmax_distribution": "lnmax_quadrature",
    "lnmax_privacy": "lnmax",
    "lnmax_rdp": "lnmax",
    "search_sigma": "gnmax",
    "sigma_curve": "gnmax",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
