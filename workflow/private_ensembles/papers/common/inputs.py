"""The files that an experiment on votes reads, by the names that its rule gives them."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from private_ensembles.labels.votes import read_votes


def read_inputs(files: Mapping[str, str | Path]) -> dict[str, object]:
    """Read votes (.npz), contents of JSON, and tables (.csv: rows of texts by column), by name.

    Args:
        files: path by name.

    Raises:
        ValueError: a file has another suffix, or its votes are not valid.
    """
    return {name: _read(Path(path)) for name, path in files.items()}


def _read(path: Path) -> object:
    """Read one file by its suffix."""
    if path.suffix == ".npz":
        return read_votes(path)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".csv":
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    raise ValueError(f"{path}: must end in .npz, .json or .csv")
