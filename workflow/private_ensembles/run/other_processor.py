"""Whether another processor alone can be why a result of two runs is not the same: their records.

Nothing is loaded but the standard library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from private_ensembles.base.provenance import FOLDER, ROOT
from private_ensembles.run.fingerprint import PORTABLE

# What two records must have in common, beside versions and inputs.
_SAME = ("rule", "wildcards", "params", "seed", "python", "versions", "system", "device")


class Instructions(NamedTuple):
    """What computed a result.

    Attributes:
        processor: The processor's name.
        sets: The widest instructions that its libraries used, by library.
        held: Whether the libraries were held at one set (`portable`).
    """

    processor: str
    sets: dict[str, str]
    held: bool


class Records:
    """The records of two runs.

    Args:
        first: The results' folder of one run.
        second: That of the other.
    """

    def __init__(self, first: Path, second: Path) -> None:
        self.folders = first, second
        self._known: dict[str, tuple[Instructions, Instructions] | None] = {}

    def find_other_processor(self, path: str) -> tuple[Instructions, Instructions] | None:
        """Return what two runs computed a result with, if that alone can be why it differs.

        The records must agree in rule, parameters, code, seed and versions, and so must those of
        every input that differs, back to where other instructions were used. Two runs whose
        libraries were held at one set promise the same bytes: another processor is no reason then.

        Args:
            path: The result, relative to the results' folders.

        Returns:
            What either run used; None if there is another reason, or if a record is missing.
        """
        if path not in self._known:
            self._known[path] = None
            one, other = (_read_record(folder, path) for folder in self.folders)
            if one and other and _is_same_work(one, other):
                self._known[path] = self._compare(one, other)
        return self._known[path]

    def _compare(
        self, one: dict[str, Any], other: dict[str, Any]
    ) -> tuple[Instructions, Instructions] | None:
        """Return the instructions of two records of the same work, or of an input that differs."""
        used = one["instructions"], other["instructions"]
        reason = used if used[0] != used[1] and not (used[0].held and used[1].held) else None
        for name, sha256 in one["inputs"].items():
            if sha256 is None or other["inputs"][name] is None:
                return None  # a confidential input, whose hash is recorded nowhere
            if sha256 != other["inputs"][name]:
                earlier = self.find_other_processor(name.removeprefix(f"{ROOT}/"))
                if earlier is None:
                    return None
                reason = reason or earlier
        return reason


def _is_same_work(one: dict[str, Any], other: dict[str, Any]) -> bool:
    same = all(one[key] == other[key] for key in _SAME)
    return same and one["inputs"].keys() == other["inputs"].keys()


def _read_record(folder: Path, path: str) -> dict[str, Any]:
    """Return a result's record with its `instructions`; empty if there is none that has them."""
    try:
        record = json.loads((folder / FOLDER / f"{path}.json").read_text(encoding="utf-8"))
        code = record["params"]["code"].removesuffix(PORTABLE)  # that is among the instructions
        return {key: record[key] for key in ("inputs", *_SAME) if key != "system"} | {
            "instructions": Instructions(
                record["processor"], record["instruction_sets"], record["portable"]
            ),
            "params": record["params"] | {"code": code},
            # What our own version does is in the code's fingerprint.
            "versions": record["versions"] | {"private-ensembles": None},
            "system": record["machine"].partition(" ")[0],
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
