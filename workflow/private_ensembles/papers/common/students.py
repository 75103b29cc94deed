"""Students and their non-private baselines on one data set: what they get, how right they are."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from private_ensembles.base import files
from private_ensembles.training.data.images import LabelledImages, read_labelled_images
from private_ensembles.training.data.tabular import LabelledRecords, read_records
from private_ensembles.training.student.students import Student, train_student

# A student without a teacher: it has all private data and their true labels.
BASELINE = "baseline"


def read_inputs(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Read a data set of images or records as inputs and labels of its two parts.

    Returns (train, train_labels, test, test_labels by name; n_classes and pixel_max by name, the
    latter for images only). Raises ValueError naming the file that is neither.
    """
    if "train_features" in files.read_npz(path):
        dataset: LabelledRecords | LabelledImages = read_records(path)
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
    """Return queries and labels of one aggregator, or of all in a file, by its name.

    Without a file, the baseline's: None, as :func:`run_student` takes it.
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
    """Return for each name of :func:`read_labels` the first one with the same queries and labels.

    What they teach is the same, so that one student serves them all.
    """
    firsts: dict[tuple[bytes, ...], str] = {}
    alike = {}
    for name, labels in released.items():
        content = () if labels is None else tuple(part.tobytes() for part in labels)
        alike[name] = firsts.setdefault(content, name)
    return alike


def identify_student(
    name: str, task: str, seed: int
) -> tuple[dict[str, str | int], tuple[str | int, ...]]:
    """Return the columns that say which student it is, and its stream of random numbers.

    name: of its aggregator, or `BASELINE`. seed: of its training.
    """
    if name == BASELINE:
        return {"task": task, "student_seed": seed}, (BASELINE, seed)
    columns = {"task": task, "aggregator": name, "student_seed": seed}
    return columns, (name, "student", seed)


def run_student(
    inputs: Mapping[str, np.ndarray],
    facts: Mapping[str, int],
    released: tuple[np.ndarray, np.ndarray] | None,
    settings: Mapping,
    *,
    watched: bool = True,
    **conditions,
) -> tuple[Student, dict[str, float], list[dict[str, float]]]:
    """Train one student and evaluate it on the test part beyond the pool.

    inputs, facts: of :func:`read_inputs`. released: queries (indices into the pool, the first
    settings["pool"] test inputs) and labels (-1 for none), or None for the baseline, which has the
    whole private training part with its true labels. settings: method, pool, parameters. watched:
    whether it is evaluated after every epoch. conditions: keywords of
    `training.student.training.Conditions`, except for `observe`. Returns the student, its summary
    (labels, accuracy, correct, evaluated) and its accuracy by epoch (empty for forests). Evaluation
    labels reach the observer alone, never the training.
    """
    held_out = slice(settings["pool"], None)
    evaluation, truth = inputs["test"][held_out], inputs["test_labels"][held_out]
    if released is None:
        pool = inputs["train"]
        queries, labels = np.arange(len(pool)), inputs["train_labels"].astype(np.int64)
    else:
        pool = inputs["test"][: settings["pool"]]
        queries, labels = released
    images = {"pixel_max": facts["pixel_max"]} if "pixel_max" in facts else {}

    def accuracy(scores) -> float:
        return (scores(evaluation).argmax(axis=1) == truth).mean()

    student = train_student(
        settings["method"],
        pool,
        queries,
        labels,
        facts["n_classes"],
        settings["parameters"],
        **images,
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
    return student, summary, history
