"""The first screen of the page: what came out, and per paper how its printed numbers fared."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from private_ensembles.papers.common.findings import Finding
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.findings import select_paper_findings
from private_ensembles.report.sections import sort_papers

# A paper's card has so many findings; all of them are below.
_ON_CARD = 2
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Each kind of finding has a singular and a plural. Findings on noise are counted by paper.
_KINDS = {
    "broken": ("claim is broken", "claims are broken"),
    "theorem": ("theorem fails", "theorems fail"),
    "noise": ("paper needs less noise than published", "papers need less noise than published"),
}


def headline(findings: Sequence[Finding], papers: int) -> str:
    """Return what came out of the run in plain words.

    Args:
        findings: All findings of the run.
        papers: How many papers the run covers.

    >>> from private_ensembles.papers.common.findings import Finding
    >>> findings = [Finding("nzc", "t", "t", "docs/nzc.md", "broken")]
    >>> headline(findings, 4)
    'Four papers on private teacher ensembles, recomputed. One claim is broken.'
    """
    count = "One paper" if papers == 1 else f"{_spell_number(papers).capitalize()} papers"
    head = f"{count} on private teacher ensembles, recomputed."
    parts = []
    for kind, (singular, plural) in _KINDS.items():
        of_kind = [finding for finding in findings if finding.kind == kind]
        number = len({finding.paper for finding in of_kind}) if kind == "noise" else len(of_kind)
        if number:
            parts.append(f"{_spell_number(number)} {singular if number == 1 else plural}")
    if not parts:
        return head
    sentence = join_with_and(parts)
    return f"{head} {sentence[0].upper()}{sentence[1:]}."


def join_with_and(parts: Sequence[str]) -> str:
    """Return one part or more as a list in words.

    >>> join_with_and(["one"]), join_with_and(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _spell_number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def numbers_sentence(counts: pd.Series) -> str:
    """Return a sentence on how a paper's printed numbers fared, from their counts by status."""
    total = int(counts.sum())
    number = {status: int(counts.get(status, 0)) for status in STATUSES}
    compared = sum(number[name] for name, status in STATUSES.items() if status.verbs)
    if not compared:
        head = f"None of {total} printed numbers could be compared in this run."
    else:
        whole = compared == total
        head = f"{'All' if whole else f'{compared} of'} {total} printed numbers were compared: "
        if number["match"] == compared:
            head += "every one matches."
        else:
            head += _count_statuses(number)
    if number["not_comparable"]:
        head += f" {number['not_comparable']} rest on votes that are not the authors'."
    if number["not_run"]:
        head += f" {number['not_run']} were not run."
    return head


def relations_sentence(counts: pd.Series) -> str:
    """Return a sentence on how relations between printed numbers fared, from counts by status."""
    total = int(counts.sum())
    judged = total - int(counts.get("not_run", 0)) - int(counts.get("not_comparable", 0))
    if not judged:
        return f"None of {total} relations between them could be judged in this run."
    head = f"{'All' if judged == total else f'{judged} of'} {total} relations between them"
    number = {status: int(counts.get(status, 0)) for status in STATUSES}
    return f"{head} were judged: {_count_statuses(number)}"


def _count_statuses(number: Mapping[str, int]) -> str:
    parts = [
        f"{number[name]} {status.verbs[number[name] != 1]}"
        for name, status in STATUSES.items()
        if status.verbs and (number[name] or name == "match")
    ]
    return f"{join_with_and(parts)}."


@dataclass(frozen=True)
class Card:
    """How a paper fared.

    Attributes:
        title: The paper's title.
        anchor: The anchor of its chapter, empty if it has none.
        said: The titles of some findings, in reStructuredText.
        words: How its numbers fared, in words.
        counts: How many of its printed numbers have which status.
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

    Args:
        compared: The printed numbers of fidelity.csv as text.
        titles: The title of every paper.
        shown: The papers that have a section to link to.
        findings: All findings of the run.
        relations: The relations of fidelity.csv, which are counted apart.
    """
    card_of = {}
    for paper, rows in compared.groupby("paper", sort=False):
        number = rows["status"].value_counts()
        words = numbers_sentence(number)
        if relations is not None and (relations["paper"] == paper).any():
            judged = relations.loc[relations["paper"] == paper, "status"]
            words += f" {relations_sentence(judged.value_counts())}"
        own = sorted(select_paper_findings(findings, paper), key=lambda finding: not finding.kind)
        card_of[paper] = Card(
            title=titles.get(paper, paper),
            anchor=paper if paper in shown else "",
            said=[finding.title for finding in own[:_ON_CARD]],
            words=words,
            counts={name: int(number[name]) for name in STATUSES if name in number},
        )
    return [card_of[paper] for paper in sort_papers(card_of, titles)]


def coverage(compared: pd.DataFrame) -> tuple[int, int]:
    """Return how many printed numbers the run compares, and how many there are."""
    return int((compared["status"] != "not_run").sum()), len(compared)
