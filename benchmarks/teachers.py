"""Training ensembles: one teacher after the other against all in one computation.

Every measurement runs in a process of its own, on one thread, and its peak memory is its own. A
training does the same to every teacher and in every step, so some steps are measured, after one
that pays for start-up, and the time of a whole training is their rate times its images: the page
says so. Images are random, since no kernel's time depends on their values.
"""

from __future__ import annotations

import os
import time
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pandas as pd

from benchmarks import machine
from benchmarks.process import in_a_process, peak

ENSEMBLES = {"cpu": (11, 50, 250), "cuda": (11, 50, 250, 1000)}
# Networks of the papers, and small models of the embedded run: shape of an image, classes, and
# about how many images are measured, so that each measurement takes a second or a few.
NETWORKS = {"darrm_cnn": ((28, 28), 2, 8_000), "mnist_cnn": ((28, 28), 10, 16_000)}
SMALL = {"linear": ((8, 8), 2, 200_000), "mlp": ((8, 8), 10, 200_000)}
MODELS = {"cpu": NETWORKS | SMALL, "cuda": NETWORKS}
SHARD, BATCH, EPOCHS = 1024, 32, 5  # DaRRM section 6.2 on MNIST
PRIVATE = {"noise_multiplier": 12.0, "max_grad_norm": 1.0}
SEQUENTIAL = 11  # teachers that are trained one after the other; more take in proportion
GPU_STEPS = 20  # at least, because a step there is too short to be measured alone
# Through all measurements, of which the fastest counts, on a host that is shared. On a GPU in one
# process, because to start it takes longer than to measure.
ROUNDS = 3
# How a step's gradients are computed, by device, and for how many teachers.
WAYS = {
    "cpu": ("grouped convolutions", "batched products"),
    "cuda": (
        "grouped convolutions",
        "batched products",
        "bfloat16",
        "torch.compile",
        "CUDA graphs",
    ),
}
STEP = {"cpu": 11, "cuda": 250}
COMPILED = {"torch.compile": {}, "CUDA graphs": {"mode": "reduce-overhead"}}
# Kind of teachers, and whether all train together.
METHODS = {
    "sequential Opacus": ("private", False),
    "ensemble DP-SGD": ("private", True),
    "sequential plain": ("plain", False),
    "ensemble plain": ("plain", True),
}
EARLIER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "teachers.csv"


def measure_training(
    kind: str, together: bool, K: int, model: str, device: str = "cpu", rounds: int = 1
) -> dict:
    """Seconds of some steps of K teachers, the images in them, and memory before and at the peak.

    together: all K teachers at once; else one after the other, SEQUENTIAL at most. rounds: repeat
    so often and return the fastest.
    """
    import torch

    from private_ensembles.teachers import ensemble
    from private_ensembles.teachers.device import choose_device
    from private_ensembles.teachers.sharded_records import ShardedRecords
    from private_ensembles.teachers.training import Randomness

    # Noise is drawn on the CPU, while a GPU works: on all cores there.
    device = choose_device(device, os.cpu_count() if device == "cuda" else 1)
    shape, n_classes, images = MODELS[device.type][model]
    trained = K if together else min(K, SEQUENTIAL)
    steps = max(GPU_STEPS if device.type == "cuda" else 1, round(images / (trained * BATCH)))
    source = torch.Generator().manual_seed(0)
    # Of one image in an epoch's batch there is one step; `steps` epochs of it are that many.
    pixels = torch.randint(0, 256, (trained * BATCH, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, n_classes, (trained * BATCH,), generator=source)
    shards = torch.arange(trained * BATCH).view(trained, BATCH).numpy()
    records = ShardedRecords(pixels.numpy(), labels.to(torch.uint8).numpy(), shards, 255, n_classes)
    parameters = {"model": model, "batch_size": BATCH, "learning_rate": 0.01}
    parameters |= PRIVATE if kind == "private" else {"momentum": 0.9}

    def train(epochs):
        # Either way is measured for plain teachers on a CPU, too, where only one is ever chosen.
        with patch.object(ensemble, "trains_together", lambda *choice: together):
            ensemble.train_ensemble(
                kind, records, parameters | {"epochs": epochs}, Randomness(seed=0), device=device
            )
        if device.type == "cuda":
            torch.cuda.synchronize()

    train(1)
    before = _memory(device)
    once = _least(train, 1, rounds=rounds)
    many = _least(train, 1 + steps, rounds=rounds)
    # What building the models takes is no matter of images, and in both.
    processor, wall = many[0] - once[0], many[1] - once[1]
    return {
        "trained": trained,
        "steps": steps,
        "images": trained * steps * BATCH,
        "seconds": wall if device.type == "cuda" else processor,
        "wall_seconds": wall,
        "memory_before_mib": before,
        "memory_mib": _memory(device),
    }


def measure_step(way: str, kind: str, K: int, model: str, device: str = "cpu") -> dict:
    """Images in one step's gradients of K teachers, seconds and memory, computed one of WAYS.

    way: `grouped convolutions`, what vmap makes of convolutions with weights of their own; `batched
    products` of weights with unfolded images; grouped ones in `bfloat16`, by `torch.compile`, or by
    `CUDA graphs`, which torch.compile makes on a GPU and leaves out on a CPU.
    """
    import torch

    from private_ensembles.teachers.device import choose_device
    from private_ensembles.teachers.models import build_model
    from private_ensembles.teachers.stacked import WIDTH, stack

    device = choose_device(device)
    shape, n_classes, _ = MODELS[device.type][model]
    source = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (K * BATCH, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, n_classes, (K * BATCH,), generator=source)
    models = [build_model(model, shape, n_classes, seed) for seed in range(K)]
    parameters = stack(models, device)
    clip, width = (1.0, WIDTH) if kind == "private" else (None, BATCH)
    data = models[0], pixels.to(device), labels.to(device)
    gradients = gradients_by(way)(*data, pixel_max=255, max_grad_norm=clip, width=width)
    batches = list(torch.arange(K * BATCH).view(K, BATCH))

    def step():
        result = gradients(parameters, batches)
        if device.type == "cuda":
            torch.cuda.synchronize()
        return result

    # A graph is recorded in the second or third call.
    for _ in range(4 if way in COMPILED else 1):
        step()
    processor, wall = _least(step, rounds=5)
    seconds = wall if device.type == "cuda" else processor
    memory = _memory(device)
    return {"images": K * BATCH, "seconds": seconds, "wall_seconds": wall, "memory_mib": memory}


def gradients_by(way: str):
    """`stacked.Gradients`, computed in this way."""
    import torch

    from private_ensembles.teachers.stacked import Gradients

    class Way(Gradients):
        def __init__(self, model, *data, **settings):
            if way == "batched products":
                model = _unfolded(model)
            super().__init__(model, *data, **settings)
            if way in COMPILED:
                self._sums = torch.compile(self._sums, **COMPILED[way])

        def _pass(self, *blocks):
            # Casts that were kept would outlive the transforms that they were made in.
            how = {"enabled": way == "bfloat16", "cache_enabled": False}
            with torch.autocast(self.images.device.type, torch.bfloat16, **how):
                return super()._pass(*blocks)

    return Way


def _unfolded(model):
    """The same network, its convolutions as products with unfolded images."""
    from torch import nn
    from torch.nn.functional import unfold

    class Unfolded(nn.Module):
        def __init__(self, convolution):
            super().__init__()
            self.weight, self.bias = convolution.weight, convolution.bias
            self.kernel, self.padding = convolution.kernel_size[0], convolution.padding[0]

        def forward(self, images):
            height, width = (n + 2 * self.padding - self.kernel + 1 for n in images.shape[-2:])
            columns = unfold(images, self.kernel, padding=self.padding)
            result = self.weight.flatten(1) @ columns + self.bias[:, None]
            return result.unflatten(2, (height, width))

    return nn.Sequential(
        *(Unfolded(layer) if isinstance(layer, nn.Conv2d) else layer for layer in model)
    )


def _least(call, *arguments, rounds: int) -> tuple[float, float]:
    """Least processor and wall-clock seconds of so many calls."""
    processor, wall = [], []
    for _ in range(rounds):
        started = time.process_time(), time.perf_counter()
        call(*arguments)
        processor.append(time.process_time() - started[0])
        wall.append(time.perf_counter() - started[1])
    return min(processor), min(wall)


def _memory(device) -> float:
    """Peak so far in MiB, of the GPU where there is one."""
    if device.type != "cuda":
        return peak()
    import torch

    return torch.cuda.max_memory_allocated() / 2**20


def _gpu() -> str | None:
    """The name of the GPU here, if there is one; asked for in a process of its own."""
    return in_a_process("teachers", "gpu_name")["name"]


def gpu_name() -> dict:
    """{"name": of the GPU, or None}."""
    import torch

    return {"name": torch.cuda.get_device_name() if torch.cuda.is_available() else None}


def measure(
    *, quick: bool = False, full: bool = False, only: str | None = None, model: str | None = None
) -> pd.DataFrame:
    """One row per device, model, method and K. quick: K = 11, one round; full: no more than that.

    only: measure on this device, cpu or cuda, and model: this one, and keep what EARLIER says of
    the others, so that a page may show several machines.
    """
    facts = {
        f"machine_{name}": value for name, value in machine.describe("torch", "opacus").items()
    }
    devices = {"cpu": facts["machine_processor"], "cuda": _gpu()}
    if only and not devices[only]:
        raise ValueError(f"only = {only!r}: PyTorch finds no GPU here")
    rows = []
    for device, name in devices.items():
        if not name or only not in (None, device):
            continue
        for one in MODELS[device]:
            if model in (None, one):
                rounds = 1 if quick else ROUNDS
                here = {"device": device, "device_name": name, "model": one, "rounds": rounds}
                sizes = ENSEMBLES[device][:1] if quick else ENSEMBLES[device]
                rows += [here | row | facts for row in _measure_model(device, one, sizes, rounds)]
    data = pd.DataFrame(rows)
    if only is None and model is None:
        return data
    earlier = pd.read_csv(EARLIER, dtype={"machine_cores": str})
    new = set(zip(data["device"], data["model"], strict=True))
    kept = [pair not in new for pair in zip(earlier["device"], earlier["model"], strict=True)]
    return pd.concat([earlier[kept], data], ignore_index=True)


def _measure_model(device: str, model: str, sizes: tuple, rounds: int) -> list[dict]:
    outer, inner = (1, rounds) if device == "cuda" else (rounds, 1)
    tried = {}
    for _ in range(outer):
        # One after the other, more than SEQUENTIAL are not measured: once is enough.
        for K, (kind, together) in product(sizes, METHODS.values()):
            if together or K in sizes[:1]:
                how = {"kind": kind, "together": together, "K": K, "model": model}
                result = _attempt("measure_training", **how, device=device, rounds=inner)
                tried.setdefault((kind, together, K), []).append(result)
    rows = []
    for (method, (kind, together)), K in product(METHODS.items(), sizes):
        results = tried[kind, together, K if together else sizes[0]]
        row = {"part": "training", "method": method, "kind": kind, "together": together, "K": K}
        rows.append(row | min(results, key=_per_image))
    if model in NETWORKS:
        for way, kind in product(WAYS[device], ("private", "plain")):
            # A clipped norm of eight bits would be no bound.
            if (way, kind) != ("bfloat16", "private"):
                how = {"kind": kind, "K": STEP[device]}
                result = _attempt("measure_step", way=way, **how, model=model, device=device)
                rows.append({"part": "step", "method": way, **how} | result)
    return rows


def _attempt(what: str, **how) -> dict:
    """The measurement, or why there is none: one way that fails on a GPU must not cost the rest."""
    try:
        return in_a_process("teachers", what, **how)
    except RuntimeError as error:
        if how["device"] == "cpu":
            raise
        return {"images": float("nan"), "seconds": float("nan"), "failure": str(error)}


def _per_image(result: dict) -> float:
    return result["seconds"] / result["images"]


def training_seconds(row) -> float:
    """Seconds for the whole training of all K teachers at the measured rate."""
    steps = EPOCHS * SHARD // BATCH
    return row["seconds"] / row["images"] * row["K"] * steps * BATCH


def ratios(data: pd.DataFrame, kind: str) -> pd.Series:
    """How many times faster an ensemble trains than one teacher after the other, by K."""
    rate = data[data["kind"] == kind].set_index(["together", "K"])
    rate = rate["images"] / rate["seconds"]
    return rate[True] / rate[False]


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    lines = [
        "# Benchmark: training ensembles",
        "",
        "Made by `python benchmarks/run.py teachers --write-docs`; numbers behind it: "
        "[teachers.csv](teachers.csv). Batches of 32. On a CPU one thread is used and seconds are "
        "processor time, which a busy machine changes less than clock time (in the CSV file); on a "
        "GPU they are clock time. A training is as long as DaRRM's (section 6.2): "
        f"{EPOCHS} epochs of {SHARD:,} images for each teacher. **Its seconds are extrapolated** "
        "from the rate of the images that were measured; one after the other, "
        f"at most {SEQUENTIAL} teachers were measured, and more take in proportion. Of several "
        "rounds the fastest counts. On a CPU the ensemble's DP-SGD goes layer by layer, one "
        "teacher's batch after the other; its gradients in one computation, as on a GPU, are the "
        "last lines of each part ([how](../teachers.md)). `linear` and `mlp` see images of 8x8 "
        "pixels, as in the embedded run.",
    ]
    for (device, model), both in data.groupby(["device", "model"], sort=False):
        part = both[both["part"] == "training"]
        lines += [
            "",
            f"## {model}, {device}: {part['device_name'].iloc[0]}",
            "",
            "; ".join(
                f"{name}: {value}"
                for name, value in {
                    "rounds": part["rounds"].iloc[0],
                    **machine.attached(part),
                }.items()
            ),
            "",
            "| method | K | images measured | images/s | training (s) | peak memory (MiB) "
            "| of it before training |",
            "| --- |" + " ---: |" * 6,
            *part.apply(_training_line, axis=1),
        ]
        for kind, words in (("private", "DP-SGD"), ("plain", "plain")):
            each = ", ".join(f"{r:.2f} at K = {K:,}" for K, r in ratios(part, kind).items())
            lines += ["", f"{words}: an ensemble trains so many times as fast: {each}."]
        if device == "cpu" and (ratios(part, "plain") < 1).all():
            lines += [
                "",
                "Slower together, so plain teachers on a CPU train one after the other, with no "
                "setting to change it. `plain_ensemble.py` is a GPU's code, which tests and this "
                "page run on a CPU; nothing in it serves a CPU alone.",
            ]
        steps = both[both["part"] == "step"].set_index(["kind", "method"])
        for kind, words in (("private", "clipped"), ("plain", "plain")):
            if kind in steps.index:
                mine = steps.loc[kind]
                each = ", ".join(f"{_rate(row)} by {way}" for way, row in mine.iterrows())
                lines += [
                    "",
                    f"Images/s of the {words} gradients of {mine['K'].iloc[0]} teachers: {each}.",
                ]
    if "cuda" not in set(data["device"]):
        lines += [
            "",
            "## GPU",
            "",
            "**No GPU has been measured**: `python benchmarks/run.py teachers --only cuda "
            "--write-docs` measures one and leaves the other rows as they are (`--model darrm_cnn` "
            "for one network).",
            "",
            "| model | method | K | images/s | training (s) | peak memory (MiB) |",
            "| --- | --- |" + " ---: |" * 4,
            *(
                f"| {model} | {method} | {K:,} |" + " not measured |" * 3
                for model in NETWORKS
                for method in METHODS
                for K in ENSEMBLES["cuda"]
            ),
        ]
    return "\n".join(lines) + "\n"


def _training_line(row) -> str:
    if pd.isna(row["images"]):
        return f"| {row['method']} | {row['K']:,} | failed | | | | |"
    return (
        f"| {row['method']} | {row['K']:,} | {row['images']:,.0f} | {_rate(row)} | "
        f"{training_seconds(row):,.0f} | {row['memory_mib']:,.0f} | "
        f"{row['memory_before_mib']:,.0f} |"
    )


def _rate(row) -> str:
    failed = pd.isna(row["images"])
    return "nothing (failed)" if failed else f"{row['images'] / row['seconds']:,.0f}"
