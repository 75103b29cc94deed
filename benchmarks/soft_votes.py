"""Votes against scores: right labels of teachers who give a class, or a probability for each.

Teachers of MNIST and of the embedded digits, as PATE's section of config.yaml trains them. A soft
vote is the vector of a teacher's probabilities in hundredths; a drawn one is a class drawn from it.
All have the noise that their own account finds for the same (epsilon, delta).
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import ROOT, describe, with_machine
from benchmarks.writing import chapter, table

FOLDERS = ("../shared/data/mnist", "data/raw/mnist")
DELTA, PARTS, CLASSES = 1e-5, 100, 10
TEACHERS, LABELS, EPSILONS = (50, 250), (100, 1000), (0.5, 1.0, 2.0)
MECHANISMS = {
    "exponential": "exponential mechanism",
    "gnmax_analytic": "GNMax, noisy counts",
    "gnmax_exact": "GNMax, labels",
}
# Network and training of PATE's teachers, by data set (config.yaml, pate/tasks).
TRAINING = {
    "mnist": {
        "model": "mnist_cnn",
        "batch_size": 16,
        "epochs": 12,
        "learning_rate": 0.05,
        "learning_rate_schedule": "linear",
        "momentum": 0.9,
    },
    "digits": {
        "model": "mlp",
        "batch_size": 10,
        "epochs": 40,
        "learning_rate": 0.1,
        "momentum": 0.9,
    },
}
# Trained teachers' scores, so that only the first measurement takes minutes.
KEPT = Path(tempfile.gettempdir()) / "private-ensembles-soft-votes"
DRAWS = 5


def measure(*, quick: bool = False) -> pd.DataFrame:
    """A row for each data set, number of teachers, budget and mechanism.

    hard, soft, drawn: expected shares of right labels, over all queries. difference: soft less
    hard, error: its standard error over queries. quick: 50 teachers of the digits, one budget.
    MNIST is left out, with a word of why, where its files are not at hand.
    """
    facts = describe("numpy", "scipy", "torch")
    ensembles = [("digits", teachers) for teachers in TEACHERS[: 1 if quick else None]]
    if not quick and mnist_folder() is not None:
        ensembles += [("mnist", teachers) for teachers in TEACHERS]
    elif not quick:
        print(f"MNIST is left out: no {' or '.join(FOLDERS)}", file=sys.stderr)
    rows = []
    for data, teachers in ensembles:
        scores, truth = scores_of(data, teachers)
        budgets = (LABELS[:1], (1.0,)) if quick else (LABELS, EPSILONS)
        rows += [{"data": data} | row for row in compared(scores, truth, *budgets)]
        print(f"{data}, {teachers} teachers: done", file=sys.stderr, flush=True)
    return with_machine(rows, facts)


def mnist_folder() -> Path | None:
    """The folder with MNIST's files, if there is one."""
    folders = (ROOT / name for name in FOLDERS)
    return next((folder for folder in folders if folder.is_dir()), None)


def scores_of(data: str, teachers: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, float32 (queries, teachers, classes), and the true classes (queries,)."""
    kept = KEPT / f"{data}-{teachers}.npz"
    if not kept.is_file():
        scores, truth = trained(data, teachers)
        KEPT.mkdir(parents=True, exist_ok=True)
        np.savez(kept, scores=scores, labels=truth)
    with np.load(kept, allow_pickle=False) as arrays:
        return arrays["scores"], arrays["labels"].astype(np.int64)


def trained(data: str, teachers: int) -> tuple[np.ndarray, np.ndarray]:
    """Train the teachers on disjoint shards, and ask each for its probabilities on the queries."""
    import torch

    from private_ensembles.datasets.shards import permutation_shards
    from private_ensembles.noise.streams import generator
    from private_ensembles.teachers.device import channels_last, scaled
    from private_ensembles.teachers.ensemble import train_ensemble
    from private_ensembles.teachers.models import build_model
    from private_ensembles.teachers.sharded_records import ShardedRecords
    from private_ensembles.teachers.sources import Randomness

    images, labels, queries, truth, pixel_max = _images(data)
    name = f"{data}-10"
    shards = permutation_shards(len(labels), teachers, generator(0, name, "shards", teachers, 0))
    records = ShardedRecords(images, labels, list(shards), pixel_max, CLASSES)
    states = train_ensemble("plain", records, TRAINING[data], Randomness(0, (name, 0)))
    network = build_model(TRAINING[data]["model"], queries.shape[1:], CLASSES).eval()
    scores = np.empty((len(queries), teachers, CLASSES), np.float32)
    with torch.inference_mode():
        for teacher, state in enumerate(states):
            network.load_state_dict(state)
            parts = torch.as_tensor(queries).split(64)
            logits = [network(channels_last(scaled(part, pixel_max))) for part in parts]
            scores[:, teacher] = torch.softmax(torch.cat(logits), dim=1).numpy()
    return scores, truth


def _images(data: str):
    """Images and labels of the teachers, and of the queries, and the largest value of a pixel."""
    if data == "digits":
        from sklearn.datasets import load_digits

        from private_ensembles.noise.streams import generator

        digits = load_digits()
        order = generator(0, "digits-10", "split").permutation(len(digits.target))
        images, labels = digits.images.astype(np.uint8)[order], digits.target[order]
        return images[:1000], labels[:1000].astype(np.uint8), images[1000:], labels[1000:], 16
    from private_ensembles.datasets.idx import read_images, read_labels

    folder = mnist_folder()
    parts = []
    for part in ("train", "t10k"):
        parts.append(read_images(folder / f"{part}-images-idx3-ubyte.gz"))
        parts.append(read_labels(folder / f"{part}-labels-idx1-ubyte.gz"))
    return parts[0], parts[1], parts[2][::2], parts[3][::2], 255


def compared(scores, truth, label_counts, epsilons) -> list[dict]:
    """Rows for one ensemble: each number of labels, epsilon and mechanism."""
    from private_ensembles.mechanisms.mechanism import load
    from private_ensembles.mechanisms.task import Task
    from private_ensembles.votes.ballots import counted, soft_counts

    queries, teachers, classes = scores.shape
    votes = scores.argmax(axis=2)
    hard, soft = counted(votes, classes), soft_counts(scores, PARTS)
    generator = np.random.default_rng(0)
    drawn = [counted(_drawn(scores, generator), classes) for _ in range(DRAWS)]
    own = scores[np.arange(queries), :, truth]
    facts = {
        "teachers": teachers,
        "queries": queries,
        "teacher_right": (votes == truth[:, None]).mean(),
        "teacher_probability": own.mean(),
        "hard_lead": _lead(hard, truth).mean() / teachers,
        "soft_lead": _lead(soft, truth).mean() / teachers / PARTS,
        "hard_plurality": (hard.argmax(axis=1) == truth).mean(),
        "soft_plurality": (soft.argmax(axis=1) == truth).mean(),
    }
    rows = []
    for labels in label_counts:
        for epsilon in epsilons:
            whole = Task(epsilon, DELTA, labels, labels, teachers, classes)
            split = replace(whole, n_votes=teachers * PARTS, ballot=PARTS, split=True)
            for name in MECHANISMS:
                mechanism = load(name)
                noise, parts = mechanism.calibrate(whole), mechanism.calibrate(split)
                of_hard = mechanism.law.right(hard, truth, noise)
                of_soft = mechanism.law.right(soft, truth, parts)
                of_drawn = [mechanism.law.right(counts, truth, noise) for counts in drawn]
                apart = of_soft - of_hard
                rows.append(
                    facts
                    | {"labels": labels, "epsilon": epsilon, "mechanism": name}
                    | {"hard": of_hard.mean(), "soft": of_soft.mean()}
                    | {"drawn": np.mean(of_drawn), "difference": apart.mean()}
                    | {"error": apart.std(ddof=1) / np.sqrt(queries)}
                )
    return rows


def _drawn(scores: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A class drawn from every vector, (queries, teachers)."""
    ends = scores.cumsum(axis=2, dtype=np.float64)
    return (generator.random((*scores.shape[:2], 1)) * ends[..., -1:] > ends[..., :-1]).sum(axis=2)


def _lead(counts: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """By how much the right class is ahead of the best other one."""
    rows = np.arange(len(counts))
    others = counts.copy()
    others[rows, truth] = -1
    return counts[rows, truth] - others.max(axis=1)


def section(data: pd.DataFrame) -> str:
    """The results in Markdown."""
    first = data.drop_duplicates(["data", "teachers"])
    about = {
        "data": "{data}",
        "teachers": "{teachers}",
        "one teacher is right": "{teacher_right:.1%}",
        "its probability of the right class": "{teacher_probability:.1%}",
        "lead of votes": "{hard_lead:.1%}",
        "lead of scores": "{soft_lead:.1%}",
        "plurality of votes is right": "{hard_plurality:.1%}",
        "of scores": "{soft_plurality:.1%}",
    }
    keys = ["data", "teachers", "labels", "epsilon"]
    columns = {"data": "{data}", "teachers": "{teachers}", "labels": "{labels:,}", "ε": "{epsilon}"}
    rows = []
    for values, part in data.groupby(keys, sort=False):
        row = dict(zip(keys, values, strict=True))
        for mechanism, found in part.set_index("mechanism").iterrows():
            apart = f"{100 * found.difference:+.2f} ± {100 * found.error:.2f}"
            row[mechanism] = f"{100 * found.hard:.1f} → {100 * found.soft:.1f} ({apart})"
        row["drawn"] = f"{100 * part.set_index('mechanism')['drawn']['gnmax_exact']:.1f}"
        rows.append(row)
    columns |= {words: f"{{{name}}}" for name, words in MECHANISMS.items()}
    columns |= {"the last one, drawn votes": "{drawn}"}
    return chapter(
        "Votes against scores",
        "soft_votes",
        "Teachers on disjoint shards give a class, or the probabilities of all classes, in "
        f"hundredths. Expected shares of right labels, in per cent, at δ = 10⁻⁵: votes → scores "
        "(difference ± its standard error over the queries), each with the noise that its own "
        "account finds ([soft votes](../ballots.md#soft-votes)). Drawn votes: a class drawn from "
        f"each teacher's probabilities, the mean of {DRAWS} draws. A lead is that of the right "
        "class over the best other one, as a share of all votes.",
        data,
        table(about, first, words=1),
        table(columns, pd.DataFrame(rows), words=1),
    )
