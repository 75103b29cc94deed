"""What DPBag's supplement says of several of its numbers at once.

Students are compared split by split: two methods are trained and tested on the same records there,
so that a difference varies less than either number. The tables that hold them by split are read,
not their means.
"""

import re
from collections.abc import Iterator

import pandas as pd

from private_ensembles.experiments.dpbag_students import METRICS
from private_ensembles.experiments.dpbag_tables import error_of_difference
from private_ensembles.published.relations.evidence import Evidence
from private_ensembles.published.relations.judging import Estimate, Relation, mean_over_runs

# Our names of methods, by the supplement's.
_METHODS = {"DPBag": "dpbag", "DPBag-": "dpbag_minus", "SAA": "saa", "NPB": "npb"}
_PLACE = ["method", "n", "k", "epsilon"]
_ONE_SPLIT = "One split of the data: no spread of our own to judge by."


def relations(evidence: Evidence) -> Iterator[Relation]:
    """Yield the paper's relations."""
    for item in ("table5", "table7"):
        yield from _students(evidence, item)


def _students(evidence: Evidence, item: str) -> Iterator[Relation]:
    """Yield, for each metric, the orders of the methods and the mean of all private students."""
    printed = _printed(evidence, item)
    ours, missing = _ours(evidence, item)
    for metric in METRICS:
        values = printed[metric]
        wide = None if ours is None else ours[metric]
        common = {"item": item, "dataset": "adult", "table": item, "missing": missing}
        for above, below in (("DPBag", "DPBag-"), ("DPBag-", "SAA")):
            pairs = _pairs(values, above, below)
            yield Relation(
                kind="order",
                row=f"{above} above {below}",
                column=f"{metric}: mean difference",
                published=sum(values[high] - values[low] for high, low in pairs) / len(pairs),
                ours=_difference(wide, pairs),
                **common,
            )
        private = [place for place in values.index if place[0] != "npb"]
        yield Relation(
            kind="pooled",
            row=f"all {len(private)} private students",
            column=f"{metric}: mean",
            published=float(values[private].mean()),
            ours=_mean(wide, private),
            **common,
        )


def _pairs(values: pd.Series, above: str, below: str) -> list[tuple[tuple, tuple]]:
    """Return the places of two methods' students with n, k and epsilon in common; SAA has k = 1."""
    high, low = _METHODS[above], _METHODS[below]
    pairs = []
    for method, n, k, epsilon in values.index:
        other = (low, n, 1 if low == "saa" else k, epsilon)
        if method == high and other in values.index:
            pairs.append(((method, n, k, epsilon), other))
    return pairs


def _difference(wide: pd.DataFrame | None, pairs: list[tuple[tuple, tuple]]) -> Estimate | None:
    """Return the mean difference of pairs over splits; None if one of them is not there."""
    places = [place for pair in pairs for place in pair]
    if wide is None or not set(places) <= set(wide.columns):
        return None
    gaps = pd.concat([wide[high] - wide[low] for high, low in pairs], axis=1).mean(axis=1)
    return mean_over_runs(gaps.groupby("seed").mean())


def _mean(wide: pd.DataFrame | None, places: list[tuple]) -> Estimate | None:
    """Return the mean over places, with the error of its difference to that of five other splits.

    The places of one split and draw have records and noise in common: they are averaged first.
    """
    if wide is None or not set(places) <= set(wide.columns):
        return None
    pooled = wide[places].mean(axis=1)
    error, freedom = error_of_difference(pooled.groupby("seed"))
    return Estimate(float(pooled.mean()), error, freedom)


def _printed(evidence: Evidence, item: str) -> dict[str, pd.Series]:
    """Return, by metric or "labels", an item's numbers by method, n, k and epsilon."""
    cells = evidence.printed(item)
    cells[_PLACE[:3]] = [_place_of(row) for row in cells["row"]]
    cells["metric"] = cells["column"].str.split(" ").str[0]
    cells["epsilon"] = cells["column"].str.extract(r"epsilon=(\d+)", expand=False).astype(float)
    return {
        metric: rows.set_index(_PLACE)["published"]
        for metric, rows in cells.groupby("metric", sort=False)
    }


def _place_of(row: str) -> tuple[str, int, int]:
    """Return method, n and k of "DPBag- n=50 k=10"; one partition, one shard if not said."""
    sizes = {size: int(value) for size, value in re.findall(r"(\w)=(\d+)", row)}
    return _METHODS[row.split(" ")[0]], sizes.get("n", 1), sizes.get("k", 1)


def _ours(evidence: Evidence, item: str) -> tuple[dict[str, pd.DataFrame] | None, str]:
    """Return, by metric, our students: a row for each split and draw, a column for each place.

    Those at the delta of the printed label counts. None, with the reason if it is known, if there
    are none.
    """
    students = evidence.table(f"{item}_by_split")
    if students is None:
        return None, ""
    students = students[students["delta"] == evidence.setting("delta_of_counts")]
    if students["seed"].nunique() < 2:
        return None, _ONE_SPLIT
    wide = students.pivot(index=["seed", "draw"], columns=_PLACE, values=list(METRICS))
    return {metric: wide[metric] for metric in METRICS}, ""
