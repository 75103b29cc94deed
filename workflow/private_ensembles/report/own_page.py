"""The page about somebody's own votes: what was released, at what cost, by which mechanism.

Everything on it may be shown: it rests on the ensemble's size, the stated profile and the released
labels. If the noise is from a seed, it is a rehearsal, and says so first.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from private_ensembles.base.parameter_names import write_upper_bound
from private_ensembles.labels import display_names
from private_ensembles.labels.assumed_profile import is_assumed, name_profile
from private_ensembles.report.html import html_table, read_picture
from private_ensembles.report.page import page


def build(
    table: pd.DataFrame,
    curves: pd.DataFrame,
    labels: pd.DataFrame,
    facts: Mapping[str, object],
    profile: Mapping[str, object],
    *,
    figure: Path,
    labels_file: str,
    total: object,
    statement: Path | None = None,
) -> str:
    """Return the page as HTML.

    Args:
        table, curves: `public_table` and `curves_table` of `release.own_votes`.
        labels: The frame of the released labels.
        facts: `public_facts` of `release.own_votes`, and `answered`: the words of `release.pool`
            for the queries that come first.
        profile: The profile on which the plan was made.
        figure: A PNG file.
        labels_file: Where the labels are, beside the page.
        total: What these labels and all released before cost together.
        statement: The file to hand over, in a folder beside the page; None if there is none.
    """
    chosen = table[table["chosen"]].iloc[0].to_dict()
    applies = table["not_applicable"] == ""
    refused = table[~applies].groupby("not_applicable", sort=False)["name"]
    rehearsal = facts["noise"] != "secure"
    return page(
        "own.html",
        "A rehearsal" if rehearsal else "Your votes",
        digits=format_upper_bound,
        rehearsal=rehearsal,
        facts=facts,
        released=f"{len(labels):,}",
        chosen=chosen,
        share=f"{100 * chosen['correct'] / chosen['answers']:.0f} %"
        if chosen["answers"]
        else "none",
        total=total,
        picture=read_picture(figure),
        profile=profile_words(profile),
        profile_name=name_profile(profile),
        choices=_labels_and_budgets_table(curves),
        mechanisms=_mechanisms_table(table[applies]),
        refused=[
            (display_names.format_reason(str(reason)), list(names)) for reason, names in refused
        ],
        labels_file=Path(labels_file).name,
        statement="" if statement is None else f"{statement.parent.name}/{statement.name}",
        by_class=_count_by_class(labels),
    )


def _count_by_class(labels: pd.DataFrame) -> Markup:
    """Return how many labels each class has."""
    class_names = labels["class_name" if "class_name" in labels else "label"]
    per_class = class_names.value_counts().sort_index().rename_axis("class")
    return html_table(per_class.reset_index(name="labels"), "Released labels by class")


def _mechanisms_table(plans: pd.DataFrame) -> Markup:
    """Return a table of what each of the mechanisms that apply would give."""
    columns = {
        "mechanism": plans["name"],
        "right labels": plans["correct"].round(1),
        "with published noise": plans["published"].round(1),
        "answers": plans["answers"].round(1),
        "ε at most": plans["epsilon"].map(format_upper_bound),
        "parameters": plans["parameters"].astype(str).map(_write_symbols),
    }
    if plans["published"].isna().all():
        del columns["with published noise"]
    return html_table(pd.DataFrame(columns), "Mechanisms that apply")


_LETTERS = {"sigma1": "σ₁", "sigma2": "σ₂", "sigma": "σ", "label_epsilon": "ε of one label"}


def _write_symbols(parameters: str) -> str:
    return re.sub(r"[a-z]\w*(?= = )", lambda match: _LETTERS.get(match[0], match[0]), parameters)


def format_upper_bound(value: float) -> str:
    """Return a positive number to five digits, rounded up, with a power of ten in place of "e-05".

    >>> format_upper_bound(1e-05), format_upper_bound(2.5e-07), format_upper_bound(0.98765432)
    ('10⁻⁵', '2.5·10⁻⁷', '0.98766')
    """
    return display_names.format_powers(write_upper_bound(float(value)))


def _labels_and_budgets_table(curves: pd.DataFrame) -> Markup | str:
    """Return right labels by choice of labels and budget, with a column for each mechanism.

    The text is empty if there was one choice alone.
    """
    rows = curves.drop_duplicates(["mechanism", "wanted", "budget_epsilon"])
    rows = rows.assign(mechanism=display_names.short_labels(rows["mechanism"]))
    order = list(dict.fromkeys(rows["mechanism"]))
    wide = rows.pivot_table(
        index=["budget_epsilon", "wanted"], columns="mechanism", values="correct", aggfunc="max"
    )
    wide = wide[order].round(1).reset_index()
    wide = wide.rename(columns={"budget_epsilon": "budget ε", "wanted": "labels asked for"})
    return html_table(wide, "Right labels by labels asked for and budget") if len(wide) > 1 else ""


def profile_words(profile: Mapping) -> str:
    """Return what a stated profile says of the votes, in one sentence or two.

    >>> profile_words({"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0})
    'Assumed, not yours: 70 % of queries are easy: there 91 % of teachers are right on average, on \
the hard ones 50 %. Wrong votes often go to the same few classes (confusion 1).'
    """
    easy, hard = (shape[0] / (shape[0] + shape[1]) for shape in (profile["easy"], profile["hard"]))
    confusion = float(profile["confusion"])
    wrong = "nearly all go to one class" if confusion < 0.5 else "often go to the same few classes"
    if confusion > 10:
        wrong = "are spread evenly over all other classes"
    missing = profile.get("absent_share", 0)
    absent = f" {missing:.0%} of ballots are absent." if missing else ""
    assumed = "Assumed, not yours: " if is_assumed(profile) else ""
    return (
        f"{assumed}{profile['easy_share']:.0%} of queries are easy: there {easy:.0%} of teachers "
        f"are right on average, on the hard ones {hard:.0%}. Wrong votes {wrong} (confusion "
        f"{confusion:g}).{absent}"
    ).replace("%", " %")
