"""All comparisons in one picture: a square each, by paper and by how far ours is from print."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from private_ensembles.base.digits import format_number
from private_ensembles.papers.compare.comparison import RELATION
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.printed_numbers import name_position, row_anchor, sort_in_paper_order
from private_ensembles.report.sections import short_title, sort_papers

# A square stands in one of these columns, by ours as a share of the printed number.
PLACES = ("less than half", "less", "within 1\N{NO-BREAK SPACE}%", "more", "more than twice")
_NEAR = 0.01


class Square(NamedTuple):
    """One comparison: the anchor of its row, its status, itself in words, and its kind."""

    anchor: str
    status: str
    words: str
    is_relation: bool


class PaperSquares(NamedTuple):
    """The comparisons of a paper.

    Attributes:
        paper: Its name.
        title: Its title on the page.
        places: Its squares in each of `PLACES`.
        without: How many printed numbers and relations have none of ours beside them.
    """

    paper: str
    title: str
    places: list[list[Square]]
    without: int


def overview(fidelity: pd.DataFrame, titles: Mapping[str, str]) -> list[PaperSquares]:
    """Return the squares of all papers, in the order of the page.

    Args:
        fidelity: ``fidelity.csv`` as text.
        titles: The papers' titles on the page.
    """
    squares_of = {}
    for name, rows in sort_in_paper_order(fidelity).groupby("paper", sort=False):
        paper = str(name)
        places: list[list[Square]] = [[] for _ in PLACES]
        for number, row in rows[rows["reproduced"] != ""].iterrows():
            places[_place(row)].append(
                Square(row_anchor(number), row["status"], _words(row), row["kind"] == RELATION)
            )
        without = int((rows["reproduced"] == "").sum())
        squares_of[paper] = PaperSquares(paper, short_title(paper, titles), places, without)
    return [squares_of[paper] for paper in sort_papers(squares_of, titles)]


def statuses_of(papers: list[PaperSquares]) -> list[str]:
    """Return the statuses that squares have, in the usual order."""
    found = {square.status for one in papers for place in one.places for square in place}
    return [status for status in STATUSES if status in found]


def _place(row: Mapping[str, str]) -> int:
    """Return the column of a comparison, of PLACES.

    If 0 is printed, ours is near it within the tolerance.
    """
    printed, ours = float(row["published"]), float(row["reproduced"])
    size, more = abs(printed), ours - printed
    if ours == printed or abs(more) <= (_NEAR * size or float(row["tolerance"] or 0)):
        return 2
    if more < 0:
        return 0 if more < -size / 2 else 1
    return 4 if more > size else 3


def _words(row: Mapping[str, str]) -> str:
    ours = format_number(float(row["reproduced"]))
    status = row["status"].replace("_", " ")
    return f"{name_position(row)}: printed {row['published']}, ours {ours}, {status}"
