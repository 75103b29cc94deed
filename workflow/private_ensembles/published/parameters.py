"""With which parameters printed numbers are claimed, and which of them a run has changed.

A number computed with other parameters than its paper's is compared with nothing: it is
`not_comparable`, and its note names what differs.
"""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from private_ensembles.published import declarations
from private_ensembles.published.declarations import Paper
from private_ensembles.published.printed import Key
from private_ensembles.published.rules import first_that_fits


def differences(ours: Mapping, theirs: Mapping, names: Iterable[str]) -> str:
    """Name the parameters that differ, empty if none does: "K = 5, not 11; prior = ...".

    ours, theirs: nested mappings. names: dotted names of what counts, each a value or a group of
    them. What `ours` does not hold was not used, and is not compared.
    """
    mine, printed, asked = flat(ours), flat(theirs), tuple(names)
    return "; ".join(
        f"{name} = {mine[name]}, not {value}"
        for name, value in printed.items()
        if any(name == path or name.startswith(f"{path}.") for path in asked)
        and name in mine
        and not _equal(mine[name], value)
    )


def altered(paper: Paper, key: Key, table: str, settings: Mapping) -> str:
    """Say of the number at `key`, of our `table`, which of the paper's parameters it lacks."""
    rule = first_that_fits(paper.rests_on, key, table)
    if rule is None:
        return ""
    names = [name.format(**key._asdict()) for name in rule.parameters]
    return differences(settings, paper.parameters, names)


def claims_of(published: pd.DataFrame, tasks: Mapping[str, Mapping]) -> pd.DataFrame:
    """Return the printed numbers but those of PATE's tasks that run with other parameters.

    tasks: by name, the settings of PATE's tasks; one that the paper does not have has no claims.
    """
    printed = declarations.paper("pate").parameters
    changed = [name for name in tasks if differences(tasks, printed, [name])]
    return published[~((published["paper"] == "pate") & published["dataset"].isin(changed))]


def flat(settings: Mapping, prefix: str = "") -> dict[str, object]:
    """Return nested settings by dotted names."""
    numbers: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            numbers.update(flat(value, f"{prefix}{name}."))
        else:
            numbers[f"{prefix}{name}"] = value
    return numbers


def _equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return ours == theirs
