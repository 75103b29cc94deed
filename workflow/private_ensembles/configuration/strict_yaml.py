"""YAML files in which no key stands twice: PyYAML takes the last one and says nothing."""

from collections.abc import Hashable
from pathlib import Path

import yaml


class GivenTwice(ValueError):
    """A key stands twice in one mapping; the message names file, line and key."""


class Loader(yaml.SafeLoader):
    """Builds plain values only, and refuses a key that stands twice."""


def _mapping(loader: Loader, node: yaml.MappingNode) -> dict:
    lines: dict[Hashable, int] = {}
    for name, _ in node.value:
        if name.tag == "tag:yaml.org,2002:merge":
            continue  # several mappings may be merged
        key, line = loader.construct_object(name, deep=True), name.start_mark.line + 1
        if isinstance(key, Hashable):  # or PyYAML refuses it below
            if key in lines:
                raise GivenTwice(
                    f"{name.start_mark.name}, line {line}: {key} is given twice, first in line "
                    f"{lines[key]}"
                )
            lines[key] = line
    return loader.construct_mapping(node, deep=True)


Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read(path: str | Path):
    """Return what a YAML file holds, as plain values.

    Raises GivenTwice for a key that stands twice in one mapping, yaml.YAMLError for what is no
    YAML, ValueError for what is no text in UTF-8, and OSError if it cannot be opened.
    """
    with open(path, encoding="utf-8") as file:
        loader = Loader(file)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
