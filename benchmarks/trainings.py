"""What takes the run on the papers' data its time: trainings and votes, this code against an older.

python benchmarks/run.py trainings --against COMMIT

A training does the same in every step, so a piece of each kind is measured, in a process of its
own and on one thread, the code of both commits in turns; seconds are processor time, the least of
the rounds. How many such units a run has follows from config.yaml, each commit's own. Images are
random, since no kernel's time depends on their values; bagged teachers and their students see UCI
Adult, if it is at hand, teachers with as many shards and queries as the largest ensembles of
boosted trees. Votes whose labels are accounted for are drawn at random, for as many records.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import machine, process

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
SHAPE, SHARD = (28, 28), 240
RECORDS = 16_280  # a third of UCI Adult


def _students(method: str, images: int, how: dict) -> Callable[[], object]:
    from private_ensembles.student.students import train_student

    source = np.random.default_rng(0)
    pool = source.integers(0, 256, (images, *SHAPE)).astype(np.uint8)
    labelled = min(images, 366) if method == "vat" else images
    index, labels = np.arange(labelled), source.integers(0, 10, labelled)
    return lambda: train_student(method, pool, index, labels, 10, how | {"epochs": 1}, seed=0)


def _teachers(kind: str, teachers: int, told: dict) -> Callable[[], object]:
    from private_ensembles.teachers.ensemble import train_ensemble
    from private_ensembles.teachers.sharded_records import ShardedRecords
    from private_ensembles.teachers.training import Randomness

    images, labels = _images(SHARD * teachers)
    shards = np.arange(SHARD * teachers).reshape(teachers, SHARD)
    records = ShardedRecords(images, labels, shards, pixel_max=255, n_classes=10)
    return lambda: train_ensemble(kind, records, told | {"epochs": 1}, Randomness(seed=0))


def _votes(model: str, queries: int) -> Callable[[], object]:
    from private_ensembles.teachers.models import build_model
    from private_ensembles.teachers.voting import cast_votes

    images, _ = _images(queries)
    states = [build_model(model, SHAPE, 10).state_dict()]
    return lambda: cast_votes(states, images, model=model, pixel_max=255, n_classes=10)


def _bagged(model: str, shards: int, how: dict) -> Callable[[], object]:
    from benchmarks.dpbag import records
    from private_ensembles.papers.dpbag.experiment import cast_votes

    thirds, _ = records()
    how = {"training": how, "n": shards, "partitions": [0], "n_queries": 7588, "seed": 0}
    return lambda: cast_votes(thirds, model, **how, path=("benchmark",))


def _intercepts(teachers: int) -> Callable[[], object]:
    from private_ensembles.papers.dpbag import intercept
    from private_ensembles.papers.dpbag.experiment import Thirds

    shards = teachers // 4  # in four partitions, since what they start from is fitted once
    source = np.random.default_rng(0)
    records = 65 * shards  # as UCI Adult's thirds have at 250 shards, and its columns
    features = (source.random((records, 108)) < 0.13).astype(float)
    labels = (features[:, :20].sum(axis=1) > 2).astype(np.int64)
    thirds = Thirds(*[(features, labels)] * 3)
    how = {"n": shards, "partitions": range(4), "n_queries": min(7570, records), "C": 1, "seed": 0}
    return lambda: intercept.cast_votes(thirds, **how, path=("benchmark",))


def _bagged_students(model: str, labels: int, students: int, how: dict) -> Callable[[], object]:
    from benchmarks.dpbag import records
    from private_ensembles.papers.dpbag.students import student_metrics

    thirds, _ = records()
    features, truth = thirds.queries
    parts = [slice(start, start + labels) for start in range(0, 10 * students, 10)]
    return lambda: [
        student_metrics(features[part], truth[part], thirds.test, model, how) for part in parts
    ]


def _accounts(counted: int) -> Callable[[], object]:
    from benchmarks.dpbag import _bagged
    from private_ensembles.papers.dpbag.experiment import account

    votes = _bagged(250, 100, RECORDS, counted // 100)
    settings = {"epsilon": [1, 3, 5], "delta": 1e-5, "delta_of_counts": 1e-3, "order_max": 80}
    # Each label costs more than in a run, so that budgets end as early among the fewer queries.
    noise = 2 * (RECORDS / votes.n_queries) ** 0.5
    return lambda: account(votes, settings | {"noise": noise}, [10, 50, 100])


def _images(count: int) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(0)
    images = source.integers(0, 256, (count, *SHAPE)).astype(np.uint8)
    return images, source.integers(0, 10, count).astype(np.uint8)


# Each kind: what makes a piece of it, and the piece's size in units, whole and --quick.
KINDS = {
    "students, virtual adversarial": (lambda n, **how: _students("vat", n, how), 1024, 128),
    "students, labels only": (lambda n, **how: _students("supervised", n, how), 2048, 128),
    "students, non-private baselines": (
        lambda n, **how: _students("supervised", n, how),
        2048,
        128,
    ),
    "teachers of ten classes": (lambda n, **how: _teachers("plain", n // SHARD, how), 6000, 240),
    "teachers of two classes": (lambda n, **how: _teachers("plain", n // SHARD, how), 2880, 240),
    "private teachers": (lambda n, **how: _teachers("private", n // SHARD, how), 2880, 240),
    "votes of ten classes": (lambda n: _votes("mnist_cnn", n), 10_000, 200),
    "votes of two classes": (lambda n: _votes("darrm_cnn", n), 5_000, 200),
    "bagged logistic teachers": (lambda n, **how: _bagged("logistic", n, how), 150, 70),
    "bagged boosted trees": (lambda n, **how: _bagged("boosted_trees", n, how), 150, 70),
    "penalised intercepts": (_intercepts, 1000, 40),
    # with about as many labels as they have on average
    "bagged logistic students": (
        lambda n, **how: _bagged_students("logistic", 900, n, how),
        100,
        2,
    ),
    "bagged boosted students": (
        lambda n, **how: _bagged_students("boosted_trees", 600, n, how),
        40,
        2,
    ),
    "accounts of bagged teachers": (_accounts, 200_000, 1_000),
}


def units(config: dict, *, sharing: bool = True) -> dict[str, int]:
    """How many units of each kind a run on the papers' data without SVHN has, by its configuration.

    sharing: whether NZC's labels and those without noise, which are the same, have one student. An
    image of the pool (virtual adversarial) or with a label, seen once; an image seen by a teacher;
    a vote; a bagged teacher with its votes, and a student of theirs; a query on which the votes of
    a partition's teachers are counted for each record.
    """
    from private_ensembles.papers.dpbag.experiment import queries_needed

    darrm, pate, nzc = config["darrm"], config["pate"], config["nzc"]
    mnist, bagged, data = pate["tasks"]["mnist"], config["dpbag"], config["datasets"]
    train, queries = data[mnist["dataset"]]["n_train"], data[mnist["dataset"]]["n_test"]
    two = [data[name] for name in darrm["datasets"]]
    repeats, seeds = len(darrm["training_seeds"]), len(pate["student_seeds"])
    # confident, LNMax's numbers of queries, and the authors' labels
    students = seeds * (1 + len(mnist["lnmax"]["queries"]) + 1)
    rounds = mnist["interactive_students"]
    epochs = students * _of_mnist(config, "student")["epochs"]
    epochs += 3 * len(rounds["seeds"]) * rounds["student_parameters"]["epochs"]
    few = nzc["tasks"]["mnist"]
    # LNMax's, and those of NZC, no noise (each of all and of few teachers) and the true labels
    labels = sum(few["queries"]) + (3 if sharing else 5) * mnist["pool"]
    trained = {"plain": darrm["plain_teachers"], "private": darrm["private_teachers"]}
    of_two = {
        kind: repeats * how["epochs"] * sum(one["n_train"] for one in two)
        for kind, how in trained.items()
    }
    bagged_models = bagged["logistic"], bagged["boosted_trees"]
    # SAA's, and DPBag's and DPBag-'s of each number of partitions, for each budget and two deltas
    of_bagged = [
        len(how["n"]) * bagged["draws"] * 2 * len(bagged["epsilon"]) * (1 + 2 * len(how["k"])) + 1
        for how in bagged_models
    ]
    counted = sum(
        len(how["seeds"]) * max(how["k"]) * queries_needed(bagged, n, RECORDS)
        for how in bagged_models
        for n in how["n"]
    )
    ensembles = [{"K": mnist["K"], "epochs": mnist["teachers"]["epochs"]}, *few["ensembles"]]
    return {
        "students, virtual adversarial": epochs * mnist["pool"],
        "students, labels only": len(nzc["student_seeds"]) * nzc["student"]["epochs"] * labels,
        "students, non-private baselines": seeds * _of_mnist(config, "baseline")["epochs"] * train,
        "teachers of ten classes": sum(one["epochs"] for one in ensembles) * train,
        "teachers of two classes": of_two["plain"],
        "private teachers": of_two["private"],
        "votes of ten classes": sum(one["K"] for one in ensembles) * queries,
        "votes of two classes": 2 * repeats * darrm["K"] * sum(one["n_test"] for one in two),
        **{
            kind: len(how["seeds"]) * max(how["k"]) * sum(how["n"])
            for kind, how in zip(
                ("bagged logistic teachers", "bagged boosted trees"), bagged_models, strict=True
            )
        },
        **{
            kind: len(how["seeds"]) * students_of_a_split
            for kind, how, students_of_a_split in zip(
                ("bagged logistic students", "bagged boosted students"),
                bagged_models,
                of_bagged,
                strict=True,
            )
        },
        "accounts of bagged teachers": counted,
        "penalised intercepts": len(bagged["logistic"]["seeds"])
        * max(bagged["logistic"]["k"])
        * max(bagged["logistic"]["n"]),
    }


def _of_mnist(config: dict, kind: str) -> dict:
    own = config["pate"]["tasks"]["mnist"].get(f"{kind}_parameters", {})
    return config["pate"][f"{kind}s"]["vat"] | own


def parameters(config: dict) -> dict[str, dict]:
    """How teachers and students are trained, by a configuration: all but the epochs."""
    told = {
        "students, virtual adversarial": _of_mnist(config, "student"),
        "students, labels only": config["nzc"]["student"],
        "students, non-private baselines": _of_mnist(config, "baseline"),
        "teachers of ten classes": config["pate"]["tasks"]["mnist"]["teachers"],
        "teachers of two classes": config["darrm"]["plain_teachers"],
        "private teachers": config["darrm"]["private_teachers"],
        "bagged logistic teachers": config["dpbag"]["logistic"],
        "bagged boosted trees": config["dpbag"]["boosted_trees"],
        "bagged logistic students": config["dpbag"]["logistic"],
        "bagged boosted students": config["dpbag"]["boosted_trees"],
    }
    sizes = ("epochs", "method", "n", "k", "seeds")
    return {
        kind: {key: value for key, value in how.items() if key not in sizes}
        for kind, how in told.items()
    }


def measure_piece(kind: str, quick: bool = False, how: dict | None = None) -> dict:
    """Units of a piece and its processor seconds, after a small one that pays for start-up.

    how: what a configuration says of this kind of teachers or students.
    """
    import torch

    torch.set_num_threads(1)
    make, whole, small = KINDS[kind]
    make(small, **how or {})()
    size = small if quick else whole
    piece = make(size, **how or {})
    started = time.process_time()
    piece()
    return {"units": size, "seconds": time.process_time() - started}


def measure(*, quick: bool = False, full: bool = False, against: str | None = None) -> pd.DataFrame:
    """One row per kind and code: the fastest round, and the run's units. full: nothing more."""
    import yaml

    facts = {**machine.describe("torch", "numpy", "scikit-learn"), "commit": machine.commit()}
    rows = []
    with process.checkout(against) if against else nullcontext() as folder:
        codes = {"new": None} | ({"old": Path(folder)} if against else {})
        runs, trained = {}, {}
        for code, library in codes.items():
            tree = library.parent if library else ROOT
            config = yaml.safe_load((tree / "config.yaml").read_text("utf-8"))
            students = (tree / "workflow" / "private_ensembles").glob("*/students.py")
            sharing = any("first_alike" in path.read_text("utf-8") for path in students)
            runs[code] = units(config, sharing=sharing)
            trained[code] = parameters(config)
        for kind in KINDS:
            for number in range(1 if quick else ROUNDS):
                for code, library in codes.items():
                    what = {"kind": kind, "quick": quick, "how": trained[code].get(kind)}
                    result = process.in_a_process(
                        "trainings", "measure_piece", **what, library=library
                    )
                    row = {"kind": kind, "code": code, "round": number, **result}
                    rows.append(row | {"run_units": runs[code][kind], "against": against or ""})
    data = pd.DataFrame(rows)
    machine.attach(data, facts)
    return data


def page(data: pd.DataFrame) -> str:
    """The measurements as a page of Markdown."""
    against = data["against"].iloc[0]
    lines = [
        "# Benchmark: trainings of the run on the papers' data",
        "",
        "Made by `python benchmarks/run.py trainings"
        f"{f' --against {against}' if against else ''} --write-docs`; numbers behind it: "
        "[trainings.csv](trainings.csv). Seconds are processor time on one thread, the least of "
        f"{data['round'].nunique()} rounds in turns. **What the run takes is extrapolated** from "
        "the rate of a piece and the units in the run (without SVHN), which config.yaml says. A "
        "unit is an image seen once in a training, a vote, a bagged teacher with its votes (of 108 "
        "records; the study of the intercept's have 65), a student of theirs, tested, or a query "
        "on which the votes of a partition's teachers are counted for each record.",
        "",
        *(f"- {name}: {value}" for name, value in machine.attached(data).items()),
        "",
        "| kind | code | units/s | units in the run | run (s) |",
        "| --- | --- |" + " ---: |" * 3,
    ]
    best = data.loc[data.groupby(["kind", "code"], sort=False)["seconds"].idxmin()]
    best = best.assign(rate=best["units"] / best["seconds"])
    best["run"] = best["run_units"] / best["rate"]
    for row in best.to_dict("records"):
        lines.append(
            f"| {row['kind']} | {row['code']} | {row['rate']:,.0f} | {row['run_units']:,} | "
            f"{row['run']:,.0f} |"
        )
    for code, rows in best.groupby("code", sort=False):
        lines.append(f"| together | {code} | | | {rows['run'].sum():,.0f} |")
    return "\n".join([*lines, ""])
