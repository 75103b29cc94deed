"""The page about somebody's own votes: what was released, at what cost, by which mechanism.

Everything on it may be shown: it rests on the ensemble's size, the stated profile and the released
labels.
"""

from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.report.html import (
    definitions,
    figure_html,
    file_link,
    format_number,
    html_table,
)
from private_ensembles.report.page import ASSETS, page


def build(
    table: pd.DataFrame,
    labels: pd.DataFrame,
    facts: Mapping[str, object],
    *,
    figure: Path,
    root: Path,
    captions: Path = ASSETS,
) -> str:
    """Return the page as HTML.

    table, labels: `public_table` and `labels_table` of `experiments.own_votes`. facts: queries,
    teachers, classes, wanted, epsilon, delta, noise. figure: a PNG. root: the page's folder.
    """
    chosen = table[table["chosen"]].iloc[0]
    alt = (
        "Bars of expected right labels by mechanism on the stated profile; the longest is "
        f"{chosen['name']}."
    )
    shown = table.drop(columns=["name", "budget_epsilon", "delta", "privacy_model", "adjacency"])
    per_class = labels["label"].value_counts().sort_index().rename_axis("class")
    return page(
        [
            f"<h1>Your votes: {len(labels)} labels released</h1>",
            f'<p class="lead">By {escape(str(chosen["name"]))}, at ε = '
            f"{format_number(float(chosen['epsilon']))} and δ = "
            f"{format_number(float(chosen['delta']))} for all labels together, "
            f"{escape(chosen['privacy_model'])}, {escape(chosen['adjacency'])}.</p>",
            _warning(facts),
            definitions({name: escape(str(value)) for name, value in facts.items()}),
            "<h2>Which mechanism, and why</h2>",
            '<p class="caption">Ranked by expected right labels of an ensemble of this size that '
            "votes as the profile in <code>planner:</code> says. The votes were not looked at, so "
            "the choice costs nothing; if your teachers agree much more or less than the profile, "
            "state another one. Click a heading to sort.</p>",
            html_table(shown, "Mechanisms at the budget"),
            figure_html(figure, "Figure", alt),
            "<h2>Released labels</h2>",
            f'<p class="caption">{file_link(root / "labels.csv", root)}. Everything computed from '
            "them is free.</p>",
            html_table(per_class.reset_index(name="labels"), "Released labels by class"),
            "<h2>Not for release</h2>",
            '<p class="caption">What the votes themselves say (agreement, data-dependent and '
            "sanitised costs) stands in <code>private/votes.csv</code>, which is private data: "
            "keep it where the votes are.</p>",
        ],
        captions,
        title="Your votes",
    )


def _warning(facts: Mapping[str, object]) -> str:
    if facts.get("noise") == "secure":
        return ""
    return (
        '<p class="note"><strong>Noise from a seed.</strong> Right for trying things out. For a '
        "release of real data run again with <code>--config noise=secure</code>: who knows the "
        "seed can take the noise away.</p>"
    )
