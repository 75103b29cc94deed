"""Training ensembles: one teacher after the other against all in one computation.

Every measurement runs in a process of its own, on one thread, and its peak memory is its own. A
training does the same to every teacher and in every step, so some steps are measured, after one
that pays for start-up, and the time of a whole training is their rate times its images: the page
says so. Images are random, since no kernel's time depends on their values.
"""

from __future__ import annotations

import time
from itertools import product

import pandas as pd

from benchmarks import machine
from benchmarks.process import in_a_process, peak

ENSEMBLES = (11, 50, 250, 1000)
MODELS = {"darrm_cnn": 2, "mnist_cnn": 10}  # with the classes of their data
SHARD, BATCH, EPOCHS = 1024, 32, 5  # DaRRM section 6.2 on MNIST
PRIVATE = {"noise_multiplier": 12.0, "max_grad_norm": 1.0}
IMAGES = 12_000  # about as many are measured: half a minute at most
SEQUENTIAL = 11  # teachers that are trained one after the other; more take in proportion
ROUNDS = 1  # through all measurements; of several the fastest counts, on a host that is shared
# How the convolutions of a step are computed.
WAYS = ("grouped convolutions", "batched products")
METHODS = {
    "sequential Opacus": ("private", "opacus"),
    "ensemble DP-SGD": ("private", "ensemble"),
    "sequential plain": ("plain", "opacus"),
    "ensemble plain": ("plain", "ensemble"),
}


def measure_training(
    kind: str, backend: str, K: int, model: str, device: str = "cpu", images: int = IMAGES
) -> dict:
    """Seconds of some steps of K teachers, the images in them, and memory before and at the peak.

    All K teachers train in an ensemble, SEQUENTIAL at most one after the other.
    """
    import torch

    from private_ensembles.teachers.device import choose_device
    from private_ensembles.teachers.ensemble import train_ensemble

    device = choose_device(device)
    trained = K if backend == "ensemble" else min(K, SEQUENTIAL)
    steps = max(1, round(images / (trained * BATCH)))
    source = torch.Generator().manual_seed(0)
    # Of one image in an epoch's batch there is one step; `steps` epochs of it are that many.
    pixels = torch.randint(0, 256, (trained * BATCH, 28, 28), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, MODELS[model], (trained * BATCH,), generator=source)
    shards = torch.arange(trained * BATCH).view(trained, BATCH).numpy()
    parameters = {"model": model, "batch_size": BATCH, "learning_rate": 0.01}
    parameters |= PRIVATE if kind == "private" else {"momentum": 0.9}

    def train(epochs):
        train_ensemble(
            *(kind, pixels.numpy(), labels.to(torch.uint8).numpy(), shards),
            pixel_max=255,
            n_classes=MODELS[model],
            seed=0,
            backend=backend,
            device=device,
            parameters=parameters | {"epochs": epochs},
        )
        if device.type == "cuda":
            torch.cuda.synchronize()

    train(1)
    before = _memory(device)
    once = _seconds(train, 1)
    many = _seconds(train, 1 + steps)
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
    """Images in one step's gradients of K teachers and the seconds, convolutions done one way.

    way: `grouped convolutions`, what vmap makes of convolutions with weights of their own, or
    `batched products` of weights with unfolded images.
    """
    import torch

    from private_ensembles.teachers.device import choose_device
    from private_ensembles.teachers.models import build_model
    from private_ensembles.teachers.stacked import WIDTH, Gradients, stack

    device = choose_device(device)
    source = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (K * BATCH, 28, 28), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, MODELS[model], (K * BATCH,), generator=source)
    models = [build_model(model, (28, 28), MODELS[model], seed) for seed in range(K)]
    parameters = stack(models, device)
    clip, width = (1.0, WIDTH) if kind == "private" else (None, BATCH)
    gradients = Gradients(
        *(_unfolded(models[0]) if way == "batched products" else models[0], pixels.to(device)),
        *(labels.to(device),),
        pixel_max=255,
        max_grad_norm=clip,
        width=width,
    )
    batches = list(torch.arange(K * BATCH).view(K, BATCH))

    def step():
        result = gradients(parameters, batches)
        if device.type == "cuda":
            torch.cuda.synchronize()
        return result

    step()
    times = [_seconds(step) for _ in range(5)]
    processor, wall = map(min, zip(*times, strict=True))
    seconds = wall if device.type == "cuda" else processor
    return {"images": K * BATCH, "seconds": seconds, "wall_seconds": wall}


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


def _seconds(call, *arguments) -> tuple[float, float]:
    started = time.process_time(), time.perf_counter()
    call(*arguments)
    return time.process_time() - started[0], time.perf_counter() - started[1]


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


def measure(*, quick: bool = False, full: bool = False) -> pd.DataFrame:
    """One row per device, model, method and K. quick: K = 11 and few images; full: the same."""
    facts = {
        f"machine_{name}": value for name, value in machine.describe("torch", "opacus").items()
    }
    images, sizes = (500, ENSEMBLES[:1]) if quick else (IMAGES, ENSEMBLES)
    rows = []
    gpu = _gpu()
    for device, name in [("cpu", facts["machine_processor"])] + [("cuda", gpu)] * bool(gpu):
        for model in MODELS:
            here = {"device": device, "device_name": name, "model": model}
            best = {}
            for _ in range(1 if quick else ROUNDS):
                # One after the other, more than SEQUENTIAL are not measured: once is enough.
                for K, (kind, backend) in product(sizes, METHODS.values()):
                    if backend == "ensemble" or K <= SEQUENTIAL:
                        how = {"kind": kind, "backend": backend, "K": K, "model": model}
                        result = in_a_process(
                            "teachers", "measure_training", **how, device=device, images=images
                        )
                        keep = min(result, best.get((kind, backend, K), result), key=_per_image)
                        best[kind, backend, K] = keep
            for (method, (kind, backend)), K in product(METHODS.items(), sizes):
                how = {"kind": kind, "backend": backend, "K": K, "model": model}
                result = best[kind, backend, K if backend == "ensemble" else sizes[0]]
                rows.append({"part": "training", "method": method, **here, **how} | result)
            for way in WAYS:
                for kind in ("private", "plain"):
                    how = {"way": way, "kind": kind, "K": sizes[0], "model": model}
                    result = in_a_process("teachers", "measure_step", **how, device=device)
                    rows.append({"part": "step", "method": way, **here, **how} | result)
    return pd.DataFrame([row | facts for row in rows])


def _per_image(result: dict) -> float:
    return result["seconds"] / result["images"]


def training_seconds(row) -> float:
    """Seconds for the whole training of all K teachers at the measured rate."""
    steps = EPOCHS * SHARD // BATCH
    return row["seconds"] / row["images"] * row["K"] * steps * BATCH


def ratios(data: pd.DataFrame, kind: str) -> pd.Series:
    """How many times faster an ensemble trains than one teacher after the other, by K."""
    rate = data[data["kind"] == kind].set_index(["backend", "K"])
    rate = rate["images"] / rate["seconds"]
    return rate["ensemble"] / rate["opacus"]


def page(data: pd.DataFrame) -> str:
    """The results as a page in Markdown."""
    facts = machine.attached(data)
    lines = [
        "# Benchmark: training ensembles",
        "",
        "Made by `python benchmarks/run.py teachers --write-docs`; numbers behind it: "
        "[teachers.csv](teachers.csv). One thread, batches of 32; seconds are processor time on a "
        "CPU, which a busy machine changes less than clock time (in the CSV file), and clock time "
        "on a GPU. A training is DaRRM's (section "
        f"6.2): {EPOCHS} epochs of {SHARD:,} images for each teacher. **Its seconds are "
        "extrapolated** from the rate of the images that were measured; one after the other, "
        f"at most {SEQUENTIAL} teachers were measured, and more take in proportion. Rounds, of "
        f"which the fastest counts: {ROUNDS}. On a CPU the "
        "ensemble's DP-SGD goes layer by layer, one teacher's batch after the other; its gradients "
        "in one computation, as on a GPU, are the last lines of each part "
        "([how](../teachers.md)).",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
    ]
    for (device, model), both in data.groupby(["device", "model"], sort=False):
        part = both[both["part"] == "training"]
        lines += [
            "",
            f"## {model}, {device}: {part['device_name'].iloc[0]}",
            "",
            "| method | K | images measured | images/s | training (s) | peak memory (MiB) "
            "| of it before training |",
            "| --- |" + " ---: |" * 6,
        ]
        for _, row in part.iterrows():
            lines.append(
                f"| {row['method']} | {row['K']:,} | {row['images']:,} | "
                f"{row['images'] / row['seconds']:,.0f} | {training_seconds(row):,.0f} | "
                f"{row['memory_mib']:,.0f} | {row['memory_before_mib']:,.0f} |"
            )
        for kind, words in (("private", "DP-SGD"), ("plain", "plain")):
            each = ", ".join(f"{r:.2f} at K = {K}" for K, r in ratios(part, kind).items())
            lines += ["", f"{words}: an ensemble trains so many times as fast: {each}."]
        steps = both[both["part"] == "step"].set_index(["kind", "method"])
        rate = steps["images"] / steps["seconds"]
        for kind, words in (("private", "clipped"), ("plain", "plain")):
            each = ", ".join(f"{rate[kind, way]:,.0f} by {way}" for way in WAYS)
            lines += [
                "",
                f"Images/s of the {words} gradients of {steps['K'].iloc[0]} teachers: {each}.",
            ]
    if "cuda" not in set(data["device"]):
        lines += [
            "",
            "## GPU",
            "",
            "| method | K | images/s | training (s) | peak memory (MiB) |",
            "| --- |" + " ---: |" * 4,
            *(
                f"| {method} | {K:,} |" + " not measured |" * 3
                for method in METHODS
                for K in ENSEMBLES
            ),
        ]
    return "\n".join(lines) + "\n"
