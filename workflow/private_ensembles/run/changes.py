"""What differs between a run's configuration and ``config.yaml``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

DEFAULTS = Path(__file__).resolve().parents[3] / "config.yaml"
ABSENT = "(absent)"
# No result depends on where files come from and how long a download may take.
_WITHOUT_EFFECT = {"data_mirror", "download_timeout"}


def changes(config: Mapping, default: Path = DEFAULTS) -> dict[str, tuple[object, object]]:
    """Return the keys in which a run's configuration differs from the default, sorted.

    Args:
        config: The configuration as the run used it.
        default: The workflow's ``config.yaml``.

    Returns:
        A dictionary from dotted key to (default value, value in this run). A value is `ABSENT` if
        that configuration lacks the key.
    """
    values = dict(_flatten(config))
    default_values = dict(_flatten(yaml.safe_load(default.read_text(encoding="utf-8"))))
    for side in (values, default_values):
        if side.get("noise") == "auto":
            side["noise"] = resolve_automatic_noise(values.get("own.votes"))
    pairs = {
        key: (default_values.get(key, ABSENT), values.get(key, ABSENT))
        for key in sorted(values.keys() | default_values.keys())
        if key.split(".")[0] not in _WITHOUT_EFFECT
    }
    return {key: pair for key, pair in pairs.items() if not _equal(*pair)}


def resolve_automatic_noise(votes: object) -> str:
    """Return what `noise: auto` means: secure noise if there are own votes, else that of the seed.

    >>> resolve_automatic_noise("votes.npz"), resolve_automatic_noise(None)
    ('secure', 'reproducible')
    """
    return "reproducible" if votes is None else "secure"


def overriding_configuration(config: Mapping, default: Path = DEFAULTS) -> dict[str, object]:
    """Return what a file for ``--configfile`` has to hold to make the run's configuration again.

    A section that the run leaves out (null) has no keys of its own to state.
    """
    part: dict[str, Any] = {}
    for key, (_, value) in changes(config, default).items():
        if value is ABSENT:
            continue
        *sections, name = key.split(".")
        mapping = part
        for section in sections:
            mapping = mapping.setdefault(section, {})
        mapping[name] = value
    return part


def _flatten(value: Mapping, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the dotted keys of a nested mapping with their values."""
    for key, item in value.items():
        dotted_key = f"{path}.{key}" if path else str(key)
        if isinstance(item, Mapping) and item:
            yield from _flatten(item, dotted_key)
        else:
            yield dotted_key, item


def _equal(first: Any, second: Any) -> bool:
    if first == second:
        return True
    try:  # YAML reads 1e-5 as text, where the run has the number
        return float(first) == float(second)
    except (TypeError, ValueError):
        return False
