"""What of a run's configuration is not as ``config.yaml`` has it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

DEFAULTS = Path(__file__).resolve().parents[3] / "config.yaml"
ABSENT = "(absent)"
# Where files come from and how long a download may take changes no result.
_WITHOUT_EFFECT = {"data_mirror", "download_timeout"}


def changes(config: Mapping, default: Path = DEFAULTS) -> dict[str, tuple[object, object]]:
    """Return dotted key -> (value by default, value in this run) for all that differs, by key.

    config: as the run used it. default: the workflow's ``config.yaml``. A value is `ABSENT` where
    the other has a key of its own.
    """
    ours = dict(_flatten(config))
    theirs = dict(_flatten(yaml.safe_load(default.read_text(encoding="utf-8"))))
    for side in (ours, theirs):
        if side.get("noise") == "auto":
            side["noise"] = automatic_noise(ours.get("own.votes"))
    pairs = {
        key: (theirs.get(key, ABSENT), ours.get(key, ABSENT))
        for key in sorted(ours.keys() | theirs.keys())
        if key.split(".")[0] not in _WITHOUT_EFFECT
    }
    return {key: pair for key, pair in pairs.items() if not _equal(*pair)}


def automatic_noise(votes: object) -> str:
    """Return what `noise: auto` means: secure for somebody's own votes (not None), else the seed.

    >>> automatic_noise("votes.npz"), automatic_noise(None)
    ('secure', 'reproducible')
    """
    return "reproducible" if votes is None else "secure"


def changed_part(config: Mapping, default: Path = DEFAULTS) -> dict[str, object]:
    """Return what a file for ``--configfile`` has to hold to make the run's configuration again.

    A section that the run leaves out (null) has no keys of its own to say.
    """
    part: dict[str, object] = {}
    for key, (_, value) in changes(config, default).items():
        if value is ABSENT:
            continue
        *sections, name = key.split(".")
        place = part
        for section in sections:
            place = place.setdefault(section, {})
        place[name] = value
    return part


def _flatten(value: Mapping, path: str = "") -> Iterator[tuple[str, object]]:
    for key, item in value.items():
        where = f"{path}.{key}" if path else str(key)
        if isinstance(item, Mapping) and item:
            yield from _flatten(item, where)
        else:
            yield where, item


def _equal(first: object, second: object) -> bool:
    if first == second:
        return True
    try:  # YAML reads 1e-5 as text, the run has the number
        return float(first) == float(second)
    except (TypeError, ValueError):
        return False
