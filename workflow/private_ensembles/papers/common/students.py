"""Students and their non-private baselines on one data set: what they get, how right they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from private_ensembles.base import files
from private_ensembles.training.data.images import LabelledImages, read_labelled_images
from private_ensembles.training.data.tabular import TabularDataset, read_records
from private_ensembles.training.student.students import Student, train_student

# A student without a teacher has all private data and their true labels.
BASELINE = "baseline"


def read_inputs(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Read a data set of images or records as inputs and labels of its two parts.

    Returns:
        By name train, train_labels, test and test_labels; and by name n_classes and pixel_max, the
        latter for images only.

    Raises:
        ValueError: the file holds neither.
    """
    if "train_features" in files.read_npz(path):
        dataset: TabularDataset | LabelledImages = read_records(path)
        kind, facts = "features", {"n_classes": dataset.n_classes}
    else:
        dataset = read_labelled_images(path)
        kind = "images"
        facts = {"n_classes": dataset.n_classes, "pixel_max": dataset.pixel_max}
    arrays = {part: getattr(dataset, f"{part}_{kind}") for part in ("train", "test")}
    labels = {f"{part}_labels": getattr(dataset, f"{part}_labels") for part in ("train", "test")}
    return arrays | labels, facts


def read_labels(
    path: str | Path | None, aggregator: str | None = None
) -> dict[str, tuple[np.ndarray, np.ndarray] | None]:
    """Return queries and labels of aggregators, by their names.

    Args:
        path: a file of released labels; None for the baseline, whose labels are None, as
            `run_student` takes them.
        aggregator: the one to read; None for all in the file.
    """
    if path is None:
        return {BASELINE: None}
    arrays = files.read_npz(path)
    names = [key.removesuffix("_labels") for key in arrays if key.endswith("_labels")]
    return {
        name: (arrays[f"{name}_queries"], arrays[f"{name}_labels"])
        for name in names
        if aggregator in (None, name)
    }


def map_to_first_identical(
    released: Mapping[str, tuple[np.ndarray, np.ndarray] | None],
) -> dict[str, str]:
    """Return for each name of `read_labels` the first one with the same queries and labels.

    What they teach is the same, so that one student serves them all.
    """
    first_by_content: dict[tuple[bytes, ...], str] = {}
    first_by_name = {}
    for name, labels in released.items():
        content = () if labels is None else tuple(part.tobytes() for part in labels)
        first_by_name[name] = first_by_content.setdefault(content, name)
    return first_by_name


def identify_student(
    name: str, task: str, seed: int
) -> tuple[dict[str, str | int], tuple[str | int, ...]]:
    """Return the columns that say which student it is, and its stream of random numbers.

    Args:
        name: of its aggregator, or `BASELINE`.
        task: name of the task.
        seed: of its training.
    """
    if name == BASELINE:
        return {"task": task, "student_seed": seed}, (BASELINE, seed)
    columns = {"task": task, "aggregator": name, "student_seed": seed}
    return columns, (name, "student", seed)


class StudentRun(NamedTuple):
    """A trained student and how right it is.

    Attributes:
        student: the student.
        summary: labels, accuracy, correct and evaluated, by name.
        history: accuracy by epoch; empty for forests.
    """

    student: Student
    summary: dict[str, float]
    history: list[dict[str, float]]


def run_student(
    inputs: Mapping[str, np.ndarray],
    facts: Mapping[str, int],
    released: tuple[np.ndarray, np.ndarray] | None,
    settings: Mapping,
    *,
    watched: bool = True,
    **conditions,
) -> StudentRun:
    """Train one student and evaluate it on the test part beyond the pool.

    Evaluation labels reach the observer alone, never the training.

    Args:
        inputs: as `read_inputs` returns them.
        facts: as `read_inputs` returns them.
        released: queries (indices into the pool, the first settings["pool"] test inputs) and labels
            (-1 for none), or None for the baseline, which has the whole private training part with
            its true labels.
        settings: method, pool, parameters.
        watched: whether the student is evaluated after every epoch.
        conditions: keywords of `training.student.training.Conditions`, except for `observe`.
    """
    held_out = slice(settings["pool"], None)
    evaluation, truth = inputs["test"][held_out], inputs["test_labels"][held_out]
    if released is None:
        pool = inputs["train"]
        queries, labels = np.arange(len(pool)), inputs["train_labels"].astype(np.int64)
    else:
        pool = inputs["test"][: settings["pool"]]
        queries, labels = released
    image_options = {"pixel_max": facts["pixel_max"]} if "pixel_max" in facts else {}

    def accuracy(scores) -> float:
        return (scores(evaluation).argmax(axis=1) == truth).mean()

    student = train_student(
        settings["method"],
        pool,
        queries,
        labels,
        facts["n_classes"],
        settings["parameters"],
        **image_options,
        **conditions,
        observe=accuracy if watched else None,
    )
    correct = student.count_correct(evaluation, truth)
    summary = {
        "labels": int((labels >= 0).sum()),
        "accuracy": correct / len(truth),
        "correct": correct,
        "evaluated": len(truth),
    }
    history = [
        {"epoch": epoch, "accuracy": accuracy}
        for epoch, accuracy in enumerate(student.observed, start=1)
    ]
    return StudentRun(student, summary, history)
