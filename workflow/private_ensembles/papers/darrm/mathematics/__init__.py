"""DaRRM: optimal, certified noise for the majority vote of private teachers.

The mathematics of that paper alone.
"""

from importlib import import_module

_PUBLIC = {
    "optimize_gamma": "optimize",
    "GammaSolution": "optimize",
    "certify": "certificate",
    "Certificate": "certificate",
    "scale_to_allowance": "certificate",
    "gamma_constant": "gamma",
    "gamma_subsampling": "gamma",
    "gamma_double_subsampling": "gamma",
    "gamma_from_probabilities": "generality",
    "expected_error": "error",
    "error_at": "error",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    # Modules are loaded late, so that a script that needs one does not wait for the others.
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
