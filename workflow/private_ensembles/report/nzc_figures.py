"""NZC's Figure 2, drawn from the frame that `experiments.nzc.figure2` makes and nothing else."""

import pandas as pd

from private_ensembles.report import style


def draw_ensembles(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figures 2a-c: accuracy by size, distances of the largest ensemble, qualified by size."""
    size, distance = (data[data["panel"] == name] for name in ("teachers", "distance"))
    with style.figure(1, 3, size=(11.2, 3.7)) as (drawn, (left, middle, right)):
        looks = zip(data["task"].unique(), reversed(style.SEQUENCE), strict=False)
        for task, look in looks:
            rows = size[size["task"] == task]
            left.plot(rows["teachers"], 100 * rows["accuracy"], label=task, **look)
            right.plot(rows["teachers"], 100 * rows["qualified"], label=task, **look)
            faint = {"linestyle": ":", "marker": "x", "color": style.VERMILION}
            wrong = 100 * rows["qualified_wrong"]
            right.plot(rows["teachers"], wrong, label=f"{task}, wrong", **faint)
            part = distance[distance["task"] == task]
            middle.plot(part["distance"], 100 * part["qualified"], **look)
            middle.set_title(f"b  lead above n, {part['teachers'].iloc[0]:g} teachers")
        left.set(title="a  accuracy of the plurality", ylabel="queries (%)")
        right.set_title("c  lead above 2")
        middle.set_xlabel("distance n (votes)")
        for axis in (left, right):
            axis.set(xscale="log", xlabel="teachers")
            axis.set_xticks(sorted(size["teachers"].unique()), minor=False)
            axis.set_xticks([], minor=True)
            axis.xaxis.set_major_formatter("{x:g}")
        left.legend()
        right.legend()
        for axis in (middle, right):
            axis.set_ylim(bottom=0)
        style.warn(drawn, "exact votes: not for release")
        style.save(drawn, *paths)
