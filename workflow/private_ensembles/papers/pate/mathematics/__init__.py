"""PATE's mechanisms on votes: what is released, and what it costs.

Public names resolve on first use, so that importing one module does not import its neighbours.
"""

from importlib import import_module

_PUBLIC = {
    "analytic_epsilon": "labels.gnmax",
    "compose_rounds": "papers.pate.mathematics.confident",
    "confident_gnmax_privacy": "papers.pate.mathematics.confident",
    "gnmax_distribution": "labels.gnmax_quadrature",
    "gnmax_log_distribution": "labels.gnmax_quadrature",
    "gnmax_privacy": "papers.pate.mathematics.confident",
    "gnmax_rdp": "papers.pate.mathematics.rdp",
    "gnmax_sigma": "labels.gnmax",
    "gnss_rdp": "papers.pate.mathematics.sanitize",
    "label_probability": "labels.gnmax",
    "lnmax_distribution": "labels.lnmax_quadrature",
    "lnmax_privacy": "papers.pate.mathematics.lnmax",
    "lnmax_rdp": "papers.pate.mathematics.lnmax",
    "search_sigma": "labels.gnmax",
    "sigma_curve": "labels.gnmax",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"private_ensembles.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
