"""Train many private teachers by DP-SGD in one computation: the same teachers as `dpsgd` gives.

Each teacher draws its batches and its noise from the same generators, in the same order and shapes,
as `dpsgd.train_private_teacher` does, so the two differ by rounding only. What is accounted for is
the same `schedule` and holds for either.
"""

from concurrent.futures import ThreadPoolExecutor

import torch

from private_ensembles.jobs.checkpoint import Checkpoint
from private_ensembles.jobs.progress import Meter
from private_ensembles.teachers.dpsgd import gaussian, poisson_batch, private_generator
from private_ensembles.teachers.layerwise import LayerwiseGradients, applies
from private_ensembles.teachers.sharded_records import ShardedRecords
from private_ensembles.teachers.stacked import Gradients, finite_states, stack
from private_ensembles.teachers.training import PrivateTraining


def train_private_ensemble(
    models,
    records: ShardedRecords,
    training: PrivateTraining,
    *,
    sampling_seeds,
    noise_seeds,
    blocks=None,
    checkpoint=None,
    progress=lambda message: None,
):
    """One state_dict on the CPU for each of `models`, all of one architecture.

    records: `ShardedRecords.tensors`, a shard for each model, on the device to train on. training,
    and sampling_seeds and noise_seeds for each model: as in `dpsgd.train_private_teacher`. blocks:
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
    samplers = [private_generator(seed) for seed in sampling_seeds]
    noises = [private_generator(seed) for seed in noise_seeds]
    first = 0
    if (saved := checkpoint.load()) is not None:
        first, parameters = saved["step"], saved["parameters"].to(parameters)
        _set_states(samplers, saved["samplers"])
        _set_states(noises, saved["noises"])
    last = max(plan.steps for plan in plans)
    meter = Meter(last, "steps", say=progress, log=progress, done=first)
    for step in range(first, last):
        # Lengths of shards, and so numbers of steps, may differ.
        active = [i for i, plan in enumerate(plans) if step < plan.steps]
        # A loop over teachers, because each has generators of its own.
        batches = [
            shards[i][poisson_batch(len(shards[i]), plans[i].sample_rate, samplers[i])]
            for i in active
        ]
        mine = parameters[active]
        summed = gradients(mine, batches)
        noise = _noise(models[0], mine, [noises[i] for i in active])
        summed += training.noise_multiplier * training.max_grad_norm * noise.to(summed)
        expected = torch.tensor([[plans[i].expected_batch_size] for i in active])
        parameters[active] = mine.add(summed / expected.to(summed), alpha=-training.learning_rate)
        meter.advance(images=sum(map(len, batches)))
        if checkpoint.due():
            checkpoint.save(
                step=step + 1,
                parameters=parameters.cpu(),
                samplers=_states(samplers),
                noises=_states(noises),
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


def _noise(model, like, generators):
    """Standard Gaussian noise (K, D) on the CPU, one draw per parameter as Opacus makes them.

    On as many threads as torch may use, while a GPU works: each generator is used by one of them,
    so that no bit depends on their number.
    """
    shapes = [p.shape for p in model.parameters()]

    def noise_of(generator):
        return torch.cat([gaussian(shape, generator, like.dtype).flatten() for shape in shapes])

    if (threads := torch.get_num_threads()) == 1:
        return torch.stack([noise_of(generator) for generator in generators])
    with ThreadPoolExecutor(threads) as pool:
        return torch.stack(list(pool.map(noise_of, generators)))


def _states(generators):
    """The states of generators, uint8 (K, bytes); empty if they are the system's entropy."""
    if generators[0] is None:
        return torch.empty(0, dtype=torch.uint8)
    return torch.stack([generator.get_state() for generator in generators])


def _set_states(generators, states):
    if generators[0] is not None:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state.clone())  # of a row, PyTorch would read the first one
