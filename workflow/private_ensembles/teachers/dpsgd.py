"""Train one private teacher by DP-SGD (Abadi et al. 2016) on Opacus' per-record gradients.

PrivacyEngine is left out: its data loader costs more than the training here, and it seeds sampling
and noise from two different places. So is DPOptimizer, whose noise comes from the device or from a
package for secure noise that is no longer available. What is left to do is little: clip, sum, add
noise, divide.
"""

import warnings

import torch
from torch.nn.functional import cross_entropy

from private_ensembles.teachers.schedule import check_finite
from private_ensembles.teachers.sources import Source
from private_ensembles.teachers.stacked import SMALL
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
    from opacus.grad_sample import GradSampleModule  # late: a second that plain training can spare

    plan = training.schedule(len(labels))
    model = model.to(device).train()
    images = images.contiguous()  # Opacus 1.6 computes wrong gradients for channels-last images
    wrapped = GradSampleModule(model, loss_reduction="sum")
    parameters = list(model.parameters())
    deviation = training.noise_multiplier * training.max_grad_norm
    with warnings.catch_warnings():
        # Opacus' hooks on the first layer: its input, the images, rightly needs no gradient.
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        for _ in range(plan.steps):
            batch = poisson_batch(len(labels), plan.sample_rate, sampling).to(device)
            # An empty batch must look like any other: a sum of no gradients, plus noise.
            sums = [torch.zeros_like(parameter) for parameter in parameters]
            if len(batch):
                wrapped.zero_grad(set_to_none=True)
                cross_entropy(wrapped(images[batch]), labels[batch], reduction="sum").backward()
                sums = clipped_sums([p.grad_sample for p in parameters], training.max_grad_norm)
            with torch.no_grad():
                for parameter, total in zip(parameters, sums, strict=True):
                    drawn = noise.normal(total.shape, total.dtype).to(device)
                    descent = (total + deviation * drawn) / plan.expected_batch_size
                    parameter.add_(descent, alpha=-training.learning_rate)
    wrapped.to_standard_module()
    return finite_state(model)


def clipped_sums(gradients, max_grad_norm):
    """Sum over records of their gradients, each clipped to a norm: a tensor for each parameter.

    gradients: a tensor (records, ...) for each parameter; a record's norm is over all of them. The
    numbers are those of Opacus' DPOptimizer, bit for bit.
    """
    norms = torch.stack([each.flatten(1).norm(2, dim=1) for each in gradients], dim=1).norm(
        2, dim=1
    )
    factors = (max_grad_norm / (norms + SMALL)).clamp(max=1.0)
    return [torch.einsum("i,i...", factors, each) for each in gradients]


def poisson_batch(n_records, sample_rate, source: Source):
    """Indices of one batch, each of n_records drawn independently: int64, of random length."""
    return (source.uniform(n_records) < sample_rate).nonzero()[:, 0]


def finite_state(model):
    """The model's state_dict on the CPU; ValueError if a weight is not finite."""
    state = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
    check_finite(state)
    return state
