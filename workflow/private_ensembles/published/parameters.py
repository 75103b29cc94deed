"""With which parameters printed numbers are claimed, and which of them a run has changed.

A number computed with other parameters than its paper's is compared with nothing: it is
`not_comparable`, and its note names what differs.
"""

import math
from collections.abc import Iterable, Mapping


def differences(ours: Mapping, theirs: Mapping, names: Iterable[str]) -> str:
    """Return a note on the parameters that differ, empty where none does.

    ours, theirs: nested mappings. names: dotted names of what counts, each a value or a group of
    them. What `ours` does not hold was not used, and is not compared.
    """
    mine, printed, asked = _flat(ours), _flat(theirs), tuple(names)
    found = [
        f"{name} = {mine[name]}, not {value}"
        for name, value in printed.items()
        if any(name == one or name.startswith(f"{one}.") for one in asked)
        and name in mine
        and not _equal(mine[name], value)
    ]
    return f"Not the paper's parameters: {'; '.join(found)}." if found else ""


def _flat(settings: Mapping, prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=0.0)
    return ours == theirs
