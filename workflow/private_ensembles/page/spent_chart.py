"""The chart of the first screen: how much of its claimed ε each mechanism really spends."""

import pandas as pd
from markupsafe import Markup

from private_ensembles.figures import names
from private_ensembles.page.cells import format_bound
from private_ensembles.page.charts import Mark, Scale, dot_chart, legend

# Exact values, upper bounds if none is known, and claims that fail: kinds of marks.
_EXACT, _PROVEN, _FAILS = 0, 2, 4
_SCALE = Scale(
    0.1, 10, (0.1, 0.25, 0.5, 1, 2, 5, 10), "ε spent, as a share of the claimed ε", log=True
)


def spent_chart(ledger: pd.DataFrame) -> Markup:
    """Return one row per mechanism, a dot per setting: its exact ε over the claimed one.

    ledger: results/privacy_ledger.csv. If the exact ε is not known, the proven upper bound
    takes its place, as another mark. Values beyond the axis are on its border.
    """
    known = ledger[(ledger["claimed_epsilon"] > 0) & (ledger["claimed_epsilon"] < float("inf"))]
    end = known["exact_epsilon"].fillna(known["proven_epsilon"])
    known = known.assign(end=end)[end.notna()]
    order = list(dict.fromkeys(known["mechanism"]))
    marks = []
    for row in known.to_dict("records"):
        exact = row["exact_epsilon"] == row["exact_epsilon"]
        kind = _FAILS if row["verdict"] == "fails" else _EXACT if exact else _PROVEN
        words = (
            f"{names.mechanism(row['mechanism'])}; {names.setting(row['setting'])}: claimed "
            f"ε = {format_bound(row['claimed_epsilon'], 3)}, {'exact' if exact else 'proven'} "
            f"{format_bound(row['end'], 3)}; {row['verdict']}; {row['privacy_model']}, "
            f"{row['adjacency']}"
        )
        share = row["end"] / row["claimed_epsilon"]
        tint = "fails" if kind == _FAILS else ""
        at = order.index(row["mechanism"])
        marks.append(Mark(at, share, kind, names.powers(words.replace("_", " ")), tint))
    share = [mark.value for mark in marks if mark.kind == _FAILS]
    beyond = ", by more than the axis holds" if share and min(share) > _SCALE.high else ""
    kinds = {
        _EXACT: "exact",
        _PROVEN: "proven at most: right of 1 the claim is unproven",
        _FAILS: f"the claim fails{beyond}",
    }
    used = {kind: words for kind, words in kinds.items() if kind in {mark.kind for mark in marks}}
    title = "Claimed against exact privacy: left of 1, less ε is spent than claimed"
    rows = [names.mechanism(name) for name in order]
    key = legend(used, {_FAILS: "fails"})
    return dot_chart(title, rows, marks, _SCALE, guides=[1.0], key=key)
