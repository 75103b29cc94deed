"""The first screen of the page: verdicts in words, cards and findings."""

import pandas as pd
import pytest

import private_ensembles
from private_ensembles import docs_address
from private_ensembles.papers.common.findings import Finding
from private_ensembles.report import verdict
from private_ensembles.report.findings import read_findings
from private_ensembles.report.page import inline_html, pieces
from private_ensembles.report.verdict import headline


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"match": 3}, "All 3 printed numbers were compared: every one matches."),
        ({"match": 2, "differs": 1}, "All 3 printed numbers were compared: 2 match and 1 differs."),
        (
            {"match": 1, "explained": 2, "differs": 3, "not_run": 4},
            "6 of 10 printed numbers were compared: 1 matches, 2 are explained and 3 differ. "
            "4 were not run.",
        ),
        (
            {"not_run": 5},
            "None of 5 printed numbers could be compared in this run. 5 were not run.",
        ),
        (
            {"match": 1, "not_comparable": 1},
            "1 of 2 printed numbers were compared: every one matches. "
            "1 rest on votes that are not the authors'.",
        ),
    ],
)
def test_counts_are_said_in_words(counts, words):
    assert verdict.numbers_sentence(pd.Series(counts)) == words


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"match": 2}, "All 2 relations between them were judged: 2 match."),
        (
            {"match": 1, "explained": 1, "differs": 1, "not_run": 3},
            "3 of 6 relations between them were judged: 1 matches, 1 is explained and 1 differs.",
        ),
        (
            {"match": 1, "weak": 2},
            "All 3 relations between them were judged: 1 matches and 2 cannot be told from other "
            "results.",
        ),
        ({"not_run": 4}, "None of 4 relations between them could be judged in this run."),
    ],
)
def test_relations_are_counted_apart(counts, words):
    assert verdict.relations_sentence(pd.Series(counts)) == words
    compared = pd.DataFrame({"paper": ["nzc"], "status": ["match"]})
    status = [status for status, number in counts.items() for _ in range(number)]
    relations = pd.DataFrame({"paper": "nzc", "status": status})
    (card,) = verdict.cards(compared, {}, {}, relations=relations)
    assert card.words == f"All 1 printed numbers were compared: every one matches. {words}"


def test_a_card_links_to_a_paper_that_is_shown_only():
    compared = pd.DataFrame({"paper": ["nzc", "more", "darrm"], "status": "match"})
    titles = {"darrm": "DaRRM: <noise>", "nzc": "NZC"}
    cards = verdict.cards(compared, titles, {"darrm"})
    assert [(card.title, card.anchor) for card in cards] == [
        ("DaRRM: <noise>", "darrm"),
        ("NZC", ""),
        ("more", ""),
    ]


def test_a_card_says_two_findings_and_first_what_the_first_sentence_counts():
    find_sentences = [
        Finding("nzc", str(i), "t", "d", kind) for i, kind in enumerate(["", "", "broken"])
    ]
    compared = pd.DataFrame({"paper": ["nzc"], "status": ["match"]})
    (card,) = verdict.cards(compared, {}, {}, find_sentences)
    assert card.said == ["2", "0"]


def test_a_page_of_docs_is_linked_on_the_site_or_in_the_repository_that_has_an_address(monkeypatch):
    page = "docs/nzc.md#the-claim-fails"
    monkeypatch.setattr(private_ensembles, "REPOSITORY", "https://example.org/OWNER/copy")
    assert docs_address(page) == page
    assert pieces.docs(page) == "<code>docs/nzc.md</code>"
    monkeypatch.setattr(private_ensembles, "REPOSITORY", "https://example.org/me/copy")
    there = '<a href="https://example.org/me/copy/blob/main/docs/nzc.md#the-claim-fails">'
    assert pieces.docs(page) == f"{there}docs/nzc.md</a>"
    assert there.split("#")[0] in inline_html("see ``docs/nzc.md``")
    monkeypatch.setattr(private_ensembles, "SITE", "https://example.org/")
    there = '<a href="https://example.org/docs/nzc.html#the-claim-fails">docs/nzc.md</a>'
    assert pieces.docs(page) == there


def find_sentences(*kinds, paper="p"):
    return [Finding(f"{paper}{i}", "t", "t", "d", kind) for i, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ((), ""),
        (("", ""), ""),
        (("broken",), " One claim is broken."),
        (("theorem", "theorem", ""), " Two theorems fail."),
        (
            ("noise", "broken", "noise", "theorem"),
            " One claim is broken, one theorem fails and two papers need less noise than "
            "published.",
        ),
    ],
)
def test_what_came_out_is_counted(kinds, told):
    assert headline(find_sentences(*kinds), 4) == (
        f"Four papers on private teacher ensembles, recomputed.{told}"
    )


def test_noise_is_counted_by_paper_and_many_papers_are_a_number():
    twice = find_sentences("noise") + find_sentences("noise")
    assert headline(twice, 1) == (
        "One paper on private teacher ensembles, recomputed. "
        "One paper needs less noise than published."
    )
    assert headline([], 12).startswith("12 papers")


def test_the_published_tables_give_the_sentence_of_the_paper_s_run(published_results):
    findings = read_findings(published_results)
    assert headline(findings, 4) == (
        "Four papers on private teacher ensembles, recomputed. One claim is broken, one theorem "
        "fails and two papers need less noise than published."
    )
