"""Train private teachers by DP-SGD (Abadi et al. 2016): one by Opacus' gradients, or many together.

When many are trained together, each teacher draws its batches and its noise from sources of its
own, in the same order and shapes as alone, so the two ways differ by rounding only. The accounting
is of the same schedule and holds for either.

Opacus' PrivacyEngine is not used: its data loader costs more than the training here, and it seeds
sampling and noise from two different places. Nor is its DPOptimizer, whose noise comes from the
device or from a package for secure noise that is no longer available. Little is left to do: clip,
sum, add noise, divide.
"""

from collections import deque
from concurrent.futures import ThreadPoolExecutor

import torch
from torch.nn.functional import cross_entropy

from private_ensembles.base.progress import Meter
from private_ensembles.training.checkpoint import Checkpoint
from private_ensembles.training.teachers.device import send_to_device
from private_ensembles.training.teachers.layerwise import LayerwiseGradients
from private_ensembles.training.teachers.record_gradients import (
    quiet_hooks,
    require_opacus_gradients,
    require_plain_layers,
    trained_parameters,
)
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import Source
from private_ensembles.training.teachers.stacked import (
    NORM_OFFSET,
    StackedGradients,
    index_rows,
    require_finite_state,
    require_finite_states,
    stack_parameters,
)
from private_ensembles.training.teachers.training import PrivateTraining

# At most so many threads draw noise, because each waits for Python's lock between two draws: where
# one took 193 ms for 1,000 networks, 8 took 33 ms and 16 took 49 ms, on 16 cores.
MOST_THREADS = 8


def train_private_teacher(
    model,
    images,
    labels,
    training: PrivateTraining,
    *,
    sampling: Source,
    noise: Source,
    device="cpu",
):
    """Train `model` in place and return its state_dict on the CPU.

    Every step draws each record independently with probability 1/ceil(shard_size/batch_size), clips
    each record's gradient of the cross-entropy to norm max_grad_norm, adds Gaussian noise of
    standard deviation noise_multiplier * max_grad_norm to the sum (to an empty sum, too), and
    divides by the expected batch size. Nothing but the model depends on the drawn batches.

    `teachers.accounting` has the (epsilon, Delta) of the same schedule. Seeded noise is not
    protected against attacks on its low bits (Mironov 2012), as in Opacus without secure_mode;
    secure noise is summed from four samples as there (see `base.secure.normal`).

    Args:
        model: The network. Frozen parameters stay as they are.
        images: float32 (N, 1, height, width) in [0, 1], on `device`.
        labels: int64 (N,), on `device`.
        training: How to train.
        sampling, noise: Independent sources of the batches and of the noise: `SecureTensors` for
            real records, `SeededTensors` for what others should be able to repeat.
        device: Where to train.

    Raises:
        ValueError: There is neither a record nor a public shard_size, Opacus gets gradients of
            single records wrong for a layer, which the message names, or weights are not finite at
            the end.
    """
    from opacus.grad_sample import GradSampleModule  # late: a second that plain training can spare

    plan = training.schedule(len(labels))
    model = model.to(device).train()
    images = images.contiguous()  # Opacus 1.6 computes wrong gradients for channels-last images
    require_opacus_gradients(model, images.shape[1:], device)
    wrapped = GradSampleModule(model, loss_reduction="sum")
    parameters = [parameter for _, parameter in trained_parameters(model)]
    deviation = training.noise_multiplier * training.max_grad_norm
    with quiet_hooks():
        for _ in range(plan.steps):
            batch = draw_poisson_batch(len(labels), plan.sample_rate, sampling).to(device)
            # An empty batch must look like any other: a sum of no gradients, plus noise.
            sums = [torch.zeros_like(parameter) for parameter in parameters]
            if len(batch):
                wrapped.zero_grad(set_to_none=True)
                cross_entropy(wrapped(images[batch]), labels[batch], reduction="sum").backward()
                sums = clip_and_sum([p.grad_sample for p in parameters], training.max_grad_norm)
            with torch.no_grad():
                for parameter, total in zip(parameters, sums, strict=True):
                    drawn = noise.normal(total.shape, total.dtype).to(device)
                    descent = (total + deviation * drawn) / plan.expected_batch_size
                    parameter.add_(descent, alpha=-training.learning_rate)
    wrapped.to_standard_module()
    return require_finite_state(model.state_dict())


def clip_and_sum(gradients, max_grad_norm):
    """Return the sum over records of their gradients, each clipped to a norm.

    The numbers are those of Opacus' DPOptimizer, bit for bit.

    Args:
        gradients: A tensor (records, ...) for each parameter.
        max_grad_norm: The norm, which is over all of a record's tensors.

    Returns:
        A tensor for each parameter.
    """
    norms = torch.stack([part.flatten(1).norm(2, dim=1) for part in gradients], dim=1).norm(
        2, dim=1
    )
    factors = (max_grad_norm / (norms + NORM_OFFSET)).clamp(max=1.0)
    return [torch.einsum("i,i...", factors, part) for part in gradients]


def draw_poisson_batch(n_records, sample_rate, source: Source):
    """Return the indices of one batch, int64: each of n_records is drawn independently.

    Args:
        n_records: The number of records.
        sample_rate: The probability with which each record is drawn.
        source: The source of the draws.
    """
    return (source.uniform(n_records) < sample_rate).nonzero()[:, 0]


def train_private_ensemble(
    models,
    records: ShardedRecords,
    training: PrivateTraining,
    *,
    sampling: list[Source],
    noise: list[Source],
    checkpoint=None,
    progress=lambda message: None,
):
    """Train many models of one architecture together, and return their state_dicts on the CPU.

    Args:
        models: The networks.
        records: What `ShardedRecords.select_members` returns, a shard for each model, on the device
            to train on.
        training: As in `train_private_teacher`.
        sampling, noise: As in `train_private_teacher`, one for each model.
        checkpoint: A Checkpoint to resume from and to write.
        progress: Called with a message that says how far the training is.

    Raises:
        ValueError: A shard has neither records nor a public size, a layer is none whose gradients
            are known here, or weights are not finite at the end.
    """
    require_plain_layers(models[0])
    checkpoint = checkpoint or Checkpoint()
    shards = records.shards
    plans = [training.schedule(len(shard)) for shard in shards]
    parameters = stack_parameters(models, records.images.device)
    # Layer by layer is faster on a CPU, and stacked on a GPU.
    on_cpu = records.images.device.type == "cpu"
    gradients = (LayerwiseGradients if on_cpu else StackedGradients)(
        models[0],
        records.images,
        records.labels,
        pixel_max=records.pixel_max,
        max_grad_norm=training.max_grad_norm,
    )
    first = 0
    if (saved := checkpoint.load()) is not None:
        first, parameters = saved["step"], saved["parameters"].to(parameters)
        for sources, states in ((sampling, saved["sampling"]), (noise, saved["noise"])):
            for source, state in zip(sources, states, strict=True):
                source.restore(state)
    last = max(plan.steps for plan in plans)
    meter = Meter(last, "steps", say=progress, log=progress, done=first)
    draw = _Noise(models[0], parameters)
    # No line of the loop waits for a GPU but `draw`, which waits for its own last numbers.
    for step in range(first, last):
        # Shards may differ in length, and so teachers in their number of steps.
        active = [i for i, plan in enumerate(plans) if step < plan.steps]
        # This is a loop over teachers, because each has sources of its own.
        batches = [
            shards[i][draw_poisson_batch(len(shards[i]), plans[i].sample_rate, sampling[i])]
            for i in active
        ]
        rows = index_rows(active, parameters)
        weights = parameters[rows]
        summed = gradients(weights, batches)
        summed += training.noise_multiplier * training.max_grad_norm * draw(noise, active)
        expected = torch.tensor([[plans[i].expected_batch_size] for i in active])
        descent = summed / send_to_device(expected.to(summed.dtype), summed.device)
        parameters[rows] = weights.add(descent, alpha=-training.learning_rate)
        meter.advance(images=sum(map(len, batches)))
        if checkpoint.is_due():
            checkpoint.save(
                step=step + 1,
                parameters=parameters.cpu(),
                sampling=torch.stack([source.state() for source in sampling]),
                noise=torch.stack([source.state() for source in noise]),
            )
    states = require_finite_states(parameters, models[0])
    meter.finish()
    return states


class _Noise:
    """Standard Gaussian noise (K, D) on the device of `parameters`, drawn on the CPU.

    The numbers are those of one draw per parameter of the model, as Opacus makes them. Threads draw
    them while a GPU works. Each source is used by one thread, so that no bit depends on their
    number.
    """

    def __init__(self, model, parameters):
        on_a_gpu = parameters.is_cuda
        # The numbers are in pages that a GPU reads by itself, so that nobody waits for the copy.
        self.numbers = torch.empty(parameters.shape, dtype=parameters.dtype, pin_memory=on_a_gpu)
        sizes = merge_draw_sizes([parameter.numel() for parameter in model.parameters()])
        self.parts = [row.split(sizes) for row in self.numbers]
        self.device = parameters.device
        self.copied = torch.cuda.Event() if on_a_gpu else None

    def __call__(self, sources, active):
        """Return the noise of the teachers `active`, a row for each; `sources` are of all."""
        if self.copied is not None:
            self.copied.synchronize()  # the last numbers, if they are still being copied

        def fill(teachers):
            for i in teachers:
                for part in self.parts[i]:
                    sources[i].fill_normal(part)

        threads = min(torch.get_num_threads(), MOST_THREADS)
        if threads == 1:
            fill(active)
        else:
            with ThreadPoolExecutor(threads) as pool:
                deque(pool.map(fill, (active[i::threads] for i in range(threads))), maxlen=0)
        drawn = self.numbers.to(self.device, non_blocking=True)
        if self.copied is not None:
            self.copied.record()
        return drawn[index_rows(active, drawn)]


def merge_draw_sizes(sizes):
    """Return sizes of draws of Gaussians that give the same numbers as a draw for each of `sizes`.

    PyTorch draws 16 at a time, so that tensors of a multiple of 16 may be drawn as one.
    """
    drawn = []
    for size in sizes:
        if drawn and drawn[-1] % 16 == 0 == size % 16:
            drawn[-1] += size
        else:
            drawn.append(size)
    return drawn
