"""Every mechanism of the registry as the audit sees it, and a doctored twin with less noise.

`entries`, `entries_at_noise` and `entries_of_bagging` give each mechanism's claim, exact privacy
loss and sampler.
`noise` = 1 is the mechanism; 0.5 is a twin whose noise is halved, which the audit must catch: a
test that cannot fail would be no test. Public names resolve on first use.
"""

from importlib import import_module

_PUBLIC = {
    "BaggingNoise": "entry",
    "ConfidentNoise": "entry",
    "Entry": "entry",
    "Setting": "entry",
    "Worst": "entry",
    "entries": "every",
    "entries_at_noise": "every",
    "entries_of_bagging": "every",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
