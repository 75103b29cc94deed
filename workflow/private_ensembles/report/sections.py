"""The sections of the page of results, paper by paper: a new table or figure is one item there.

``page.yaml`` in a paper's folder holds its items, and ``workflow/report/sections.yaml`` the others,
beside the captions that all of them name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from private_ensembles.papers.all import ALL, FOLDER, Paper


@dataclass(frozen=True)
class Item:
    """One thing to look at: heading, caption file and what is shown of which files.

    Attributes:
        name: The stem of its file, unless `tables` lists several.
        title: Its heading.
        caption: The stem of its caption's file.
        alt: What its figure shows, in words; empty without a figure.
        view: A function of `views` that makes something to look at of the tables; without one, a
            table is shown as it is.
        tables: The stems of several tables that are shown together.
        fold: Whether the figure is left closed.
    """

    name: str
    title: str
    caption: str
    alt: str = ""
    view: str = ""
    tables: Sequence[str] = ()
    fold: bool = False

    def files(self) -> list[str]:
        """Return the names of the files that it shows: its figure, if it has one, and its tables.

        >>> Item("leads", "Leads", "nzc_leads").files()
        ['leads.csv']
        """
        drawn = [f"{self.name}.png"] if self.alt else []
        listed = [f"{stem}.csv" for stem in self.tables or (self.name,)]
        return [*drawn, *listed] if self.view or not drawn else drawn


@dataclass(frozen=True)
class Section:
    """One paper's part of the page.

    Attributes:
        paper: The folder under results/.
        title: Its heading.
        items: Its items, in order.
        short: The name in the rail, if it is not what the title has before its colon.
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


def short_title(paper: str, titles: Mapping[str, str]) -> str:
    """Return what a paper's title has before its colon, or its name if it has no title.

    >>> short_title("nzc", {"nzc": "NZC: labels"}), short_title("toy", {})
    ('NZC', 'toy')
    """
    return titles.get(paper, paper).partition(":")[0]


def sort_papers(papers: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    """Return papers in the order of the page; those that it does not know come last.

    >>> sort_papers(["toy", "nzc", "pate"], {"pate": "PATE", "darrm": "DaRRM", "nzc": "NZC"})
    ['pate', 'nzc', 'toy']
    """
    order = {paper: place for place, paper in enumerate(titles)}
    return sorted(papers, key=lambda paper: order.get(paper, len(order)))


def read_sections(folder: Path) -> list[Section]:
    """Return the sections of the page.

    Args:
        folder: The folder of sections.yaml.

    Raises:
        TypeError: An entry lacks a field or has an unknown one.
    """
    sections = []
    for entry in _read_yaml(folder / "sections.yaml"):
        entries = [_read_paper_section(paper) for paper in ALL] if entry == "papers" else [entry]
        for section in entries:
            fields = section | {"items": _build_items(section)}
            sections.append(Section(**fields))
    return sections


def _read_yaml(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _read_paper_section(paper: Paper) -> dict:
    """Return the section in a paper's page.yaml, under the paper's title."""
    page = _read_yaml(FOLDER / paper.name / "page.yaml")
    title = f"{paper.title}: {page.pop('about')}"
    return {"paper": paper.name, "title": title, **page}


def _build_items(section: dict) -> list[Item]:
    return [Item(**item) for item in section["items"]]
