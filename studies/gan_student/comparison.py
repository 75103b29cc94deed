"""Students of few labels: virtual adversarial training beside PATE's kind of GAN.

Both see the same images and the same released labels, some of them wrong, and are evaluated on the
images beyond the pool. Seconds are processor time, and so differ from run to run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from private_ensembles.training.student.network import train_network
from private_ensembles.training.student.training import Conditions, Training
from studies.gan_student.gan import FeatureMatching, train_gan

# Each training has so many rows, at equal distances.
_SHOWN = 10


@dataclass(frozen=True)
class Pool:
    """Public images and what was released of them.

    Attributes:
        images: (images, ...), the pool first.
        truth: (images,), their true labels.
        released: (pool,), labels of all of it.
        queries: indices of those that the authors' student had.
        n_classes, pixel_max: of the images.
    """

    images: np.ndarray
    truth: np.ndarray
    released: np.ndarray
    queries: np.ndarray
    n_classes: int
    pixel_max: float


def compare(pool: Pool, settings: Mapping, progress: Callable = print) -> pd.DataFrame:
    """Train both students on each number of labels.

    The authors' own queries are taken if there are as many labels, and else queries drawn by a
    seed.

    Args:
        pool: the images.
        settings: labels (list), epochs (of `vat` and of `gan`), widths, generator_widths.
        progress: is called with a format and its values.

    Returns:
        A frame with student, labels, wrong_labels, epoch, accuracy, seconds.
    """
    rows = []
    for n in settings["labels"]:
        drawn = np.random.default_rng(0).permutation(len(pool.released))[:n]
        index = pool.queries if n == len(pool.queries) else drawn
        wrong = int((pool.released[index] != pool.truth[index]).sum())
        for student in ("vat", "gan"):
            row = {"student": student, "labels": n, "wrong_labels": wrong}
            rows += [row | point for point in train(student, pool, index, settings)]
            progress("%s on %d labels: %.1f %%", student, n, 100 * rows[-1]["accuracy"])
    return pd.DataFrame(rows)


def train(student: str, pool: Pool, index: np.ndarray, settings: Mapping) -> list[dict]:
    """Return epochs, accuracies beyond the pool and processor seconds of one training.

    Args:
        student: ``vat`` or ``gan``.
        pool: the images.
        index: the pool's images with labels.
        settings: as `compare` takes them.
    """
    size = len(pool.released)
    seconds = [time.process_time()]

    def observe(scores):
        seconds.append(time.process_time())
        return (scores(pool.images[size:]).argmax(axis=1) == pool.truth[size:]).mean()

    conditions = Conditions(seed=0, path=("benchmark", student), observe=observe)
    data = pool.images[:size], index, pool.released[index], pool.n_classes
    epochs = settings["epochs"][student]
    if student == "gan":
        widths = {name: tuple(settings[name]) for name in ("widths", "generator_widths")}
        student_settings = FeatureMatching(epochs=epochs, **widths)
        _, observed = train_gan(*data, student_settings, conditions, pixel_max=pool.pixel_max)
    else:
        student_settings = Training(epochs=epochs)
        _, observed = train_network(
            *data, student_settings, conditions, unlabelled=True, pixel_max=pool.pixel_max
        )
    step = max(1, len(observed) // _SHOWN)
    return [
        {"epoch": epoch, "accuracy": observed[epoch - 1], "seconds": seconds[epoch] - seconds[0]}
        for epoch in range(step, len(observed) + 1, step)
    ]
