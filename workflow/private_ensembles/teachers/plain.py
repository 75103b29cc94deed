"""Train one plain (not private) teacher by stochastic gradient descent."""

import torch
from torch.nn.functional import cross_entropy
from torch.optim.sgd import sgd

from private_ensembles.teachers.device import channels_last
from private_ensembles.teachers.dpsgd import finite_state
from private_ensembles.teachers.schedule import check_training, poisson_schedule, rate_at


def train_plain_teacher(
    model,
    images,
    labels,
    *,
    batch_size,
    epochs,
    learning_rate,
    sampling_seed,
    momentum=0.0,
    learning_rate_schedule="constant",
    device="cpu",
):
    """Train `model` in place and return its state_dict on the CPU.

    images: float32 (N, 1, height, width) in [0, 1]; labels: int64 (N,); both on `device`. Each
    epoch goes once through a fresh permutation of the records in batches of batch_size (the last
    one may be smaller), with the mean cross-entropy as loss. sampling_seed: seed of the
    permutations' private generator, on the CPU. learning_rate_schedule: `constant`, or `linear`:
    from learning_rate in the first step down to 0 after the last one.

    Raises ValueError for parameters out of range and for weights that are not finite at the end.
    """
    check_training(learning_rate=learning_rate, momentum=momentum)
    # the same checks as for private teachers, and as many steps
    steps = poisson_schedule(len(labels), batch_size, epochs).steps
    model = model.to(device).train()
    parameters = list(model.parameters())
    velocities = [None] * len(parameters)
    sampler = torch.Generator().manual_seed(sampling_seed)
    for epoch in range(epochs):
        order = torch.randperm(len(labels), generator=sampler).to(device)
        for i, batch in enumerate(order.split(batch_size), epoch * (steps // epochs)):
            model.zero_grad(set_to_none=True)
            cross_entropy(model(channels_last(images[batch])), labels[batch]).backward()
            # torch.optim.SGD's step, without what the class imports: a second at every start.
            with torch.no_grad():
                sgd(
                    parameters,
                    [one.grad for one in parameters],
                    velocities,
                    lr=rate_at(i, steps, learning_rate, learning_rate_schedule),
                    momentum=momentum,
                    weight_decay=0.0,
                    dampening=0.0,
                    nesterov=False,
                    maximize=False,
                )
    return finite_state(model)
