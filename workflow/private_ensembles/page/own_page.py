"""The page about somebody's own votes: what was released, at what cost, by which mechanism.

Everything on it may be shown: it rests on the ensemble's size, the stated profile and the released
labels. If the noise is from a seed, it is a rehearsal, and says so first.
"""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

import pandas as pd

from private_ensembles.configuration.naming import at_most
from private_ensembles.figures import names
from private_ensembles.page.html import file_link, html_table, png_url
from private_ensembles.page.page import ASSETS, page


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
    captions: Path = ASSETS,
) -> str:
    """Return the page as HTML.

    table, curves, facts: `public_table`, `curves_table` and `public_facts` of
    `release.own_votes`. labels: `releasing.Labels.table`. profile: on which the
    plan was made. figure: a PNG. labels_file: where the labels are, beside the page. total: a
    `releases.Total`, what these labels and all released before cost together.
    """
    rehearsal = facts["noise"] != "secure"
    heading = f"Your votes: {len(labels):,} labels released"
    if rehearsal:
        heading = f"A rehearsal, not for release: {len(labels):,} labels"
    path = Path(labels_file)
    chosen = table[table["chosen"]].iloc[0]
    alt = (
        "Above, bars of expected right labels by mechanism on the stated profile; the longest is "
        f"{chosen['name']}. Below, lines of expected right labels over the labels asked for and "
        "over the budget, of the two best mechanisms; a table says their values. At the bottom, "
        "how many queries have what share of right votes on the profile."
    )
    applies, others = _mechanisms(table)
    per_class = labels["label"].value_counts().sort_index().rename_axis("class")
    return page(
        [
            f"<h1>{heading}</h1>",
            _REHEARSAL if rehearsal else "",
            f'<p class="headline">{len(labels):,} of {facts["wanted"]:,} labels wanted; about '
            f"{round(chosen['correct']):,} expected right on the assumed profile; at most ε = "
            f"{digits(chosen['epsilon'])}, δ = {digits(chosen['delta'])} for all of them together, "
            f"by {escape(str(chosen['name']))}.</p>",
            f"<p>{_PROMISE[chosen['privacy_model']]} {_CHANGE[chosen['adjacency']]}</p>",
            "" if rehearsal else _of_all(total),
            f"<p>Asked: {facts['queries']:,} queries of {facts['teachers']:,} teachers, "
            f"{facts['classes']:,} classes; a budget of ε = {facts['epsilon']:g}, δ = "
            f"{digits(facts['delta'])}; noise {_NOISE[facts['noise']]}.</p>",
            "<h2>Which mechanism, and why</h2>",
            '<p class="caption">Ranked by expected right labels of an ensemble of this size that '
            "votes as the profile says, which is stated and not read off the votes. So the choice "
            "costs nothing. If your teachers agree much more or less than this, state another "
            "profile in <code>planner:</code>.</p>",
            f'<div style="{_BESIDE}">{_figure(figure, alt)}<div style="flex: 1 1 20rem; min-width: '
            '0">',
            f'<h3>The profile</h3><p class="caption">{profile_words(profile)}</p>',
            "<h3>Fewer labels, another budget</h3>",
            *_asked(curves),
            "</div></div>",
            "<h2>All mechanisms</h2>",
            html_table(applies, "Mechanisms that apply"),
            others,
            "<h2>Released labels</h2>",
            f'<p class="caption">{file_link(path, path.parent)}. Everything computed from them '
            "is free.</p>",
            html_table(per_class.reset_index(name="labels"), "Released labels by class"),
            "<h2>Not for release</h2>",
            '<p class="caption">What the votes themselves say (how often labels agree with the '
            "plurality, or are right) is in the folder <code>private</code> outside this one. "
            "It is private data: keep it where the votes are.</p>",
        ],
        captions,
        title="A rehearsal" if rehearsal else "Your votes",
    )


# Beside the figure, where the page is wide enough.
_BESIDE = "display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start"


def _figure(png: Path, alt: str) -> str:
    """Return a PNG that can be read on a telephone as it is, and needs no box that scrolls."""
    return (
        '<figure style="flex: 0 1 32rem; min-width: 0">'
        '<img style="width: 100%; min-width: 0; max-height: none" '
        f'alt="{escape(alt)}" decoding="async" src="{png_url(png.read_bytes())}"></figure>'
    )


def _mechanisms(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return those that apply, with what each would give, and the others (HTML) by the reason."""
    applying = table["not_applicable"] == ""
    some, rest = table[applying], table[~applying]
    reasons = "".join(
        f"<li>{escape(' · '.join(group))}: {escape(names.reason(str(reason)))}</li>"
        for reason, group in rest.groupby("not_applicable", sort=False)["name"]
    )
    others = f'<p class="caption">Not applicable:</p><ul class="caption">{reasons}</ul>'
    applies = pd.DataFrame(
        {
            "mechanism": some["name"],
            "right labels": some["correct"].round(1),
            "with published noise": some["published"].round(1),
            "answers": some["answers"].round(1),
            "ε at most": [digits(value) for value in some["epsilon"]],
            "parameters": [_symbols(str(value)) for value in some["parameters"]],
        }
    )
    if applies["with published noise"].isna().all():
        applies = applies.drop(columns="with published noise")
    return applies, others if reasons else ""


_LETTERS = {"sigma1": "σ₁", "sigma2": "σ₂", "sigma": "σ", "label_epsilon": "ε of one label"}


def _symbols(parameters: str) -> str:
    return re.sub(r"[a-z]\w*(?= = )", lambda match: _LETTERS.get(match[0], match[0]), parameters)


def digits(x: float) -> str:
    """Return a positive number to five digits, rounded up, without the programmers' e.

    >>> digits(1e-05), digits(2.5e-07), digits(0.98765432)
    ('10⁻⁵', '2.5·10⁻⁷', '0.98766')
    """
    return names.powers(at_most(float(x)))


_ASKED = (
    "What the two best mechanisms would give, each with its noise scaled and proven to keep the "
    "budget; expected on the profile. A plan of its own would have a few more labels right. "
    "Asking for something else after this release is another release: together they cost the sum."
)


_ALONE = "Not computed for this many labels: the proof of each choice takes many seconds."


def _asked(curves: pd.DataFrame) -> list[str]:
    shown = _choices(curves)
    if len(shown) == 1:
        return [f'<p class="caption">{_ALONE}</p>']
    return [
        f'<p class="caption">{_ASKED} The lines in numbers:</p>',
        html_table(shown, "Right labels by labels asked for and budget"),
    ]


def _choices(curves: pd.DataFrame) -> pd.DataFrame:
    """Return what was computed of each choice: a row for it, a column for each mechanism."""
    rows = curves.drop_duplicates(["mechanism", "wanted", "budget_epsilon"])
    rows = rows.assign(mechanism=names.short(rows["mechanism"]))
    order = list(dict.fromkeys(rows["mechanism"]))
    wide = rows.pivot_table(
        index=["budget_epsilon", "wanted"], columns="mechanism", values="correct", aggfunc="max"
    )
    wide = wide[order].round(1).reset_index()
    return wide.rename(columns={"budget_epsilon": "budget ε", "wanted": "labels asked for"})


_NOISE = {
    "secure": "from the operating system's entropy, by exact samplers",
    "reproducible": "from the seed",
}
_PROMISE = {
    "disjoint_shards": "Holds if each record reached one teacher only.",
    "shared_data": "Holds even if every teacher saw every record.",
}
_CHANGE = {
    "replace_one": "Whoever sees all labels can hardly tell whether a record was replaced by "
    "another: no outcome is more than e<sup>ε</sup> times as likely, but with probability δ.",
    "add_remove": "Whoever sees all labels can hardly tell whether a record was there or not: "
    "no outcome is more than e<sup>ε</sup> times as likely, but with probability δ.",
}


_CHANGED = {"replace_one": "is replaced by another", "add_remove": "comes or goes"}


def profile_words(profile: Mapping) -> str:
    """Return what a stated profile says of the votes, in a sentence or two.

    >>> profile_words({"easy_share": 0.7, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0})
    '70 % of queries are easy: there 91 % of teachers are right on average, on the hard \
ones 50 %. Wrong votes often go to the same few classes (confusion 1).'
    """
    easy, hard = (shape[0] / (shape[0] + shape[1]) for shape in (profile["easy"], profile["hard"]))
    confusion = float(profile["confusion"])
    wrong = "nearly all go to one class" if confusion < 0.5 else "often go to the same few classes"
    if confusion > 10:
        wrong = "are spread evenly over all other classes"
    return (
        f"{profile['easy_share']:.0%} of queries are easy: there {easy:.0%} of teachers are right "
        f"on average, on the hard ones {hard:.0%}. Wrong votes {wrong} (confusion {confusion:g})."
    ).replace("%", " %")


_REHEARSAL = (
    '<p class="note"><strong>A rehearsal: the noise is from a seed.</strong> Whoever knows the '
    "seed can compute it, so nothing here may be released. For a release leave out "
    "<code>noise=reproducible</code>.</p>"
)


def _of_all(total: object) -> str:
    return (
        '<p class="note">On record in <code>releases.csv</code>. All releases of this folder '
        f"together cost at most ε = {digits(total.epsilon)}, δ = {digits(total.delta)}, if one "
        f"record {_CHANGED[total.adjacency]}.</p>"
    )
