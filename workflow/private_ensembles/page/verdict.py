"""The first screen of the page: per paper, how its printed numbers fared and what was found."""

from collections.abc import Container, Mapping, Sequence
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.naming import link
from private_ensembles.page.cells import status_html
from private_ensembles.page.findings import Finding, of_paper
from private_ensembles.page.html import away, inline_html
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
            *first, last = parts
            head += f"{', '.join(first)} and {last}." if first else f"{last}."
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
    *first, last = parts
    fared = f"{', '.join(first)} and {last}" if first else last
    return f"{head} were judged: {fared}."


def cards(
    compared: pd.DataFrame,
    titles: Mapping[str, str],
    shown: Container[str],
    findings: Sequence[Finding] = (),
    relations: pd.DataFrame | None = None,
) -> str:
    """Return one card per paper: its findings in words, and below how its numbers fared.

    compared: the printed numbers of fidelity.csv as text; titles: of every paper; shown: papers
    that have a section to link to; relations: those of fidelity.csv, which are counted apart.
    """
    parts = []
    papers = list(compared["paper"].unique())
    for paper in sorted(papers, key=lambda paper: _place(paper, titles)):
        rows = compared[compared["paper"] == paper]
        counts = rows["status"].value_counts()
        present = [status for status in STATUSES if counts.get(status, 0)]
        bar = "".join(
            f'<span class="{status}" style="flex: {counts[status]}" '
            f'title="{counts[status]} {escape(status)}"></span>'
            for status in present
        )
        items = "".join(f"<li>{status_html(s, int(counts[s]))}</li>" for s in present)
        name = escape(titles.get(paper, paper))
        if paper in shown:
            name = f'<a href="#{escape(paper)}">{name}</a>'
        of_this = sorted(of_paper(findings, paper), key=lambda finding: not finding.kind)
        words = "".join(f"<li>{inline_html(each.title)}.</li>" for each in of_this[:_ON_CARD])
        parts.append(
            f'<article class="card"><h2>{name}</h2>'
            f"{f'<ul class=said>{words}</ul>' if words else ''}"
            f"<p>{escape(sentence(counts))}{_of_relations(relations, paper)}</p>"
            f'<div class="bar" aria-hidden="true">{bar}</div>'
            f'<ul class="counts">{items}</ul></article>'
        )
    return f'<div class="cards">{"".join(parts)}</div>'


def _of_relations(relations: pd.DataFrame | None, paper: str) -> str:
    mine = None if relations is None else relations[relations["paper"] == paper]
    if mine is None or mine.empty:
        return ""
    return f" {escape(relations_sentence(mine['status'].value_counts()))}"


def _place(paper: str, titles: Mapping[str, str]) -> int:
    """Return a paper's place in the page's order; those that it does not know come last."""
    return list(titles).index(paper) if paper in titles else len(titles)


def coverage(compared: pd.DataFrame, command: str = "") -> str:
    """Say how many printed numbers the run compares; command: for the others, if there is one."""
    done = int((compared["status"] != "not_run").sum())
    words = f"This run covers {done} of {len(compared)} printed numbers"
    if done == len(compared):
        return f"<p>{words}.</p>"
    if not command:
        return f"<p>{words}; the others need data or settings that it did not have.</p>"
    return f"<p>{words}. For everything else that is available: <code>{escape(command)}</code></p>"


def findings_html(findings: Sequence[Finding], paper: str, root: Path) -> str:
    """Return a paper's findings as a list; root: the folder of the page, beside docs/ or not."""
    items = [
        f"<li><strong>{inline_html(finding.title)}.</strong> {inline_html(finding.text)} "
        f"More: {docs_link(finding.docs, root)}.</li>"
        for finding in of_paper(findings, paper)
    ]
    return f'<ul class="findings">{"".join(items)}</ul>' if items else ""


def docs_link(page: str, root: Path) -> str:
    """Return a link to a page of docs/ (perhaps with an anchor), or its name if it is not there.

    root: the folder of the page of results, beside docs/ or not.
    """
    file, _, anchor = page.partition("#")
    if not (root.parent / file).is_file():
        return f"<code>{escape(file)}</code>"
    return away(link(f"../{file}") + (f"#{anchor}" if anchor else ""), file)


def legend() -> str:
    """Return what the statuses mean."""
    items = "".join(f"<li>{status_html(s)}: {escape(STATUSES[s].meaning)}</li>" for s in STATUSES)
    return f'<ul class="meanings">{items}</ul>'
