"""How long plain teachers of MNIST need to train: config.yaml's way against an earlier one.

python benchmarks/run.py teacher_epochs --write-docs

Each way trains the same teachers, by shard and seed, for every ensemble that PATE and NZC compare.
They see the first 50,000 training images and are evaluated on the other 10,000. The workflow's
queries are test images, and those have no part in it. Seconds are processor time on one thread.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import machine

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("../shared/data", "data/raw")
TRAINED = 50_000
MOST_IMAGES = 24_000  # of all teachers measured of one size, and at most so many teachers:
MOST_TEACHERS = 64
LEAST_TEACHERS = 4
# As these teachers were trained until November 2026, at a rate that stays the same.
EARLIER = {250: 30, 100: 20, 50: 10, 25: 10, 10: 5, 5: 5}
CONSTANT = {"batch_size": 32, "learning_rate": 0.05, "momentum": 0.9}


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """One row per size of ensembles and way to train. full: the same.

    Columns: K, shard (images), way, batch_size, epochs, schedule, teachers (measured), accuracy (of
    a teacher: mean), standard_error, plurality (share of images that it gets right), gap (mean
    share of votes for the leading class less that for the second), seconds (of a training: mean).

    Raises ValueError if the files of MNIST are not at hand.
    """
    images, labels = read()
    facts = {**machine.describe("numpy", "torch"), "commit": machine.commit()}
    rows = []
    for K, ways in settings().items():
        shard = 60_000 // K
        teachers = max(LEAST_TEACHERS, min(MOST_TEACHERS, MOST_IMAGES // shard))
        teachers = 2 if quick else min(K, teachers)
        for way, parameters in ways.items():
            found = train(images, labels, shard, teachers, parameters)
            schedule = parameters.get("learning_rate_schedule", "constant")
            how = {"way": way, "schedule": schedule} | {
                key: parameters[key] for key in ("batch_size", "epochs")
            }
            rows.append({"K": K, "shard": shard, "teachers": teachers} | how | found)
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def settings() -> dict[int, dict[str, dict]]:
    """Parameters by number of teachers and way: `earlier`, and `now`, which config.yaml says."""
    import yaml

    config = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    task = config["pate"]["tasks"]["mnist"]
    epochs = {task["K"]: task["teachers"]["epochs"]}
    epochs |= {one["K"]: one["epochs"] for one in config["nzc"]["tasks"]["mnist"]["ensembles"]}
    now = {key: value for key, value in task["teachers"].items() if key != "model"}
    return {
        K: {"earlier": CONSTANT | {"epochs": EARLIER[K]}, "now": now | {"epochs": epochs[K]}}
        for K in sorted(epochs, reverse=True)
    }


def read() -> tuple[np.ndarray, np.ndarray]:
    """MNIST's training images, uint8 (60000, 28, 28), and their classes."""
    from private_ensembles.datasets.idx import read_images, read_labels

    for folder in (ROOT / name / "mnist" for name in FOLDERS):
        if folder.is_dir():
            images = read_images(folder / "train-images-idx3-ubyte.gz").copy()  # for PyTorch
            return images, read_labels(folder / "train-labels-idx1-ubyte.gz").copy()
    raise ValueError(f"mnist/ must be in one of {', '.join(FOLDERS)}")


def train(images, labels, shard: int, teachers: int, parameters: dict) -> dict:
    """What so many teachers, each on a shard of its own, know of the images that none has seen."""
    import torch

    from private_ensembles.teachers.ensemble import train_ensemble
    from private_ensembles.teachers.sharded_records import ShardedRecords
    from private_ensembles.teachers.training import Randomness
    from private_ensembles.teachers.voting import cast_votes

    torch.set_num_threads(1)
    trained = min(TRAINED, 5 * len(images) // 6)
    order = np.random.default_rng(0).permutation(trained)
    shards = [order[i * shard : (i + 1) * shard] for i in range(teachers)]
    kinds = {"pixel_max": 255, "n_classes": 10}
    started = time.process_time()
    states = train_ensemble(
        "plain",
        ShardedRecords(images, labels, shards, **kinds),
        {"model": "mnist_cnn"} | parameters,
        Randomness(seed=0, path=("benchmark",)),
    )
    seconds = time.process_time() - started
    votes = cast_votes(states, images[trained:], model="mnist_cnn", **kinds)
    right = (votes == labels[trained:, None]).mean(axis=0)
    counts = (votes[:, :, None] == np.arange(10)).sum(axis=1)
    first, second = np.sort(counts, axis=1)[:, :-3:-1].T
    return {
        "accuracy": right.mean(),
        "standard_error": right.std(ddof=1) / np.sqrt(teachers),
        "plurality": (counts.argmax(axis=1) == labels[trained:]).mean(),
        "gap": ((first - second) / teachers).mean(),
        "seconds": seconds / teachers,
    }


def page(data: pd.DataFrame) -> str:
    """The measurements as a page of Markdown."""
    lines = [
        "# Benchmark: how long teachers of MNIST need to train",
        "",
        "Made by `python benchmarks/run.py teacher_epochs --write-docs`; numbers behind it: "
        "[teacher_epochs.csv](teacher_epochs.csv). Shards of the first 50,000 training images, "
        "evaluated on the other 10,000. Earlier: one learning rate, batches of 32. Now: what "
        "config.yaml says, a rate that falls to 0 and batches of 16; shards and initial weights "
        "are the same. The gap is the leading class's share of the votes less the second's, on "
        "average. Seconds are processor time of one training on one thread.",
        "",
        *(f"- {name}: {value}" for name, value in machine.attached(data).items()),
        "",
        "| K | shard | teachers measured | way | epochs | a teacher is right on | plurality | gap "
        "| seconds |",
        "| ---: | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for row in data.to_dict("records"):
        lines.append(
            f"| {row['K']} | {row['shard']:,} | {row['teachers']} | {row['way']} | {row['epochs']} "
            f"| {100 * row['accuracy']:.2f} % ± {100 * row['standard_error']:.2f} "
            f"| {100 * row['plurality']:.1f} % | {row['gap']:.3f} | {row['seconds']:.2f} |"
        )
    # What all trainings of a run take: K teachers of each size.
    whole = (data["seconds"] * data["K"]).groupby(data["way"], sort=False).sum()
    told = ", ".join(f"{seconds:,.0f} s ({way})" for way, seconds in whole.items())
    return "\n".join([*lines, "", f"All K teachers of every size: {told}.", ""])
