"""Train a student on released labels, ask it, and keep it in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from private_ensembles.base import checks
from private_ensembles.training.student.forest import ARRAYS, Forest, train_forest
from private_ensembles.training.student.network import network_scores, train_network
from private_ensembles.training.student.training import Conditions, Training
from private_ensembles.training.tensors import pack

# vat and supervised train a network on images, with or without the pool's unlabelled ones. forest
# grows a random forest on a table.
METHODS = ("vat", "supervised", "forest")


@dataclass(frozen=True)
class Student:
    """A trained student.

    Attributes:
        method: One of METHODS.
        model: A torch module, in evaluation mode on the CPU, or a Forest.
        n_classes: The number of classes.
        input_shape: The shape of one input: (height, width), (height, width, channels) or
            (columns,).
        pixel_max: What images are divided by; 1 for tables.
        parameters: What it was trained with, JSON-able.
        observed: What `train_student`'s `observe` returned after each epoch; not kept in files.
    """

    method: str
    model: torch.nn.Module | Forest
    n_classes: int
    input_shape: tuple[int, ...]
    pixel_max: int
    parameters: dict
    observed: tuple[float, ...] = ()

    def scores(self, inputs: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, float64 (N, classes), rows summing to 1.

        Args:
            inputs: (N, *input_shape), as the pool that it was trained on.

        Raises:
            ValueError: The inputs have another shape.
        """
        inputs = np.asarray(inputs)
        if inputs.shape[1:] != self.input_shape:
            raise ValueError(
                f"inputs: shape {inputs.shape} must be (N, {', '.join(map(str, self.input_shape))})"
            )
        if isinstance(self.model, Forest):
            return self.model.scores(inputs)
        return network_scores(self.model, inputs, self.pixel_max)

    def count_correct(self, inputs: np.ndarray, labels: np.ndarray) -> int:
        """Return how many inputs' true labels, whole numbers (N,), it predicts.

        Raises:
            ValueError: There is not one label for each input.
        """
        labels = np.asarray(labels)
        if labels.shape != (len(inputs),):
            raise ValueError(f"labels: shape {labels.shape} must be ({len(inputs)},)")
        return int((self.scores(inputs).argmax(axis=1) == labels).sum())

    def accuracy(self, inputs: np.ndarray, labels: np.ndarray) -> float:
        """Return the share of inputs whose true labels, whole numbers (N,), it predicts."""
        return self.count_correct(inputs, labels) / len(labels)


def train_student(
    method: str,
    pool: np.ndarray,
    answered_index: np.ndarray,
    answered_labels: np.ndarray,
    n_classes: int,
    parameters: Mapping,
    *,
    pixel_max: int = 255,
    **conditions,
) -> Student:
    """Train a student on the public pool and on labels that were released for some of it.

    The student knows nothing else, so its privacy is that of the labels. For a non-private
    baseline, train `supervised` or `forest` on the private inputs and true labels. If only one
    class was released, training goes on (the student will predict it for everything) and progress
    says so.

    Args:
        method: One of METHODS.
        pool: Public inputs: uint8 images (N, height, width[, channels]) in 0..pixel_max, or for
            `forest` finite numbers (N, columns).
        answered_index: Whole numbers (L,), the queries, each once, as indices into the pool.
        answered_labels: Whole numbers (L,), 0..n_classes-1, or -1 for a query without an answer,
            which counts as unlabelled.
        n_classes: The number of classes.
        parameters: Fields of `training.Training`, or parameters of `train_forest`.
        pixel_max: What images are divided by.
        **conditions: Fields of `training.Conditions`. What `observe` returns is kept in
            `observed`.

    Raises:
        ValueError: An unknown method or parameter, indices or labels out of range, inputs of
            another kind, no released label at all, a loss that is not finite, or too little GPU
            memory.
    """
    checks.check_choice(METHODS, method=method)
    checks.check_integer(n_classes=n_classes, at_least=2)
    checks.check_range(1, 255, pixel_max=pixel_max)
    pool = np.asarray(pool)
    index, labels = _require_released_labels(answered_index, answered_labels, len(pool), n_classes)
    run_conditions = Conditions(**conditions)
    if (labels == labels[0]).all():
        run_conditions.progress(f"only class {labels[0]} was released: the student knows no other")
    if method == "forest":
        address = {"seed": run_conditions.seed, "path": run_conditions.path}
        model = train_forest(pool, index, labels, n_classes, parameters, **address)
        settings, pixel_max, observed = dict(parameters), 1, []
    else:
        training = Training.from_parameters(parameters)
        model, observed = train_network(
            pool,
            index,
            labels,
            n_classes,
            training,
            run_conditions,
            unlabelled=method == "vat",
            pixel_max=pixel_max,
        )
        settings = asdict(training)
    return Student(
        method,
        model,
        int(n_classes),
        input_shape=pool.shape[1:],
        pixel_max=int(pixel_max),
        parameters=settings,
        observed=tuple(observed),
    )


def _require_released_labels(index, labels, n_pool, n_classes) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices and the labels of the answered queries, int64, or raise ValueError."""
    index, labels = np.asarray(index), np.asarray(labels)
    for name, array in (("answered_index", index), ("answered_labels", labels)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{name}: {array.dtype} {array.shape} must be a list of whole numbers")
    if len(index) != len(labels):
        raise ValueError(f"answered_labels: {len(labels)} must be as many as queries, {len(index)}")
    index, labels = index.astype(np.int64), labels.astype(np.int64)
    if len(index) and not (index.min() >= 0 and index.max() < n_pool):
        raise ValueError(f"answered_index: must be 0 to {n_pool - 1}")
    if len(np.unique(index)) < len(index):
        raise ValueError("answered_index: no query may occur twice")
    if len(labels) and not (labels.min() >= -1 and labels.max() < n_classes):
        raise ValueError(f"answered_labels: must be -1 to {n_classes - 1}")
    answered = labels >= 0
    if not answered.any():
        raise ValueError("answered_labels: no label was released, so there is nothing to learn")
    return index[answered], labels[answered]


def save_student(path: str | os.PathLike, student: Student) -> None:
    """Write a student as tensors and plain values; equal students give equal bytes."""
    if isinstance(student.model, Forest):
        state = {name: torch.from_numpy(getattr(student.model, name)) for name in ARRAYS}
    else:
        state = student.model.state_dict()
    metadata = {
        "method": student.method,
        "n_classes": student.n_classes,
        "input_shape": student.input_shape,
        "pixel_max": student.pixel_max,
        "parameters": student.parameters,
    }
    text = json.dumps(metadata, sort_keys=True)
    Path(path).write_bytes(pack({"state": dict(state), "metadata": text}))
