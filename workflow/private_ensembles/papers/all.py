"""The one list of papers, in the order in which everything shows them.

The folder of a paper says the rest in modules of fixed names, which are loaded late
(docs/add.md). A caller names a module by a text with one gap, such as
``f"private_ensembles.papers.{paper}.relations"``: then `run.fingerprint` counts that module of
every paper, and no other of theirs.

This is not in `papers/__init__.py`, which runs with whatever is imported of a paper: there, a
paper more would rerun every job of the others.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: of its folder, its section and its results.
        title: as it is written.
    """

    name: str
    title: str


ALL = (
    Paper("darrm", "DaRRM"),
    Paper("pate", "PATE"),
    Paper("dpbag", "DPBag"),
    Paper("nzc", "NZC"),
)


def load(module: str) -> ModuleType | None:
    """Return a module of a paper, by its whole name; None if the paper has none of this name."""
    return import_module(module) if find_spec(module) else None
