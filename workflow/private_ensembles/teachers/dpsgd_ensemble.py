"""Train many private teachers by DP-SGD in one computation: the same teachers as `dpsgd` gives.

Each teacher draws its batches and its noise from sources of its own, in the same order and shapes,
as `dpsgd.train_private_teacher` does, so the two differ by rounding only. What is accounted for is
the same `schedule` and holds for either.
"""

from concurrent.futures import ThreadPoolExecutor

import torch

from private_ensembles.jobs.checkpoint import Checkpoint
from private_ensembles.jobs.progress import Meter
from private_ensembles.teachers.dpsgd import poisson_batch
from private_ensembles.teachers.layerwise import LayerwiseGradients, applies
from private_ensembles.teachers.sharded_records import ShardedRecords
from private_ensembles.teachers.sources import Source
from private_ensembles.teachers.stacked import Gradients, finite_states, stack
from private_ensembles.teachers.training import PrivateTraining


def train_private_ensemble(
    models,
    records: ShardedRecords,
    training: PrivateTraining,
    *,
    sampling: list[Source],
    noise: list[Source],
    blocks=None,
    checkpoint=None,
    progress=lambda message: None,
):
    """One state_dict on the CPU for each of `models`, all of one architecture.

    records: `ShardedRecords.tensors`, a shard for each model, on the device to train on. training,
    and sampling and noise for each model: as in `dpsgd.train_private_teacher`. blocks:
    as in `stacked.Gradients`, on a GPU. checkpoint: a Checkpoint to resume from and to write.
    progress: told how far the training is.

    Raises ValueError for a shard without records and without a public size, and for weights that
    are not finite at the end.
    """
    checkpoint = checkpoint or Checkpoint()
    shards = records.shards
    plans = [training.schedule(len(shard)) for shard in shards]
    parameters = stack(models, records.images.device)
    gradients = _gradients(models[0], records, training.max_grad_norm, blocks)
    first = 0
    if (saved := checkpoint.load()) is not None:
        first, parameters = saved["step"], saved["parameters"].to(parameters)
        _restore(sampling, saved["sampling"])
        _restore(noise, saved["noise"])
    last = max(plan.steps for plan in plans)
    meter = Meter(last, "steps", say=progress, log=progress, done=first)
    for step in range(first, last):
        # Lengths of shards, and so numbers of steps, may differ.
        active = [i for i, plan in enumerate(plans) if step < plan.steps]
        # A loop over teachers, because each has sources of its own.
        batches = [
            shards[i][poisson_batch(len(shards[i]), plans[i].sample_rate, sampling[i])]
            for i in active
        ]
        mine = parameters[active]
        summed = gradients(mine, batches)
        drawn = _drawn(models[0], mine, [noise[i] for i in active])
        summed += training.noise_multiplier * training.max_grad_norm * drawn.to(summed)
        expected = torch.tensor([[plans[i].expected_batch_size] for i in active])
        parameters[active] = mine.add(summed / expected.to(summed), alpha=-training.learning_rate)
        meter.advance(images=sum(map(len, batches)))
        if checkpoint.due():
            checkpoint.save(
                step=step + 1,
                parameters=parameters.cpu(),
                sampling=_states(sampling),
                noise=_states(noise),
            )
    meter.finish()
    return finite_states(parameters, models[0])


def _gradients(model, records, max_grad_norm, blocks):
    """Clipped sums, in the way that is fast for this model where it is trained."""
    data = model, records.images, records.labels
    common = {"pixel_max": records.pixel_max, "max_grad_norm": max_grad_norm}
    if applies(model, records.images.device):
        return LayerwiseGradients(*data, **common)
    return Gradients(*data, **common, blocks=blocks)


def _drawn(model, like, sources):
    """Standard Gaussian noise (K, D) on the CPU, one draw per parameter as Opacus makes them.

    On as many threads as torch may use, while a GPU works: each source is used by one of them,
    so that no bit depends on their number.
    """
    shapes = [p.shape for p in model.parameters()]

    def noise_of(source):
        return torch.cat([source.normal(shape, like.dtype).flatten() for shape in shapes])

    if (threads := torch.get_num_threads()) == 1:
        return torch.stack([noise_of(source) for source in sources])
    with ThreadPoolExecutor(threads) as pool:
        return torch.stack(list(pool.map(noise_of, sources)))


def _states(sources):
    """The states of sources, uint8 (K, bytes)."""
    return torch.stack([source.state() for source in sources])


def _restore(sources, states):
    for source, state in zip(sources, states, strict=True):
        source.restore(state)
