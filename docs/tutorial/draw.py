"""Draw the pictures of docs/tutorial.md from what its examples compute.

python docs/tutorial/draw.py           write them beside this file
python docs/tutorial/draw.py FOLDER    or elsewhere
"""

import doctest
import math
import re
import sys
from pathlib import Path

import numpy as np
from scipy.special import ndtr

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "workflow"))

from private_ensembles.papers.common import style  # noqa: E402

LABELS = (1, 3, 10, 30, 100, 300, 1000)
TEACHERS = (11, 50, 250)
GREY = "#bbbbbb"


def examples() -> dict:
    """Run the page's examples and return their names."""
    text = (HERE.parent / "tutorial.md").read_text(encoding="utf-8")
    names: dict = {}
    for example in doctest.DocTestParser().get_examples(re.sub(r"^```.*$", "", text, flags=re.M)):
        exec(example.source, names)
    return names


def draw_attack(page: dict, path: Path) -> None:
    """Where one vote decides, and how many published labels each patient changes."""
    with style.open_figure(1, 2, size=(7.8, 3.4)) as (drawn, (plane, patients)):
        for chosen, color, name in (
            (~page["close"], GREY, "at least seven agree"),
            (page["close"], style.BLACK, "one vote decides"),
        ):
            x, y = page["cases"][chosen].T
            plane.plot(x, y, ".", markersize=3, color=color, label=name)
        plane.set(xlabel="first value", ylabel="second value", title="2,000 public cases")
        changed = np.sort(page["changed"])[::-1]
        patients.fill_between(range(1, 221), changed, step="mid", color=style.BLUE, linewidth=0)
        found = int((changed > 0).sum())
        patients.axvline(found + 0.5, color=style.BLACK, linewidth=0.8)
        patients.text(found - 4, changed.max() * 0.9, f"{found} are found", ha="right")
        patients.set(
            xlabel="patients, the most revealing first",
            ylabel="published labels that change",
            title="the same labels without one patient",
        )
        style.add_legend(drawn, plane, "lower", 2)
        style.save_figure(drawn, path)


def draw_one_label(page: dict, path: Path) -> None:
    """The chance of "ill" over the votes for it."""
    votes = np.arange(12)
    curves = {
        "majority": (votes >= 6).astype(float),
        "coin": np.where(votes >= 6, 0.75, 0.25),
        "ladder": page["ladder"][:, 1],
        f"GNMax, noise of {page['sigma']:.2f} votes": ndtr(
            (2 * votes - 11) / (math.sqrt(2) * page["sigma"])
        ),
    }
    with style.open_figure(size=(5.2, 3.4)) as (drawn, axis):
        for (name, chances), look in zip(curves.items(), style.SEQUENCE, strict=False):
            axis.plot(votes, chances, label=name, **look)
        axis.set(xlabel='teachers who say "ill", of 11', ylabel='chance that "ill" is published')
        axis.set_xticks(votes)
        style.add_legend(drawn, axis, "lower", 2)
        style.save_figure(drawn, path)


def draw_many_labels(page: dict, path: Path) -> None:
    """The share of right labels over their number, all within one budget."""
    with style.open_figure(size=(5.2, 3.4)) as (drawn, axis):
        for teachers, look in zip(TEACHERS, style.SEQUENCE, strict=False):
            shares = [page["right"](teachers, labels) for labels in LABELS]
            axis.plot(LABELS, shares, label=f"{teachers} teachers", **look)
        axis.axhline(0.5, color=GREY, linewidth=0.8)
        axis.set(xscale="log", xlabel="labels, ε = 2 together", ylabel="share of right labels")
        style.set_plain_ticks(axis.xaxis, (1, 10, 100, 1000))
        style.add_legend(drawn, axis, "lower", 3)
        style.save_figure(drawn, path)


def main(folder: Path) -> None:
    page = examples()
    draw_attack(page, folder / "attack.svg")
    draw_one_label(page, folder / "one_label.svg")
    draw_many_labels(page, folder / "many_labels.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
