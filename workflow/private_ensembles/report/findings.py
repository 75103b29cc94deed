"""The findings at the top of the page: sentences that this run's own numbers bear out.

A paper's findings are in its folder.
"""

from collections.abc import Sequence
from pathlib import Path

from private_ensembles.papers.all import ALL, load
from private_ensembles.papers.common.findings import (
    Finding,
    MissingResultError,
    RunTables,
    read_first,
    write_upper_bound,
)


def read_findings(root: Path) -> list[Finding]:
    """Return the findings that the results in a folder bear out, in the order of the page."""
    tables, shown = RunTables(root), []
    for finding in FINDINGS:
        try:
            shown.append(finding(tables))
        except MissingResultError:
            continue
    return shown


def select_paper_findings(findings: Sequence[Finding], paper: str) -> list[Finding]:
    """Return a paper's findings."""
    return [finding for finding in findings if finding.paper == paper]


def budget_of_gnmax(tables: RunTables) -> Finding:
    """Return the finding on the share of its claimed ε that a label of published GNMax costs."""
    ledger = tables.select_rows("privacy_ledger", mechanism="gnmax")
    share = read_first(ledger, "exact_epsilon", over="claimed_epsilon")
    percent = write_upper_bound(100 * share)
    if share < 0.5:
        title = f"GNMax as published spends {percent} % of its budget"
    elif share <= 1:
        title = "GNMax as published spends most of its budget"
    else:
        title = "GNMax as published costs more than it claims"
    text = (
        "Its noise, found by Rényi bounds and the classic conversion, leaves two-class labels with "
        f"{percent} % of the ε that they claim, checked over all vote counts."
    )
    return Finding("audit", title, text, "docs/audit.md")


_OF_PAPERS = (load(f"private_ensembles.papers.{paper.name}.findings") for paper in ALL)
FINDINGS = (
    *(finding for module in _OF_PAPERS if module for finding in module.FINDINGS),
    budget_of_gnmax,
)
