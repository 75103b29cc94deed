"""Train one plain (not private) teacher by stochastic gradient descent."""

import torch
from torch.nn.functional import cross_entropy

from private_ensembles.teachers.device import channels_last
from private_ensembles.teachers.dpsgd import finite_state
from private_ensembles.teachers.sources import SeededTensors
from private_ensembles.teachers.training import PlainTraining


def train_plain_teacher(
    model,
    images,
    labels,
    training: PlainTraining,
    *,
    sampling: SeededTensors,
    device="cpu",
):
    """Train `model` in place and return its state_dict on the CPU.

    images: float32 (N, 1, height, width) in [0, 1]; labels: int64 (N,); both on `device`. Each
    epoch goes once through a fresh permutation of the records in batches of batch_size (the last
    one may be smaller), with the mean cross-entropy as loss. sampling: source of the permutations.

    Raises ValueError for no record at all, and for weights that are not finite at the end.
    """
    steps = training.steps(len(labels))
    model = model.to(device).train()
    optimizer = torch.optim.SGD(
        model.parameters(), lr=training.learning_rate, momentum=training.momentum
    )
    for epoch in range(training.epochs):
        order = sampling.permutation(len(labels)).to(device)
        first = epoch * (steps // training.epochs)
        for step, batch in enumerate(order.split(training.batch_size), first):
            optimizer.zero_grad()
            cross_entropy(model(channels_last(images[batch])), labels[batch]).backward()
            optimizer.param_groups[0]["lr"] = training.rate(step, steps)
            optimizer.step()
    return finite_state(model)
