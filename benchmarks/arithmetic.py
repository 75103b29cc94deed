"""How much of a processor's arithmetic the training of one small network uses.

The limit is what one core delivers in a large matrix product. What a network needs is counted:
multiplications and additions of its convolutions and linear layers, forwards, for the gradients of
the weights, and for those of the inputs but the first layer's. Each rate is measured beside its own
matrix product, so that a busy machine changes the shares less than the rates.
"""

from __future__ import annotations

import pandas as pd

from benchmarks.measuring import add_machine, describe_machine, run_in_process, time_call
from benchmarks.writing import format_section, format_table

# The papers' networks have images of this shape, and so many classes.
NETWORKS = {"mnist_cnn": ((28, 28), 10), "darrm_cnn": ((28, 28), 2)}
# A step has so many images; PATE's and DaRRM's teachers take the first two.
BATCHES, QUICK = (16, 32, 240), (16,)
IMAGES, ROUNDS = 960, 5
SIDE, PRODUCTS = 1024, 4  # of the matrix product


def count_operations(model, images) -> tuple[int, int]:
    """Return multiplications and additions for one image: forwards, and in a step of training.

    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Flatten(1), torch.nn.Linear(6, 2))
    >>> count_operations(model, torch.zeros(1, 1, 2, 3))  # 2 for each weight, none for the image
    (24, 48)
    """
    import torch

    forwards, backwards, first = 0, 0, True
    for layer in model:
        images = layer(images)
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
            positions = images[0, 0].numel()  # of which each meets all weights
            operations = 2 * layer.weight.numel() * positions
            forwards += operations
            backwards += operations if first else 2 * operations
            first = False
    return forwards, forwards + backwards


def measure_network(name: str, batch: int) -> dict:
    """Measure an image's operations and a core's rate of them, beside a matrix product's.

    Args:
        name: one of NETWORKS.
        batch: images in a step.
    """
    import torch
    from torch.nn.functional import cross_entropy

    from private_ensembles.training.teachers.device import to_channels_last
    from private_ensembles.training.teachers.models import build_model

    torch.set_num_threads(1)
    shape, n_classes = NETWORKS[name]
    model = build_model(name, shape, n_classes)
    source = torch.Generator().manual_seed(0)
    images = torch.rand((IMAGES, 1, *shape), generator=source)
    labels = torch.randint(0, n_classes, (IMAGES,), generator=source)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    square = torch.rand((SIDE, SIDE), generator=source)

    def train():
        for part in torch.arange(IMAGES).split(batch):
            optimizer.zero_grad()
            cross_entropy(model(to_channels_last(images[part])), labels[part]).backward()
            optimizer.step()

    def look():
        with torch.no_grad():
            for part in torch.arange(IMAGES).split(batch):
                model(to_channels_last(images[part]))

    def multiply():
        for _ in range(PRODUCTS):
            square @ square

    forwards, training = count_operations(model, images[:1])
    calls = {"training": (train, training), "forwards": (look, forwards)}
    row = {"training_operations": training, "forward_operations": forwards}
    for part, (call, operations) in calls.items():
        call()  # prepares what is prepared once
        rounds = []
        for _ in range(ROUNDS):
            limit, _ = time_call(multiply)
            taken, _ = time_call(call)
            rates = (
                2 * SIDE**3 * PRODUCTS / limit["seconds"],
                IMAGES * operations / taken["seconds"],
            )
            rounds.append((rates[1] / rates[0], *rates))
        share, limit_rate, rate = max(rounds)
        row |= {f"{part}_share": share, f"{part}_limit": limit_rate, f"{part}_rate": rate}
    return row


def measure(*, quick: bool = False) -> pd.DataFrame:
    """Measure each network and size of a batch, the best of ROUNDS. quick: one of each."""
    facts = describe_machine("torch")
    cases = [(name, batch) for name in NETWORKS for batch in (QUICK if quick else BATCHES)]
    rows = [
        {"network": name, "batch": batch} | run_in_process(measure_network, name=name, batch=batch)
        for name, batch in (cases[:1] if quick else cases)
    ]
    return add_machine(rows, facts)


def section(data: pd.DataFrame) -> str:
    """Return the results in Markdown."""
    shown = data.copy()
    shown[["training_rate", "training_limit"]] /= 1e9
    shown[["training_share", "forwards_share"]] *= 100
    columns = {
        "network": "{network}",
        "images in a step": "{batch}",
        "training (GFLOP/s)": "{training_rate:.0f}",
        "the limit (GFLOP/s)": "{training_limit:.0f}",
        "training uses": "{training_share:.0f} %",
        "forwards alone": "{forwards_share:.0f} %",
    }
    return format_section(
        "How much of a core's arithmetic training uses",
        "arithmetic",
        "[One plain teacher](../teachers.md#plain-teachers-on-a-cpu-one-after-the-other) on one "
        f"core, against a matrix product of {SIDE:,} × {SIDE:,} in single precision just before "
        f"(the limit); the best of {ROUNDS} rounds.",
        data,
        format_table(columns, shown, words=1),
    )
