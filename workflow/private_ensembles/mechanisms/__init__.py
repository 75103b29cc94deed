"""Mechanisms ready for use: what each makes of votes within a total budget, one file each.

A file is named after its mechanism in `registry.MECHANISMS` and defines ``MECHANISM``, a
`protocol.LabelMechanism`. The planner, the accounting of own votes, the audit and their tables and
figures take whatever is there; docs/add-a-mechanism.md shows how to add one. Knows neither files
nor configuration. May import `noise`, `accounting`, `audit`, `votes` and the papers' mathematics.
"""

from importlib import import_module
from importlib.util import find_spec

from private_ensembles.mechanisms import registry


def load(name: str):
    """Return the mechanism of this name.

    Raises ValueError where the registry does not know the name, or no file implements it.

    >>> load("gnmax").free
    {'cap': (0.02, 1.0)}
    """
    if name not in registry.MECHANISMS:
        raise ValueError(f"mechanism = {name!r}: must be one of {', '.join(registry.MECHANISMS)}")
    if find_spec(f"{__name__}.{name}") is None:
        raise ValueError(
            f"mechanism = {name!r}: is known, but has no file in private_ensembles/mechanisms"
        )
    return import_module(f"{__name__}.{name}").MECHANISM


def offered() -> list[str]:
    """Return the names that the registry knows and a file here implements, in its order."""
    return [name for name in registry.MECHANISMS if find_spec(f"{__name__}.{name}") is not None]
