"""The page about somebody's own votes: what was released, at what cost, by which mechanism.

Everything on it may be shown: it rests on the ensemble's size, the stated profile and the released
labels. Where the noise is from a seed it is a rehearsal, and says so first.
"""

from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.naming import at_most
from private_ensembles.report.html import definitions, figure_html, file_link, html_table
from private_ensembles.report.page import ASSETS, page


def build(
    table: pd.DataFrame,
    labels: pd.DataFrame,
    facts: Mapping[str, object],
    *,
    figure: Path,
    labels_file: str,
    total: object,
    captions: Path = ASSETS,
) -> str:
    """Return the page as HTML.

    table, labels, facts: `public_table`, `labels_table` and `public_facts` of
    `experiments.own_votes`. figure: a PNG. labels_file: where the labels lie, beside the page.
    total: a `releases.Total`, what these labels and all released before cost together.
    """
    rehearsal = facts["noise"] != "secure"
    heading = f"Your votes: {len(labels)} labels released"
    if rehearsal:
        heading = f"A rehearsal, not for release: {len(labels)} labels"
    path = Path(labels_file)
    chosen = table[table["chosen"]].iloc[0]
    alt = (
        "Bars of expected right labels by mechanism on the stated profile; the longest is "
        f"{chosen['name']}."
    )
    shown = table.drop(columns=["name", "budget_epsilon", "delta", "privacy_model", "adjacency"])
    shown["epsilon"] = [at_most(one) if one > 0 else "" for one in table["epsilon"]]
    per_class = labels["label"].value_counts().sort_index().rename_axis("class")
    return page(
        [
            f"<h1>{heading}</h1>",
            _REHEARSAL if rehearsal else "",
            f'<p class="lead">By {escape(str(chosen["name"]))}, at ε = '
            f"{at_most(float(chosen['epsilon']))} and δ = {at_most(float(chosen['delta']))} for "
            f"all labels together, {escape(chosen['privacy_model'])}, "
            f"{escape(chosen['adjacency'])}.</p>",
            "" if rehearsal else _of_all(total),
            definitions({name: escape(str(value)) for name, value in facts.items()}),
            "<h2>Which mechanism, and why</h2>",
            '<p class="caption">Ranked by expected right labels of an ensemble of this size that '
            "votes as the profile in <code>planner:</code> says. The votes were not looked at, so "
            "the choice costs nothing; if your teachers agree much more or less than the profile, "
            "state another one. Click a heading to sort.</p>",
            html_table(shown, "Mechanisms at the budget"),
            figure_html(figure, "Figure", alt),
            "<h2>Released labels</h2>",
            f'<p class="caption">{file_link(path, path.parent)}. Everything computed from them '
            "is free.</p>",
            html_table(per_class.reset_index(name="labels"), "Released labels by class"),
            "<h2>Not for release</h2>",
            '<p class="caption">What the votes themselves say (how often labels agree with the '
            "plurality, or are right) lies in the folder <code>private</code> outside of this one. "
            "It is private data: keep it where the votes are.</p>",
        ],
        captions,
        title="A rehearsal" if rehearsal else "Your votes",
    )


_REHEARSAL = (
    '<p class="note"><strong>A rehearsal: the noise is from a seed.</strong> Whoever knows the '
    "seed can take it away, so nothing here may be released. For a release leave out "
    "<code>noise=reproducible</code>.</p>"
)


def _of_all(total: object) -> str:
    return (
        '<p class="note">On record in <code>releases.csv</code>. All releases of this folder '
        f"together cost at most {total}.</p>"
    )
