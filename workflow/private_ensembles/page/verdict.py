"""The first screen of the page: per paper, how its printed numbers fared and what was found."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from private_ensembles.page.findings import Finding, of_paper
from private_ensembles.page.headline import listed
from private_ensembles.published.statuses import STATUSES

# Findings in words on a paper's card; all of them are below.
_ON_CARD = 2


def sentence(counts: pd.Series) -> str:
    """Say in plain words how a paper's printed numbers fared; counts: by status."""
    total = int(counts.sum())
    number = {status: int(counts.get(status, 0)) for status in STATUSES}
    compared = sum(number[name] for name, status in STATUSES.items() if status.verb)
    if not compared:
        head = f"None of {total} printed numbers could be compared in this run."
    else:
        whole = compared == total
        head = f"{'All' if whole else f'{compared} of'} {total} printed numbers were compared: "
        if number["match"] == compared:
            head += "every one matches."
        else:
            parts = [
                f"{number[name]} {_of_one(status.verb) if number[name] == 1 else status.verb}"
                for name, status in STATUSES.items()
                if status.verb and (number[name] or name == "match")
            ]
            head += f"{listed(parts)}."
    if number["not_comparable"]:
        head += f" {number['not_comparable']} rest on votes that are not the authors'."
    if number["not_run"]:
        head += f" {number['not_run']} were not run."
    return head


def _of_one(verb: str) -> str:
    """Return a verb of several numbers as it is of one: is explained, matches."""
    first, _, rest = verb.partition(" ")
    singular = {"are": "is", "match": "matches", "repeat": "repeats", "differ": "differs"}
    return f"{singular.get(first, first)} {rest}".rstrip()


def relations_sentence(counts: pd.Series) -> str:
    """Say in plain words how relations between printed numbers fared; counts: by status."""
    total = int(counts.sum())
    judged = total - int(counts.get("not_run", 0)) - int(counts.get("not_comparable", 0))
    if not judged:
        return f"None of {total} relations between them could be judged in this run."
    head = f"{'All' if judged == total else f'{judged} of'} {total} relations between them"
    verbs = {"match": ("holds", "hold"), "explained": ("is explained", "are explained")}
    verbs["differs"] = ("does not", "do not")
    parts = []
    for status, (of_one, of_more) in verbs.items():
        number = int(counts.get(status, 0))
        if number or status == "match":
            parts.append(f"{number} {of_one if number == 1 else of_more}")
    return f"{head} were judged: {listed(parts)}."


@dataclass(frozen=True)
class Card:
    """How a paper fared. anchor: of its chapter, empty if it has none. said: findings (rst).

    counts: of its printed numbers, by status.
    """

    title: str
    anchor: str
    said: Sequence[str]
    words: str
    counts: Mapping[str, int]


def cards(
    compared: pd.DataFrame,
    titles: Mapping[str, str],
    shown: Container[str],
    findings: Sequence[Finding] = (),
    relations: pd.DataFrame | None = None,
) -> list[Card]:
    """Return one card per paper, in the order of the page: findings, and how its numbers fared.

    compared: the printed numbers of fidelity.csv as text; titles: of every paper; shown: papers
    that have a section to link to; relations: those of fidelity.csv, which are counted apart.
    """
    made = {}
    for paper, rows in compared.groupby("paper", sort=False):
        number = rows["status"].value_counts()
        words = sentence(number)
        if relations is not None and (relations["paper"] == paper).any():
            judged = relations.loc[relations["paper"] == paper, "status"]
            words += f" {relations_sentence(judged.value_counts())}"
        told = sorted(of_paper(findings, paper), key=lambda finding: not finding.kind)
        made[paper] = Card(
            title=titles.get(paper, paper),
            anchor=paper if paper in shown else "",
            said=[finding.title for finding in told[:_ON_CARD]],
            words=words,
            counts={name: int(number[name]) for name in STATUSES if name in number},
        )
    # Those that the page does not know come last.
    order = [
        *(paper for paper in titles if paper in made),
        *(paper for paper in made if paper not in titles),
    ]
    return [made[paper] for paper in order]


def coverage(compared: pd.DataFrame) -> tuple[int, int]:
    """Return how many printed numbers the run compares, and how many there are."""
    return int((compared["status"] != "not_run").sum()), len(compared)
