"""What a run did not judge: how many comparisons of each paper, why, and what would judge them."""

import re
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass

import pandas as pd

from private_ensembles.papers.compare.comparison import RELATION
from private_ensembles.papers.compare.statuses import STATUSES
from private_ensembles.report.sections import short_title, sort_papers
from private_ensembles.run.changes import DEFAULTS, changes

# The run behind docs/, which has more random runs of each paper than config.yaml asks for.
_PUBLISHED = "config/scenarios/published.yaml"
_WITHOUT_VERDICT = ("weak", "not_comparable", "not_run")
_SENTENCE_END = re.compile(r"\.(?=\s|$)")
_ONE_RUN = re.compile("One (split|student|training)")


@dataclass(frozen=True)
class Reason:
    """Comparisons of a paper that have no verdict for one reason.

    Attributes:
        status: Their status.
        count: How many there are.
        why: The reason in words, without a stop.
        remedy: What would judge them, in words; empty if the reason says it, or nothing would.
        command: The command that the remedy is about; empty if it is about none.
    """

    status: str
    count: int
    why: str
    remedy: str = ""
    command: str = ""


def list_reasons(
    fidelity: pd.DataFrame, titles: Mapping[str, str], config: Mapping | None
) -> dict[str, list[Reason]]:
    """Return why comparisons of each paper have no verdict, by the paper's short title.

    Args:
        fidelity: ``fidelity.csv`` as text.
        titles: The papers' titles on the page.
        config: The run's configuration, if it is known.
    """
    has_more = _papers_with_more_runs(config or {})
    rows = fidelity[fidelity["status"].isin(_WITHOUT_VERDICT)]
    reasons: dict[str, list[Reason]] = {}
    for paper in sort_papers(rows["paper"].unique(), titles):
        of_paper = rows[rows["paper"] == paper].to_dict("records")
        counts = Counter((row["status"], _say_why(row)) for row in of_paper)
        order = sorted(counts, key=lambda key: (list(STATUSES).index(key[0]), -counts[key]))
        reasons[short_title(paper, titles)] = [
            Reason(status, counts[status, why], why, *_find_remedy(status, why, paper, has_more))
            for status, why in order
        ]
    return reasons


def _say_why(row: Mapping[str, str]) -> str:
    """Return why a row has no verdict: of a weak one what it is, else its note's first sentence."""
    if row["status"] == "weak":
        if row["kind"] == RELATION:
            return "no effect at all is within the tolerance as well"
        return "other results of the table are within the tolerance as well"
    return _SENTENCE_END.split(row["note"], maxsplit=1)[0]


def _find_remedy(status: str, why: str, paper: str, has_more: Container[str]) -> tuple[str, str]:
    """Return a remedy in words and its command, as `Reason` has them."""
    if paper in has_more and (status == "weak" or _ONE_RUN.match(why)):
        effect = "narrow the tolerance" if status == "weak" else "show the spread"
        return f"More random runs {effect}", f"snakemake --cores all --configfile {_PUBLISHED}"
    if "--config data=paper" in why:
        return "", "snakemake --cores all --config data=paper"
    return "", ""


def _papers_with_more_runs(config: Mapping) -> set[str]:
    """Return the papers of which the run behind docs/ has more random runs than a configuration."""
    file = DEFAULTS.parent / _PUBLISHED
    if not file.is_file():
        return set()
    return {
        key.partition(".")[0]
        for key, (published, ours) in changes(config, file).items()
        if isinstance(published, list)
        and (not isinstance(ours, list) or len(published) > len(ours))
    }
