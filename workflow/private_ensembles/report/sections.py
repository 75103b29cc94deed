"""What the page of results shows, paper by paper: a new table or figure is one item there.

``page.yaml`` in a paper's folder holds its items, and ``workflow/report/sections.yaml`` the others,
beside the captions that all of them name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from private_ensembles.papers.all import ALL, FOLDER, Paper


@dataclass(frozen=True)
class Item:
    """One thing to look at: heading, caption file and what is shown of which files.

    name: the stem of its file, unless `tables` lists those of several tables that are shown
    together. alt: of a figure, in words. view: a function of `views` that makes something to look
    at of the tables; without one, a table is shown as it is. fold: leave the figure closed.
    """

    name: str
    title: str
    caption: str
    alt: str = ""
    view: str = ""
    tables: Sequence[str] = ()
    fold: bool = False

    def files(self) -> list[str]:
        """Return the names of the files that it shows: its figure, if it has one, and tables.

        >>> Item("leads", "Leads", "nzc_leads").files()
        ['leads.csv']
        """
        drawn = [f"{self.name}.png"] if self.alt else []
        listed = [f"{stem}.csv" for stem in self.tables or (self.name,)]
        return [*drawn, *listed] if self.view or not drawn else drawn


@dataclass(frozen=True)
class Section:
    """One paper's part of the page: the folder under results/ and its items in order.

    short: the name in the rail, if it is not what the title has before its colon.
    """

    paper: str
    title: str
    items: Sequence[Item]
    short: str = ""

    def name(self) -> str:
        """Return the short name.

        >>> Section("nzc", "NZC: labels", []).name()
        'NZC'
        """
        return self.short or self.title.partition(":")[0]


def read_sections(folder: Path) -> list[Section]:
    """Return the sections of the page; folder: of sections.yaml.

    Raises TypeError for an entry that lacks a field or has an unknown one.
    """
    sections = []
    for entry in _read(folder / "sections.yaml"):
        entries = [_read_paper_section(paper) for paper in ALL] if entry == "papers" else [entry]
        for each in entries:
            fields = each | {"items": _items(each)}
            sections.append(Section(**fields))
    return sections


def _read(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _read_paper_section(paper: Paper) -> dict:
    """Return the section that a paper's page.yaml says, under the paper's title."""
    page = _read(FOLDER / paper.name / "page.yaml")
    title = f"{paper.title}: {page.pop('about')}"
    return {"paper": paper.name, "title": title, **page}


def _items(section: dict) -> list[Item]:
    return [Item(**item) for item in section["items"]]
