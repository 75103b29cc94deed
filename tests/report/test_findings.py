"""The first screen: verdicts in words, cards, and findings that the run's own tables bear out."""

import re

import pandas as pd
import pytest

import private_ensembles
from private_ensembles import docs_address
from private_ensembles.papers.common.findings import Finding, RunTables
from private_ensembles.papers.darrm import findings as darrm
from private_ensembles.papers.dpbag import findings as dpbag
from private_ensembles.papers.nzc import findings as nzc
from private_ensembles.papers.pate import findings as pate
from private_ensembles.report import findings, verdict
from private_ensembles.report.findings import read_findings
from private_ensembles.report.page import inline_html, pieces
from private_ensembles.report.verdict import headline


def test_a_run_without_tables_shows_no_finding(tmp_path):
    assert findings.read_findings(tmp_path) == []


def accuracies(gnmax, exact, optimised, majority=0.9, ladder=0.95):
    """DaRRM's Table 1 of a run."""
    given = {"gnmax": gnmax, "gnmax_exact": exact, "darrm_opt": optimised}
    given |= {"majority_private": majority, "ladder": ladder}
    return [
        {"dataset": "mnist", "queries": 100, "mechanism": name, "expected_accuracy": value}
        for name, value in given.items()
    ]


def losses(shards, total, teachers=0.3):
    row = {"dataset": "mnist", "queries": 100, "epsilon_disjoint_shards": shards}
    return [row | {"epsilon_total": total, "epsilon_all_teachers": teachers}]


def costs(*ratios):
    return [{"gnss_rdp": ratio * 0.5, "gnss_rdp_paper": 0.5} for ratio in ratios]


def labels(*ratios):
    row = {"accounting": "personalised", "releasable_mean": 10.0}
    return [row | {"plain_labels": 10.0 * ratio} for ratio in ratios]


def first_counts(stated, trusted):
    row = {"dataset": "adult", "n": 50, "k": 10, "epsilon": 1, "delta": 0.001}
    counts = {"personalised": stated, "conjectured": trusted}
    return [row | {"accounting": a, "first_exceeding_mean": n} for a, n in counts.items()]


def sigmas(rdp, analytic, exact):
    return [
        {"dataset": "mnist", "sigma_rdp": rdp, "sigma_analytic": analytic, "sigma_exact": exact}
    ]


def objective(error):
    row = {"algorithm": "algorithm4", "sampling": "uniform:0,1", "estimate": "limit"}
    return [row | {"coefficient_error": error}]


def error(y):
    return [{"family": "gamma_opt", "quantity": "expected_error", "y": y}]


def amplification(largest):
    """Where one teacher is drawn the theorem says nothing, and rounding exceeds it."""
    return [
        {"drawn": 1, "claimed_loss": 0.1, "largest_loss": 0.1000000001},
        {"drawn": 5, "claimed_loss": 0.3, "largest_loss": largest},
    ]


def label_of_nzc(claimed, exact):
    row = {"aggregator": "nzc", "task": "digits", "queries": 597}
    return [row | {"claimed_epsilon": claimed, "true_epsilon": exact}]


def spent(share):
    return [{"mechanism": "gnmax", "claimed_epsilon": 0.2, "exact_epsilon": 0.2 * share}]


TABLE1, TABLE2 = "darrm/tables/table1", "darrm/tables/table2"
MAJORITY, TOTALS = darrm.majority_of_private_teachers, darrm.published_totals
# Of each finding and each wording: tables that bear it out, its title, and what its text says.
WORDINGS = [
    (
        MAJORITY,
        {TABLE1: accuracies(0.6, 0.7, 0.87, 0.9), TABLE2: losses(0.17901, 15.0441)},
        "On disjoint shards the private teachers' majority needs no noise",
        "costs ε = 0.18 (if a record is replaced) for any number of queries; the paper charges "
        "15.04 for 100 (MNIST). Its labels are right with probability 0.9, those of the optimised "
        "mechanism with probability 0.87 (MNIST)",
    ),
    (
        MAJORITY,
        {TABLE1: accuracies(0.6, 0.7, 0.91, 0.9), TABLE2: losses(0.18, 15.0)},
        "On disjoint shards the private teachers' majority needs no noise, and is right less often",
        "right with a probability of only 0.9,",
    ),
    (
        MAJORITY,
        {TABLE1: accuracies(0.6, 0.7, 0.87, 0.9), TABLE2: losses(0.18, 0.1)},
        "At so few queries the private teachers' majority is no cheaper than the paper's labels",
        "ε = 0.18 for any number of queries; the paper charges 0.1 for 100 (MNIST)",
    ),
    (
        TOTALS,
        {TABLE2: losses(0.18, 15.0, 0.30001)},
        "The published totals are far from tight",
        "costs ε = 0.301 and answers",
    ),
    (TOTALS, {TABLE2: losses(0.18, 15.0, 14.0)}, "The published totals are not tight", "ε = 14 "),
    (
        TOTALS,
        {TABLE2: losses(0.18, 15.0, 16.0)},
        "So few labels are charged less than all teachers cost",
        "for 100 queries at the same δ is 15 (MNIST)",
    ),
    (
        darrm.noise_of_gnmax,
        {"darrm/tables/table4": sigmas(21.463, 12.9001, 7.6801)},
        "GNMax needs less noise than the paper gives it",
        "finds σ = 21.46 votes. The analytic Gaussian mechanism proves the same privacy with "
        "12.91, and the label's own distribution with 7.69.",
    ),
    (
        darrm.noise_of_gnmax,
        {"darrm/tables/table4": sigmas(21.5, 12.9, 12.9)},
        "GNMax needs less noise than the paper gives it, and no less than its noisy counts need",
        "with 12.9, and the label's own distribution with 12.9",
    ),
    (
        darrm.noise_of_gnmax,
        {"darrm/tables/table4": sigmas(12.9, 12.9, 12.9)},
        "The paper's search for GNMax's noise finds as little as can be proven",
        "σ = 12.9 votes",
    ),
    (
        darrm.sampled_objective,
        {"darrm/tables/objectives": objective(1.0)},
        "One of the two Monte-Carlo objectives estimates nothing",
        "the error of its coefficients is 1 of their size",
    ),
    (
        darrm.sampled_objective,
        {"darrm/tables/objectives": objective(0.5)},
        "One of the two Monte-Carlo objectives is off, however many draws",
        "tends to 0.5 of their size",
    ),
    (
        darrm.noise_in_figure_6,
        {"darrm/tables/figure6": error(0.0)},
        "Figure 6 compares mechanisms where no noise is needed",
        "its largest expected error is 0,",
    ),
    (
        darrm.noise_in_figure_6,
        {"darrm/tables/figure6": error(0.01001)},
        "Figure 6 compares mechanisms where noise is needed",
        "the optimised γ is 0.011.",
    ),
    (
        darrm.theorem_4_1,
        {"darrm/tables/amplification": amplification(0.31)},
        "Double subsampling costs more than Theorem 4.1 claims",
        "is 1.034 of the one that the theorem claims",
    ),
    (
        darrm.theorem_4_1,
        {"darrm/tables/amplification": amplification(0.29999999)},
        "Theorem 4.1 cannot be improved",
        "within a thousandth of the one that the theorem claims",
    ),
    (
        darrm.theorem_4_1,
        {"darrm/tables/amplification": amplification(0.2)},
        "No loss near the claim of Theorem 4.1 was found",
        "is 0.6667 of the one",
    ),
    (
        pate.theorem_23,
        {"pate/tables/table2": costs(1.8999, 4.3001)},
        "The privacy of the sanitised costs (Theorem 23) fails in every row of Table 2",
        "is 1.89 to 4.31 times what the paper's formula says, in the 2 rows",
    ),
    (
        # A formula that overstates the cost somewhere does not fail everywhere.
        pate.theorem_23,
        {"pate/tables/table2": costs(0.922, 2.6)},
        "The privacy of the sanitised costs (Theorem 23) fails in 1 of 2 rows of Table 2",
        "up to 2.6 times what the paper's formula says, and at the least 0.922 times",
    ),
    (
        pate.theorem_23,
        {"pate/tables/table2": costs(0.5, 0.9)},
        "The paper's formula for publishing a sanitised cost (Theorem 23) is large enough here",
        "0.5 to 0.9 times",
    ),
    *(
        (darrm.lead_over_gnmax, {TABLE1: accuracies(gnmax, exact, 0.768)}, title, "0.768 for")
        for gnmax, exact, title in (
            (0.834, 0.856, "DaRRM does not lead GNMax here"),
            (0.6, 0.77, "All of DaRRM's lead over GNMax is the baseline's loose accounting"),
            (0.6, 0.75, "Most of DaRRM's lead over GNMax is the baseline's loose accounting"),
            (0.6, 0.62, "A part of DaRRM's lead over GNMax is the baseline's loose accounting"),
            (0.6, 0.6, "DaRRM's lead over GNMax is its own"),
        )
    ),
    (
        dpbag.plain_labels,
        {"dpbag/tables/table6": labels(4.59, 13)},
        "Composing a label's whole loss, for everyone, buys more labels than the personalised "
        "accountant",
        "it allows 4.5 to 13 times as many labels",
    ),
    (
        dpbag.plain_labels,
        {"dpbag/tables/table6": labels(0.8, 2.01)},
        "Composing a label's whole loss, for everyone, buys more labels in 1 of 2 rows",
        "it allows 0.8 to 2.1 times",
    ),
    (
        dpbag.plain_labels,
        {"dpbag/tables/table6": labels(0.5, 0.9)},
        "The personalised accountant buys as many labels as composing a label's whole loss does",
        "the latter allows 0.5 to 0.9 times",
    ),
    (
        dpbag.equation_3,
        {"dpbag/tables/table6": first_counts(11.0, 20.6)},
        "The paper's smallest counts of labels rest on an equation that nobody has proven",
        "gives 11, the supplement's unproven equation 3 gives 20.6. The equation is violated",
    ),
    (
        dpbag.equation_3,
        {"dpbag/tables/table6": first_counts(20.0, 20.6)},
        "The paper's smallest counts of labels do not come from an unproven equation here",
        "gives 20, the supplement's unproven equation 3 gives 20.6.",
    ),
    (
        nzc.constant_of_nzc,
        {"nzc/tables/table1": label_of_nzc(1.81e-8, 1e90)},
        "The constant that makes labels immutable takes all privacy away",
        "ε = 1.8·10⁻⁸ for 597 labels. In spite of the noise they are the exact plurality's, so one "
        "vote can change a label almost surely: a single label costs ε = 10⁹⁰.",
    ),
    (
        nzc.constant_of_nzc,
        {"nzc/tables/table1": label_of_nzc(1, 2.01)},
        "A label of NZC costs more than is claimed for all of them",
        "a single one costs ε = 2.1.",
    ),
    (
        nzc.constant_of_nzc,
        {"nzc/tables/table1": label_of_nzc(2, 1)},
        "A label of NZC costs no more here than is claimed for all of them",
        "a single one costs ε = 1 at this constant and noise",
    ),
    (
        findings.budget_of_gnmax,
        {"privacy_ledger": spent(0.24801)},
        "GNMax as published spends 24.9 % of its budget",
        "24.9 % of the ε that they claim",
    ),
    (
        findings.budget_of_gnmax,
        {"privacy_ledger": spent(0.9)},
        "GNMax as published spends most of its budget",
        "90 % of",
    ),
    (
        findings.budget_of_gnmax,
        {"privacy_ledger": spent(1.1051)},
        "GNMax as published costs more than it claims",
        "111 % of",
    ),
]


def write(folder, tables):
    for name, rows in tables.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, index=False)
    return folder


@pytest.mark.parametrize(("finding", "tables", "title", "said"), WORDINGS)
def test_each_wording_is_shown_for_tables_that_bear_it_out(
    tmp_path, root, finding, tables, title, said
):
    shown = finding(RunTables(write(tmp_path, tables)))
    assert shown.title == title
    assert said in shown.text
    page, _, anchor = shown.docs.partition("#")
    headings = re.findall(r"^#+ (.*)$", (root / page).read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in headings}
    assert not anchor or anchor in anchors


def test_every_finding_is_on_the_page_and_has_tables_here(tmp_path):
    assert {wording[0] for wording in WORDINGS} == set(findings.FINDINGS)
    tables = {}
    for _, given, *_ in WORDINGS:
        tables |= {name: rows for name, rows in given.items() if name != "dpbag/tables/table6"}
    # One table of DPBag bears out two findings.
    tables["dpbag/tables/table6"] = labels(4.5, 13) + first_counts(11.0, 20.6)
    shown = findings.read_findings(write(tmp_path, tables))
    assert len(shown) == len(findings.FINDINGS)
    assert len({finding.title for finding in shown}) == len(shown)


def test_kinds_are_those_that_the_first_sentence_counts(tmp_path):
    kinds = set()
    for place, (finding, tables, *_) in enumerate(WORDINGS):
        kinds.add(finding(RunTables(write(tmp_path / str(place), tables))).kind)
    assert kinds == {"", "broken", "theorem", "noise"}


def test_findings_of_a_paper_are_its_own():
    made = [Finding(paper, "", "", "") for paper in ("nzc", "pate")]
    assert findings.select_paper_findings(made, "nzc") == made[:1]
    assert findings.select_paper_findings(made, "dpbag") == []


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
