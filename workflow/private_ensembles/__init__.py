"""What K teachers' votes may release, at what privacy cost, and how often the label is right.

Offers one function for each question of a user, loaded when it is first asked for (`__all__`), and
imports nothing: a script that needs `darrm` must not pay for, nor depend on, `teachers`.

>>> from private_ensembles import noise_scale
>>> round(noise_scale("gnmax", epsilon=1, delta=1e-5, labels=20, teachers=51), 2)
19.5
"""

__version__ = "0.1.0"

# Name: the module that has it, and what it is called there.
_PUBLIC = {
    "plan": ("api.planning", "plan"),
    "release_labels": ("api.releasing", "release_labels"),
    "noise_scale": ("api.noise", "noise_scale"),
    "label_epsilon": ("api.noise", "label_epsilon"),
    "audit_mechanism": ("api.auditing", "audit_mechanism"),
    "dpsgd_epsilon": ("api.training", "dpsgd_epsilon"),
    "optimize_gamma": ("darrm.optimize", "optimize_gamma"),
    "certify": ("darrm.certificate", "certify"),
    "release_darrm": ("darrm.release", "release"),
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PUBLIC[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
