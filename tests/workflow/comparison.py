"""What two runs with the same seed must have in common: everything but a stated list."""

import hashlib
import json
import re
from pathlib import Path

from private_ensembles.run.comparison import VOLATILE

# What else differs between two runs by its nature, and nothing more (results/README.md says the
# same).
VOLATILE_KEYS = {"darrm/gamma": [("solver", "seconds")]}
# The page's part about revisions, versions, machine and times (report/templates/index.html).
VOLATILE_PART = re.compile(rb"<!-- varies from run to run -->.*?<!-- /varies -->", re.DOTALL)


def contents(folder: Path) -> dict[str, str]:
    """Return the sha256 of every result of a run by its path below `folder`/results.

    JSON is compared without its volatile keys, the page without its volatile part, all other files
    byte for byte.
    """
    results = folder / "results"
    found = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        if not path.is_file():
            continue
        if name == "README.md" or name.startswith(VOLATILE):
            continue
        data = path.read_bytes()
        for start, keys in VOLATILE_KEYS.items():
            if name.startswith(start):
                data = _without(json.loads(data), keys)
        if path.suffix == ".html":
            data, number = VOLATILE_PART.subn(b"", data)
            assert number == 1, name
        found[name] = hashlib.sha256(data).hexdigest()
    assert found, f"no results in {results}"
    return found


def _without(content: dict, keys) -> bytes:
    for *above, last in keys:
        section = content
        for key in above:
            section = section[key]
        del section[last]
    return json.dumps(content).encode()


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the names of the results that are not the same in two runs."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
