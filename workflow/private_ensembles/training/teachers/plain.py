"""Train plain (not private) teachers by stochastic gradient descent: one, or many together.

They are trained together on GPUs, which one small teacher leaves idle. On a CPU teachers train one
after the other, and only tests and the benchmark train them together (docs/teachers.md). Both ways
draw the same permutations and differ by rounding only.
"""

import torch
from torch.nn.functional import cross_entropy
from torch.optim.sgd import sgd

from private_ensembles.base.progress import Meter
from private_ensembles.training.checkpoint import Checkpoint
from private_ensembles.training.teachers.device import send_to_device, to_channels_last
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import SeededTensors
from private_ensembles.training.teachers.stacked import (
    StackedGradients,
    index_rows,
    require_finite_state,
    require_finite_states,
    stack_parameters,
)
from private_ensembles.training.teachers.training import PlainTraining


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

    Each epoch goes once through a fresh permutation of the records in batches of batch_size (the
    last one may be smaller), with the mean cross-entropy as loss.

    Args:
        model: The network.
        images: float32 (N, 1, height, width) in [0, 1], on `device`.
        labels: int64 (N,), on `device`.
        training: How to train.
        sampling: The source of the permutations.
        device: Where to train.

    Raises:
        ValueError: There is no record, or weights are not finite at the end.
    """
    steps = training.steps(len(labels))
    model = model.to(device).train()
    if torch.device(device).type == "cpu":
        # Weights lie as images do; otherwise each convolution would put its weights in order first.
        model.to(memory_format=torch.channels_last)
    # `sgd` is the function that the class torch.optim.SGD calls. The class itself imports PyTorch's
    # compiler, which takes longer than a small training.
    weights = list(model.parameters())
    velocity = [None] * len(weights) if training.momentum else []
    for epoch in range(training.epochs):
        order = sampling.permutation(len(labels)).to(device)
        first = epoch * (steps // training.epochs)
        for step, batch in enumerate(order.split(training.batch_size), first):
            model.zero_grad()
            cross_entropy(model(to_channels_last(images[batch])), labels[batch]).backward()
            with torch.no_grad():
                sgd(
                    weights,
                    [weight.grad for weight in weights],
                    velocity,
                    lr=training.step_learning_rate(step, steps),
                    momentum=training.momentum,
                    weight_decay=0.0,
                    dampening=0.0,
                    nesterov=False,
                    maximize=False,
                )
    return require_finite_state(model.state_dict())


def train_plain_ensemble(
    models,
    records: ShardedRecords,
    training: PlainTraining,
    *,
    sampling: list[SeededTensors],
    checkpoint=None,
    progress=lambda message: None,
):
    """Train many models of one architecture together, and return their state_dicts on the CPU.

    Args:
        models: The networks.
        records, checkpoint, progress: As in `dpsgd.train_private_ensemble`.
        training: As in `train_plain_teacher`.
        sampling: As in `train_plain_teacher`, one for each model.

    Raises:
        ValueError: A shard has no records, or weights are not finite at the end.
    """
    checkpoint = checkpoint or Checkpoint()
    shards, batch_size = records.shards, training.batch_size
    steps = [training.steps(len(shard)) for shard in shards]
    parameters = stack_parameters(models, records.images.device)
    gradients = StackedGradients(
        models[0],
        records.images,
        records.labels,
        pixel_max=records.pixel_max,
        longest=batch_size,
    )
    velocity = torch.zeros_like(parameters)
    first = 0
    if (saved := checkpoint.load()) is not None:
        first, parameters = saved["step"], saved["parameters"].to(parameters)
        velocity = saved["velocity"].to(parameters)
    epoch_batches = [
        _replay_epoch_batches(source, shard, min(first, shard_steps), batch_size)
        for source, shard, shard_steps in zip(sampling, shards, steps, strict=True)
    ]
    last = max(steps)
    meter = Meter(last, "steps", say=progress, log=progress, done=first)
    # No line of the loop waits for a GPU.
    for step in range(first, last):
        active = [i for i, shard_steps in enumerate(steps) if step < shard_steps]
        # This is a loop over teachers, because each has a source and an order of its own.
        for i in active:
            if not epoch_batches[i]:
                epoch_batches[i] = _draw_epoch_batches(sampling[i], shards[i], batch_size)
        batches = [epoch_batches[i].pop() for i in active]
        rows = index_rows(active, parameters)
        weights = parameters[rows]
        lengths = torch.tensor([[len(batch)] for batch in batches])
        rates = torch.tensor(
            [[training.step_learning_rate(step, steps[i])] for i in active], dtype=weights.dtype
        )
        divisors = send_to_device(lengths.to(weights.dtype), weights.device)
        descent = gradients(weights, batches) / divisors
        velocity[rows] = training.momentum * velocity[rows] + descent
        parameters[rows] = weights - velocity[rows] * send_to_device(rates, weights.device)
        meter.advance(images=int(lengths.sum()))
        if checkpoint.is_due():
            checkpoint.save(step=step + 1, parameters=parameters.cpu(), velocity=velocity.cpu())
    states = require_finite_states(parameters, models[0])
    meter.finish()
    return states


def _draw_epoch_batches(source, shard, batch_size):
    """Return the batches of an epoch, the first one last, drawn as in `train_plain_teacher`."""
    return list(shard[source.permutation(len(shard))].split(batch_size))[::-1]


def _replay_epoch_batches(source, shard, steps, batch_size):
    """Return the batches that remain of a teacher's current epoch after `steps` steps."""
    batches = []
    for _ in range(steps):
        batches = batches or _draw_epoch_batches(source, shard, batch_size)
        batches.pop()
    return batches
