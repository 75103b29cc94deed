"""Virtual adversarial training: predictions must not change in the direction that moves them most.

Miyato, Maeda, Koyama & Ishii (2017), "Virtual Adversarial Training: A Regularization Method for
Supervised and Semi-Supervised Learning", with one power iteration, and conditional entropy
minimisation (their VAT + EntMin), which pushes decision boundaries away from the public inputs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import log_softmax

Model = Callable[[torch.Tensor], torch.Tensor]


def normalise_rows(direction: torch.Tensor) -> torch.Tensor:
    """Return each row, (N, ...), divided by its Euclidean norm; a row of zeros stays."""
    norm = _norms(direction)
    return direction / torch.where(norm > 0, norm, torch.ones_like(norm))


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """Return the Euclidean norm of each row, (N, ...) -> (N, 1, ...)."""
    return rows.flatten(1).norm(dim=1).reshape([-1] + [1] * (rows.ndim - 1))


def kl_divergence(log_p: torch.Tensor, log_q: torch.Tensor) -> torch.Tensor:
    """Return KL(p || q) of each row of log-probabilities, (N, classes) -> (N,), in nats."""
    return (log_p.exp() * (log_p - log_q)).sum(dim=1)


def entropy(log_p: torch.Tensor) -> torch.Tensor:
    """Return the entropy of each row of log-probabilities, (N, classes) -> (N,), in nats."""
    return -(log_p.exp() * log_p).sum(dim=1)


def adversarial_perturbation(
    model: Model,
    images: torch.Tensor,
    log_p: torch.Tensor,
    generator: torch.Generator,
    *,
    radius: float,
    probe: float,
) -> torch.Tensor:
    """Return the virtual adversarial perturbation r of each image, of Euclidean norm `radius`.

    A random unit vector d is replaced by the direction of the gradient of KL(p(x) || p(x + probe
    d)), one step of the power method for the divergence's dominant direction. If that gradient is
    exactly zero, d itself stays.

    Args:
        model: A network from images to logits.
        images: (N, ...).
        log_p: The model's log-probabilities (N, classes) at the images, taken as constants.
        generator: A generator on the CPU, which draws d.
        radius: The Euclidean norm of r.
        probe: The length of the finite difference.

    References:
        Miyato et al. 2017, section 3.3.
    """
    direction = normalise_rows(torch.randn(images.shape, generator=generator).to(images.device))
    probed = (images + probe * direction).requires_grad_()
    divergence = kl_divergence(log_p, log_softmax(model(probed), dim=1)).sum()
    (gradient,) = torch.autograd.grad(divergence, probed)
    return radius * normalise_rows(torch.where(_norms(gradient) > 0, gradient, direction))


def virtual_adversarial_loss(
    model: Model,
    images: torch.Tensor,
    log_p: torch.Tensor,
    generator: torch.Generator,
    *,
    radius: float,
    probe: float,
) -> torch.Tensor:
    """Return the mean of KL(p(x) || p(x + r)) over the images, differentiable in the weights.

    Gradients flow through p(x + r) only: log_p is taken as constant.

    Args:
        model, images, log_p, generator, radius, probe: As in `adversarial_perturbation`.

    References:
        Miyato et al. 2017, section 3.2.
    """
    log_p = log_p.detach()
    r = adversarial_perturbation(model, images, log_p, generator, radius=radius, probe=probe)
    return kl_divergence(log_p, log_softmax(model(images + r), dim=1)).mean()
