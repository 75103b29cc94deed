"""What the page of results shows, paper by paper: a new table or figure is one item there.

``workflow/report/sections.yaml`` holds papers and items, beside the captions that they name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Item:
    """One table or figure: its file's stem, heading, caption file and, for a figure, alt text."""

    name: str
    title: str
    caption: str
    alt: str = ""


@dataclass(frozen=True)
class Section:
    """One paper's part of the page: the folder under results/ and its items in order."""

    paper: str
    title: str
    items: Sequence[Item]


def read_sections(folder: Path) -> list[Section]:
    """Return the sections of the page; folder: of sections.yaml.

    Raises TypeError for an entry that lacks a field or has an unknown one.
    """
    content = yaml.safe_load((folder / "sections.yaml").read_text(encoding="utf-8"))
    return [
        Section(**{**section, "items": [Item(**item) for item in section["items"]]})
        for section in content
    ]
