"""NZC's Figure 2, drawn from the frame of `papers.nzc.figure_data.figure2` and nothing else."""

import pandas as pd

from private_ensembles.papers.common import style


def draw_ensembles(data: pd.DataFrame, *paths: str) -> None:
    """Draw Figures 2a-c: accuracy by size, distances of the largest ensemble, qualified by size.

    Labels that qualify and are wrong have a panel of their own: on c's axis they would be flat.

    Args:
        data: the frame of `papers.nzc.figure_data.figure2`, of all tasks.
        paths: the files to write.
    """
    size, distance = (data[data["panel"] == name] for name in ("teachers", "distance"))
    with style.open_figure(2, 2, size=(7.6, 6.0)) as (drawn, ((first, second), (third, fourth))):
        looks = zip(data["task"].unique(), reversed(style.SEQUENCE), strict=False)
        for task, look in looks:
            rows = size[size["task"] == task]
            named = look | {"label": style.label(task)}
            first.plot(rows["teachers"], 100 * rows["accuracy"], **named)
            third.plot(rows["teachers"], 100 * rows["qualified"], **look)
            fourth.plot(rows["teachers"], 100 * rows["qualified_wrong"], **look)
            part = distance[distance["task"] == task]
            second.plot(part["distance"], 100 * part["qualified"], **look)
            second.set_title(f"b  lead above n, {part['teachers'].iloc[0]:g} teachers")
        first.set(title="a  accuracy of the plurality")
        third.set(title="c  lead above 2")
        fourth.set(title="lead above 2, and wrong", ylim=(0, None))
        second.set(xlabel="distance n (votes)", ylim=(0, None))
        for axis in (first, second, third, fourth):
            axis.set_ylabel("queries (%)")
        for axis in (first, third, fourth):
            axis.set(xscale="log", xlabel="teachers K")
            style.set_plain_ticks(axis.xaxis, sorted(size["teachers"].unique()), hide_minor=True)
        first.legend()
        style.add_warning(drawn, "exact votes: not for release")
        style.save_figure(drawn, *paths)
