"""NZC (Near-Zero-Cost, under review at ICLR 2020): immutable noisy ArgMax, its claim, the truth.

Its privacy claim is false (docs/nzc.md): nothing released by it is private. The mathematics of that
paper alone. May import the floors up to `votes`. Public names resolve on first use.
"""

from importlib import import_module

_PUBLIC = {
    "immutable_noisy_argmax": "mechanism",
    "label_distribution": "mechanism",
    "claimed_epsilon": "claims",
    "claimed_gaussian_epsilon": "claims",
    "claimed_readings": "claims",
    "immutability_constant": "claims",
    "delta_by_lead": "truth",
    "lead_one_epsilon": "truth",
    "proven_epsilon": "truth",
    "distance_shares": "ensembles",
    "label_accuracies": "ensembles",
    "leads": "ensembles",
    "teacher_curve": "ensembles",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
