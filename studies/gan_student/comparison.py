"""Students of MNIST on few labels: virtual adversarial training against PATE's kind of GAN.

The labels are those that PATE 2017's ensemble released: of the 100 queries that its student had,
and of 1,000 drawn by a seed, whose labels it released as well. Both see the same 9,000 images and
are evaluated on the last 1,000. Seconds are processor time on one thread.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, describe, with_machine
from benchmarks.writing import chapter, table

FOLDERS = ("../shared/data", "data/raw")
LABELS = (100, 1000)
# Epochs of each, and of --quick; the GAN has half the authors' widths, for a CPU.
EPOCHS = {"vat": 8, "gan": 40}
QUICK = {"vat": 2, "gan": 2}
WIDTHS = {"widths": (500, 250, 250, 250), "generator_widths": (300, 300)}
SHOWN = 10  # rows of each training, at equal distances


def measure(*, quick: bool = False) -> pd.DataFrame:
    """All measurements as a tidy frame: student, labels, wrong_labels, epoch, accuracy, seconds.

    Raises ValueError where the files of MNIST or of the labels are not at hand.
    """
    images, truth, released, queries = read()
    facts = describe("numpy", "torch")
    rows = []
    for n in LABELS[:1] if quick else LABELS:
        drawn = np.random.default_rng(0).permutation(len(released))[:n]
        index = queries if n == len(queries) else drawn
        for student in EPOCHS:
            epochs = (QUICK if quick else EPOCHS)[student]
            wrong = int((released[index] != truth[index]).sum())
            row = {"student": student, "labels": n, "wrong_labels": wrong}
            data = images, truth, index, released[index]
            rows += [row | point for point in train(student, *data, epochs)]
    return with_machine(rows, facts)


def read() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """MNIST's test images and labels, the labels released for the first of them, and queries."""
    from private_ensembles.datasets.idx import read_images, read_labels
    from private_ensembles.datasets.released import load_released_labels

    for folder in (ROOT / name for name in FOLDERS):
        theirs, mnist = folder / "pate-2017", folder / "mnist"
        if theirs.is_dir() and mnist.is_dir():
            found = load_released_labels(
                "pate-2017",
                theirs / "mnist_250_student_labels_lap_20.npy",
                theirs / "mnist_250_teachers_100_indices_used_by_student.npy",
                n_classes=10,
            )
            images = read_images(mnist / "t10k-images-idx3-ubyte.gz")
            truth = read_labels(mnist / "t10k-labels-idx1-ubyte.gz").astype(np.int64)
            return images, truth, found.test_labels.astype(np.int64), found.train_queries
    raise ValueError(f"mnist/ and pate-2017/ must be in one of {', '.join(FOLDERS)}")


def train(student, images, truth, index, labels, epochs) -> list[dict]:
    """Epochs, accuracies beyond the pool and processor seconds of one training."""
    from benchmarks.gan import FeatureMatching, train_gan
    from private_ensembles.student.images import train_network
    from private_ensembles.student.training import Conditions, Training

    pool = 9 * len(images) // 10
    seconds = [time.process_time()]

    def observe(scores):
        seconds.append(time.process_time())
        return (scores(images[pool:]).argmax(axis=1) == truth[pool:]).mean()

    conditions = Conditions(seed=0, path=("benchmark", student), observe=observe)
    data = images[:pool], index, labels, 10
    if student == "gan":
        settings = FeatureMatching(epochs=epochs, **WIDTHS)
        _, observed = train_gan(*data, settings, conditions, pixel_max=255)
    else:
        settings = Training(epochs=epochs)
        _, observed = train_network(*data, settings, conditions, unlabelled=True, pixel_max=255)
    step = max(1, len(observed) // SHOWN)
    return [
        {"epoch": epoch, "accuracy": observed[epoch - 1], "seconds": seconds[epoch] - seconds[0]}
        for epoch in range(step, len(observed) + 1, step)
    ]


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    ends = data.groupby(["labels", "student"], sort=False).tail(1)
    columns = {
        "labels (wrong)": "{labels:,} ({wrong_labels})",
        "student": "{student}",
        "epochs": "{epoch}",
        "accuracy": "{accuracy:.1%}",
        "seconds": "{seconds:.0f}",
    }
    return chapter(
        "Students of MNIST on few labels",
        "students",
        "Labels that PATE 2017's ensemble released, some of them wrong; accuracy on the last 1,000 "
        "test images. vat: virtual adversarial training, the workflow's student. gan: feature "
        "matching after Salimans et al. (2016), the paper's kind of student, at half its width.",
        data,
        table(columns, ends, words=2),
    )
