"""Training ensembles: one teacher after the other against all in one computation.

On a CPU every measurement runs in a process of its own, on one thread, and its peak memory is its
own. A training does the same to every teacher and in every step, so some steps are measured, after
those that pay for start-up. On a GPU these are all steps of a training, of whole shards, whose
batches of DP-SGD differ in length. Images are random, since no kernel's time depends on their
values.
"""

from __future__ import annotations

import os
from unittest.mock import patch

import pandas as pd

from benchmarks.measuring import (
    ROOT,
    add_machine,
    describe_machine,
    peak_memory,
    run_in_process,
    time_call,
)
from benchmarks.writing import format_section, format_table

ENSEMBLES = {"cpu": (11, 50, 250), "cuda": (11, 50, 250, 1000)}
# The papers' networks, and small models of the embedded run, have the shape of an image, classes,
# and about how many images are measured, so that each measurement takes a second or a few.
NETWORKS = {"darrm_cnn": ((28, 28), 2, 8_000), "mnist_cnn": ((28, 28), 10, 16_000)}
SMALL = {"linear": ((8, 8), 2, 200_000), "mlp": ((8, 8), 10, 200_000)}
MODELS = {"cpu": NETWORKS | SMALL, "cuda": NETWORKS}
SHARD, BATCH, EPOCHS = 1024, 32, 5  # DaRRM section 6.2 on MNIST
PRIVATE = {"noise_multiplier": 12.0, "max_grad_norm": 1.0}
SEQUENTIAL = 11  # teachers that are trained one after the other; more take in proportion
ROUNDS = {"cpu": 3, "cuda": 2}  # of which the fastest counts
# A method is a kind of teachers, and whether all train together.
METHODS = {
    "sequential Opacus": ("private", False),
    "ensemble DP-SGD": ("private", True),
    "sequential plain": ("plain", False),
    "ensemble plain": ("plain", True),
}
KINDS = {"private": "DP-SGD", "plain": "plain"}
EARLIER = ROOT / "docs" / "benchmarks" / "teachers.csv"


def measure_training(
    kind: str, *, together: bool, K: int, model: str, device: str = "cpu", rounds: int = 1
) -> dict:
    """Measure some steps of K teachers: seconds, images in them, and memory before and at the peak.

    Args:
        kind: plain or private.
        together: train all K teachers at once; else one after the other, SEQUENTIAL at most.
        K: number of teachers.
        model: one of MODELS.
        device: cpu or cuda. On a GPU seconds are those of the clock.
        rounds: repeat so often and return the fastest.
    """
    import torch

    from private_ensembles.training.teachers import ensemble
    from private_ensembles.training.teachers.device import choose_device
    from private_ensembles.training.teachers.sharded_records import ShardedRecords
    from private_ensembles.training.teachers.sources import Randomness

    # Noise is drawn on the CPU, while a GPU works: on all cores there.
    device = choose_device(device, os.cpu_count() if device == "cuda" else 1)
    on_a_gpu = device.type == "cuda"
    shape, n_classes, images = MODELS[device.type][model]
    trained = K if together else min(K, SEQUENTIAL)
    # A shard is one batch on a CPU, and there are as many epochs as steps are wanted.
    shard = SHARD if on_a_gpu else BATCH
    epochs = EPOCHS if on_a_gpu else max(1, round(images / (trained * BATCH)))
    source = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (trained * shard, *shape), generator=source, dtype=torch.uint8)
    labels = torch.randint(0, n_classes, (trained * shard,), generator=source)
    shards = torch.arange(trained * shard).view(trained, shard).numpy()
    records = ShardedRecords(pixels.numpy(), labels.to(torch.uint8).numpy(), shards, 255, n_classes)
    parameters = {"model": model, "batch_size": BATCH, "learning_rate": 0.01}
    parameters |= PRIVATE if kind == "private" else {"momentum": 0.9}

    def train(epochs):
        # Either way is measured for plain teachers on a CPU, too, where only one is ever chosen.
        with patch.object(ensemble, "trains_together", lambda *choice: together):
            ensemble.train_ensemble(
                kind, records, parameters | {"epochs": epochs}, Randomness(seed=0), device=device
            )
        if on_a_gpu:
            torch.cuda.synchronize()

    def memory():
        return torch.cuda.max_memory_allocated() / 2**20 if on_a_gpu else peak_memory()

    if on_a_gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    train(1)
    memory_before = memory()
    one_epoch_timing, _ = time_call(lambda: train(1), rounds)
    timing, _ = time_call(lambda: train(1 + epochs), rounds)
    steps = epochs * shard // BATCH
    clock = "wall_seconds" if on_a_gpu else "seconds"
    return {
        "trained": trained,
        "steps": steps,
        "images": trained * steps * BATCH,
        # The time to build the models does not depend on images, and is in both.
        "seconds": timing[clock] - one_epoch_timing[clock],
        "memory_before_mib": memory_before,
        "memory_mib": memory(),
    }


def gpu_name() -> str | None:
    """Return the name of the GPU here, None if there is none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def measure(
    *, quick: bool = False, only: str | None = None, model: str | None = None
) -> pd.DataFrame:
    """Return one row per device, model, method and K.

    Args:
        quick: K = 11, one round.
        only: measure on this device alone, cpu or cuda. What EARLIER says of the others is kept, so
            that a page may show several machines.
        model: measure this one alone, likewise.

    Returns:
        What fails on a GPU has no numbers (NaN).

    Raises:
        ValueError: only is cuda, and PyTorch finds no GPU.
    """
    facts = describe_machine("torch", "opacus")
    devices = {"cpu": facts["processor"], "cuda": run_in_process(gpu_name)}
    if only and not devices[only]:
        raise ValueError(f"only = {only!r}: PyTorch finds no GPU here")
    rows = []
    for device, name in devices.items():
        if not name or only not in (None, device):
            continue
        models = [model_name for model_name in MODELS[device] if model in (None, model_name)]
        rounds = 1 if quick else ROUNDS[device]
        sizes = ENSEMBLES[device][:1] if quick else ENSEMBLES[device]
        for model_name in models:
            facts_of_device = {
                "device": device,
                "device_name": name,
                "model": model_name,
                "rounds": rounds,
            }
            rows += [
                facts_of_device | row for row in _measure_model(device, model_name, sizes, rounds)
            ]
    data = add_machine(rows, facts)
    if only is None and model is None:
        return data
    earlier = pd.read_csv(EARLIER, dtype={"machine_cores": str})
    new_pairs = set(zip(data["device"], data["model"], strict=True))
    is_kept = [
        pair not in new_pairs for pair in zip(earlier["device"], earlier["model"], strict=True)
    ]
    return pd.concat([earlier[is_kept], data], ignore_index=True)


def _measure_model(device: str, model: str, sizes: tuple, rounds: int) -> list[dict]:
    """Return a row for each method and K; one after the other, many take in proportion."""
    rows = []
    for method, (kind, together) in METHODS.items():
        for K in sizes:
            if together or K in sizes[:1]:
                arguments = {"kind": kind, "together": together, "K": K, "model": model}
                arguments |= {"device": device, "rounds": rounds}
                try:
                    # A GPU counts each measurement's memory by itself.
                    if device == "cpu":
                        measured = run_in_process(measure_training, **arguments)
                    else:
                        measured = measure_training(**arguments)
                except (RuntimeError, ValueError) as error:
                    if device == "cpu":
                        raise
                    nothing = float("nan")
                    measured = {"images": nothing, "seconds": nothing, "failure": str(error)}
            rows.append({"method": method, "kind": kind, "together": together, "K": K} | measured)
    return rows


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    data = data.assign(
        rate=data["images"] / data["seconds"], together=data["together"].astype(bool)
    )
    sizes = sorted(set(data["K"]))
    columns = {"network": "{model}", "on": "{device_name}", "teachers": "{kind}"}
    columns |= {"one by one (images/s)": "{apart:,.0f}"}
    columns |= {f"{K:,} together": f"{{times_{K}}}" for K in sizes}
    columns |= {"memory (MiB)": "{memory}"}
    rows = [
        {"model": model, "device_name": name, "kind": KINDS[kind]} | _compare_rates(part, sizes)
        for (model, name, kind), part in data.groupby(["model", "device_name", "kind"], sort=False)
    ]
    blocks = []
    if "failure" in data:
        reasons = [
            f"{row['K']:,} {row['kind']} {row['model']} ({row['failure']})"
            for _, row in data[data["failure"].notna()].iterrows()
        ]
        blocks += [f"No number for {', '.join(reasons)}."] if reasons else []
    if "cuda" not in set(data["device"]):
        blocks.append(
            "**No GPU has been measured**: `python benchmarks/run.py teachers --only cuda "
            "--write-docs` measures one and leaves the other rows as they are (`--model darrm_cnn` "
            "for one network)."
        )
    text = (
        f"How fast {SEQUENTIAL} teachers train one after the other (DP-SGD by Opacus), how many "
        "times as fast teachers are if all train in one computation ([how](../teachers.md)), and "
        f"the most memory that this takes, in batches of {BATCH}. A teacher of DaRRM's section 6.2 "
        f"sees {EPOCHS} times {SHARD:,} images. On a CPU plain teachers of the papers' networks "
        "are slower together, so they train one by one. On a GPU time is the clock's, and rough: "
        "that of a long training less that of a short one."
    )
    if set(SMALL) & set(data["model"]):
        text += f" {' and '.join(SMALL)} see images of 8x8 pixels, as in the embedded run."
    table = format_table(columns, pd.DataFrame(rows), words=3)
    return format_section("Training ensembles", "teachers", text, data, table, *blocks)


def _compare_rates(part: pd.DataFrame, sizes: list[int]) -> dict[str, object]:
    """Return images a second one by one, how many times that all together are, and most memory."""
    apart = part.loc[~part["together"], "rate"].iloc[0]
    together = part[part["together"]].set_index("K")
    times = (together["rate"] / apart).reindex(sizes)
    memory = together["memory_mib"].max()
    return {
        "apart": apart,
        **{f"times_{K}": "" if pd.isna(times[K]) else f"{times[K]:.2f} ×" for K in sizes},
        "memory": "" if pd.isna(memory) else f"{memory:,.0f}",
    }
