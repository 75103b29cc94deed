"""A student that asks for its labels round by round: one session, a budget cut into rounds, chance.

The images are scikit-learn's digits. Each teacher knows a few images of its own and says what the
nearest one shows. The student is a logistic regression on the images that were labelled so far.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from private_ensembles.jobs.progress import Meter
from private_ensembles.noise.streams import generator
from private_ensembles.release.session import Session
from private_ensembles.votes.cache import counts

if TYPE_CHECKING:  # comes with an extra
    import pandas as pd

# Of the 1,797 images: for the teachers, to ask about, and the rest to test the student on.
TRAINING, POOL = 1050, 450
CLASSES = 10
# How the student asks, and how its budget is kept.
SESSION = "one session, least certain first"
SPLIT = "the budget cut into rounds, least certain first"
RANDOM = "one session, at random"
MECHANISM = "gnmax_exact"

# From counts (queries, classes), labels.
Teacher = Callable[[NDArray], NDArray]


def study(settings: Mapping, delta: float, seed: int, meter: Meter | None = None) -> pd.DataFrame:
    """Compare three ways to spend the same budget on a student's labels.

    settings: the section ``planner.active_learning``. delta: of all labels together. meter:
    advanced by one for each training seed.

    Returns a row for each way and round: asked (how), round, labels (so far), accuracy (of the
    student on images that nobody has learnt from), se (standard error over the seeds), right (share
    of labels so far that are right), sigma (of the noise), teachers, epsilon, delta, plurality
    (share of the pool on which most teachers are right).
    """
    import pandas as pd

    rows = []
    for number in range(settings["seeds"]):
        images = _images(settings["teachers"], seed, number)
        for asked in (SESSION, SPLIT, RANDOM):
            with tempfile.TemporaryDirectory() as folder:
                rows += _rounds(images, asked, settings, delta, number, Path(folder))
        if meter is not None:
            meter.advance()
    runs = pd.DataFrame(rows)
    by_round = runs.groupby(["asked", "round"], sort=False)
    table = by_round.agg(
        labels=("labels", "first"),
        accuracy=("accuracy", "mean"),
        se=("accuracy", "sem"),
        right=("right", "mean"),
        sigma=("sigma", "first"),
        plurality=("plurality", "mean"),
    ).reset_index()
    same = {"teachers": settings["teachers"], "epsilon": settings["epsilon"], "delta": delta}
    return table.assign(**same)


def _images(teachers: int, seed: int, number: int) -> dict[str, NDArray]:
    """The pool with the teachers' counts, and the test images, of one split of the digits."""
    from sklearn.datasets import load_digits  # late: an extra, and a second of import

    digits = load_digits()
    pixels, labels = digits.data / 16, digits.target
    places = generator(seed, "active learning", number).permutation(len(labels))
    training, pool, test = np.split(places, [TRAINING, TRAINING + POOL])
    shards = np.array_split(training, teachers)
    votes = np.empty((len(pool), teachers), dtype=np.int64)
    for teacher, shard in enumerate(shards):
        apart = ((pixels[pool][:, None] - pixels[shard][None]) ** 2).sum(axis=2)
        votes[:, teacher] = labels[shard][apart.argmin(axis=1)]
    return {
        "pool": pixels[pool],
        "truth": labels[pool].astype(np.int64),
        "counts": counts(votes, CLASSES),
        "test": pixels[test],
        "test_labels": labels[test],
    }


def _rounds(
    images: Mapping[str, NDArray],
    asked: str,
    settings: Mapping,
    delta: float,
    number: int,
    folder: Path,
) -> list[dict]:
    """Train after each round on all labels so far; a row for each round."""
    from sklearn.linear_model import LogisticRegression  # late: an extra, and a second of import

    each, rounds = settings["labels"], settings["rounds"]
    sessions = 1 if asked != SPLIT else rounds
    budget = {"epsilon": settings["epsilon"] / sessions, "delta": delta / sessions}
    known, labels = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    plurality = float((images["counts"].argmax(axis=1) == images["truth"]).mean())
    student, session, rows = None, None, []
    for place in range(rounds):
        if session is None or asked == SPLIT:
            session = Session.create(
                folder / f"{place}.session",
                teachers=settings["teachers"],
                classes=CLASSES,
                labels=each * rounds // sessions,
                **budget,
                mechanisms=[MECHANISM],
                noise="reproducible",
                seed=number * rounds + place,
                say=lambda _: None,  # how right the labels are is what the study shows
            )
        queries = _least_certain(images["pool"], known, student, each, asked)
        labels = np.append(labels, session.release(images["counts"][queries]))
        known = np.append(known, queries)
        student = LogisticRegression(max_iter=500).fit(images["pool"][known], labels)
        rows.append(
            {
                "asked": asked,
                "round": place + 1,
                "labels": len(known),
                "accuracy": student.score(images["test"], images["test_labels"]),
                "right": float((labels == images["truth"][known]).mean()),
                "sigma": session.plan.parameters.sigma,
                "plurality": plurality,
            }
        )
        if asked == SPLIT or place == rounds - 1:
            session.close()
    return rows


def _least_certain(
    pool: NDArray, known: NDArray, student, number: int, asked: str
) -> NDArray[np.int64]:
    """The images to ask about next: those whose best two classes are closest; at first, any."""
    rest = np.setdiff1d(np.arange(len(pool)), known)
    if student is None or asked == RANDOM:
        return rest[:number]  # the pool is in random order
    best = np.sort(student.predict_proba(pool[rest]), axis=1)
    return rest[np.argsort(best[:, -1] - best[:, -2], kind="stable")[:number]]
