"""Train plain (not private) teachers by stochastic gradient descent: one, or many together.

Together is for GPUs, on which one small teacher leaves the device idle. On a CPU teachers train one
after the other, and only tests and the benchmark train them together (docs/teachers.md); both draw
the same permutations and differ by rounding only.
"""

import torch
from torch.nn.functional import cross_entropy

from private_ensembles.jobs.checkpoint import Checkpoint
from private_ensembles.jobs.progress import Meter
from private_ensembles.teachers.device import channels_last
from private_ensembles.teachers.sharded_records import ShardedRecords
from private_ensembles.teachers.sources import SeededTensors
from private_ensembles.teachers.stacked import Gradients, finite_state, finite_states, stack
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
    return finite_state(model.state_dict())


def train_plain_ensemble(
    models,
    records: ShardedRecords,
    training: PlainTraining,
    *,
    sampling: list[SeededTensors],
    checkpoint=None,
    progress=lambda message: None,
):
    """One state_dict on the CPU for each of `models`, all of one architecture.

    records, checkpoint, progress: as in `dpsgd.train_private_ensemble`. training,
    and sampling for each model: as in `train_plain_teacher`.

    Raises ValueError for a shard without records, and for weights that are not finite at the end.
    """
    checkpoint = checkpoint or Checkpoint()
    shards, batch_size = records.shards, training.batch_size
    steps = [training.steps(len(shard)) for shard in shards]
    parameters = stack(models, records.images.device)
    gradients = Gradients(
        models[0],
        records.images,
        records.labels,
        pixel_max=records.pixel_max,
        width=batch_size,
    )
    velocity = torch.zeros_like(parameters)
    first = 0
    if (saved := checkpoint.load()) is not None:
        first, parameters = saved["step"], saved["parameters"].to(parameters)
        velocity = saved["velocity"].to(parameters)
    orders = [
        _resumed(source, len(shard), min(first, own), batch_size)
        for source, shard, own in zip(sampling, shards, steps, strict=True)
    ]
    last = max(steps)
    meter = Meter(last, "steps", say=progress, log=progress, done=first)
    for step in range(first, last):
        active = [i for i, own in enumerate(steps) if step < own]
        batches = []
        # A loop over teachers, because each has a source and an order of its own.
        for i in active:
            if not len(orders[i]):
                orders[i] = sampling[i].permutation(len(shards[i]))
            batches.append(shards[i][orders[i][:batch_size]])
            orders[i] = orders[i][batch_size:]
        mine = parameters[active]
        lengths = torch.tensor([[len(batch)] for batch in batches])
        descent = gradients(mine, batches) / lengths.to(mine)
        velocity[active] = training.momentum * velocity[active] + descent
        rates = [training.rate(step, steps[i]) for i in active]
        parameters[active] = mine - velocity[active] * torch.tensor(rates).to(mine)[:, None]
        meter.advance(images=int(lengths.sum()))
        if checkpoint.due():
            checkpoint.save(step=step + 1, parameters=parameters.cpu(), velocity=velocity.cpu())
    meter.finish()
    return finite_states(parameters, models[0])


def _resumed(source, n_records, steps, batch_size):
    """What is left of a teacher's current permutation after `steps` steps; drawn as in training."""
    batches = -(-n_records // batch_size)
    order = torch.empty(0, dtype=torch.int64)
    for _ in range(-(-steps // batches)):
        order = source.permutation(n_records)
    # after the last batch of an epoch nothing is left
    return order[(steps - 1) % batches * batch_size + batch_size :] if steps else order
