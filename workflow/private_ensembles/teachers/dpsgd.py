"""Train one private teacher by DP-SGD (Abadi et al. 2016) with Opacus' clipping and noise.

PrivacyEngine is left out: its data loader costs more than the training here, and it seeds sampling
and noise from two different places. What remains of Opacus is what privacy rests on, per-record
gradients (GradSampleModule) and clip, sum, noise, scale (DPOptimizer).
"""

import warnings

import torch
from torch.nn.functional import cross_entropy

from private_ensembles.teachers.schedule import check_finite
from private_ensembles.teachers.sources import Source
from private_ensembles.teachers.training import PrivateTraining


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

    images: float32 (N, 1, height, width) in [0, 1]; labels: int64 (N,); both on `device`. Every
    step draws each record independently with probability 1/ceil(shard_size/batch_size), clips each
    record's gradient of the cross-entropy to norm max_grad_norm, adds Gaussian noise of standard
    deviation noise_multiplier * max_grad_norm to the sum (to an empty sum, too), and divides by the
    expected batch size. Nothing but the model depends on the drawn batches.

    sampling, noise: independent sources of the batches and of the noise: `SecureTensors` for real
    records, `SeededTensors` for what others should be able to repeat.

    (epsilon, Delta): teachers.accounting, with the same schedule. Seeded noise is not protected
    against attacks on its low bits (Mironov 2012), as in Opacus without secure_mode; secure noise
    is summed from four samples as there (see `noise.secure.normal`).
    Raises ValueError for no record without a public shard_size, and for weights that are not finite
    at the end.
    """
    plan = training.schedule(len(labels))
    model = model.to(device).train()
    images = images.contiguous()  # Opacus 1.6 computes wrong gradients for channels-last images
    wrapped, optimizer = _private(model, plan, training, noise)
    with warnings.catch_warnings():
        # Opacus' hooks on the first layer: its input, the images, rightly needs no gradient.
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        for _ in range(plan.steps):
            batch = poisson_batch(len(labels), plan.sample_rate, sampling).to(device)
            optimizer.zero_grad(set_to_none=True)
            if len(batch):
                cross_entropy(wrapped(images[batch]), labels[batch], reduction="sum").backward()
            else:
                # An empty batch must look like any other: a sum of no gradients, plus noise.
                for parameter in model.parameters():
                    parameter.grad_sample = parameter.new_zeros((0, *parameter.shape))
            optimizer.step()
    wrapped.to_standard_module()
    return finite_state(model)


def poisson_batch(n_records, sample_rate, source: Source):
    """Indices of one batch, each of n_records drawn independently: int64, of random length."""
    return (source.uniform(n_records) < sample_rate).nonzero()[:, 0]


def _private(model, plan, training, noise):
    """Opacus' wrapper of the model, and its optimizer around plain SGD."""
    # late: a second of import that accounting and plain training can do without
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    class CpuNoiseOptimizer(DPOptimizer):
        """DPOptimizer whose noise is drawn on the CPU, the same numbers for any device."""

        def add_noise(self):
            scale = self.noise_multiplier * self.max_grad_norm
            for parameter in self.params:
                total = parameter.summed_grad
                drawn = noise.normal(total.shape, total.dtype)
                parameter.grad = (total + scale * drawn.to(total.device)).view_as(parameter)

    wrapped = GradSampleModule(model, loss_reduction="sum")
    optimizer = CpuNoiseOptimizer(
        torch.optim.SGD(model.parameters(), lr=training.learning_rate),
        noise_multiplier=training.noise_multiplier,
        max_grad_norm=training.max_grad_norm,
        expected_batch_size=plan.expected_batch_size,
        # the loss is a sum, so gradients are per record as they are; scale_grad then divides
        loss_reduction="mean",
    )
    return wrapped, optimizer


def finite_state(model):
    """The model's state_dict on the CPU; ValueError if a weight is not finite."""
    state = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
    check_finite(state)
    return state
