"""Every way to make labels of votes, one file each: the one place where a mechanism is defined.

A file here is named after its mechanism and defines ``MECHANISM``, an instance of
`families.base.Mechanism`. The list of mechanisms is the list of these files; the planner, own
votes, the ledger, the audit and all tables are loops over it. docs/add-a-mechanism.md shows how to
add one. Knows neither files nor configuration. May import `noise`, `accounting`, `audit`, `votes`
and the papers' mathematics.
"""

from functools import cache
from importlib import import_module
from pathlib import Path

# Of one family, from the loosest analysis to the tightest.
ANALYSES = ("paper", "improved", "analytic", "label")


def names() -> list[str]:
    """Return the names of all mechanisms, sorted; imports none of them."""
    return sorted(_names())


@cache
def _names() -> frozenset[str]:
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return frozenset(stem for stem in stems if stem[0] != "_")


def load(name: str):
    """Return the mechanism of this name; ValueError if there is none.

    >>> load("gnmax").free
    {'cap': (0.02, 1.0)}
    """
    if name not in _names():
        raise ValueError(f"mechanism = {name!r}: must be one of {', '.join(every())}")
    return import_module(f"{__name__}.{name}").MECHANISM


@cache
def every() -> dict:
    """Return all mechanisms by name, in their order."""
    found = sorted(map(load, names()), key=lambda mechanism: (mechanism.order, mechanism.name))
    return {mechanism.name: mechanism for mechanism in found}


def offered() -> list[str]:
    """Return the names of those whose noise can be found for a budget, in their order."""
    return [name for name, mechanism in every().items() if mechanism.keeps_budget]


def aggregators() -> list:
    """Return PATE's aggregators, whose noise its configuration gives, in the papers' order."""
    found = [one for one in every().values() if one.aggregator is not None]
    return sorted(found, key=lambda one: one.aggregator)


def of_one_label() -> list:
    """Return those that have one label of a budget in DaRRM's tables and in the ledger.

    Confident-GNMax answers none for certain, so it is left to the planner. Families stay together,
    each from the loosest analysis to the tightest.
    """
    found = [one for one in every().values() if one.keeps_budget and not one.data_dependent]
    place = {}
    for one in found:
        place.setdefault(one.family or one.name, len(place))
    return sorted(
        found, key=lambda one: (place[one.family or one.name], ANALYSES.index(one.analysis))
    )
