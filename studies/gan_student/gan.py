"""PATE's kind of student, which learns from a generator's images as well: feature matching.

Salimans, Goodfellow, Zaremba, Cheung, Radford & Chen (2016), "Improved Techniques for Training
GANs", sections 3.1 and 5, with their kind of network for MNIST: what PATE's MNIST and SVHN students
are. Beside it the workflow's students get further in less time on a CPU (docs/pate.md).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, linear, softplus

from private_ensembles.base.streams import torch_seed
from private_ensembles.training.initialisation import seeded_weights
from private_ensembles.training.student.network import network_scores, to_channels_first
from private_ensembles.training.student.training import Conditions

# The noise on the images, and on each hidden layer of the discriminator, has these deviations.
_INPUT_NOISE, _HIDDEN_NOISE = 0.3, 0.5


@dataclass(frozen=True)
class FeatureMatching:
    """How the two networks are trained; the defaults are the authors' for MNIST.

    Attributes:
        epochs: passes over the pool, >= 1.
        batch_size: labelled images, other images and generated ones of a step, >= 2, at most the
            pool.
        learning_rate: Adam's, > 0, for the first two thirds, then falling to 0 in a straight line.
        momentum: Adam's first, in [0, 1).
        widths: hidden layers of the discriminator.
        generator_widths: hidden layers of the generator.
        codes: numbers that it makes an image of.
    """

    epochs: int = 300
    batch_size: int = 100
    learning_rate: float = 0.003
    momentum: float = 0.5
    widths: tuple[int, ...] = (1000, 500, 250, 250, 250)
    generator_widths: tuple[int, ...] = (500, 500)
    codes: int = 100


class WeightNormLinear(nn.Module):
    """A linear layer whose weights have a length apart from their direction (weight norm)."""

    def __init__(self, inputs: int, outputs: int, scale: float) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(outputs, inputs))
        self.scale = nn.Parameter(torch.full((outputs, 1), scale))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return (N, outputs) of (N, inputs)."""
        weight = self.direction * (self.scale / self.direction.norm(dim=1, keepdim=True))
        return linear(inputs, weight, self.bias)


class Discriminator(nn.Module):
    """A network from images to logits of the real classes; the logit of "generated" is always 0."""

    def __init__(self, pixels: int, widths: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        sizes = (pixels, *widths)
        self.hidden = nn.ModuleList(
            # Twice the variance makes up for what the rectifiers cut off.
            WeightNormLinear(*pair, math.sqrt(2))
            for pair in pairwise(sizes)
        )
        self.last = WeightNormLinear(sizes[-1], n_classes, 1.0)

    def features(self, images: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Return the last hidden layer, (N, widths[-1]); noise: while the discriminator learns."""

        def noisy(values, deviation):
            if noise is None:
                return values
            return values + deviation * torch.randn(values.shape, generator=noise)

        values = noisy(images.flatten(1), _INPUT_NOISE)
        for layer in self.hidden:
            values = noisy(torch.relu(layer(values)), _HIDDEN_NOISE)
        return values

    def forward(self, images: torch.Tensor, noise: torch.Generator | None = None) -> torch.Tensor:
        """Return logits, (N, classes), of images, (N, channels, height, width)."""
        return self.last(self.features(images, noise))


def _generator(codes: int, widths: tuple[int, ...], pixels: int) -> nn.Sequential:
    """Return a network from codes, (N, codes), to flat images, (N, pixels), in [0, 1]."""
    layers: list[nn.Module] = []
    for inputs, outputs in zip((codes, *widths[:-1]), widths, strict=True):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.Softplus()]
    return nn.Sequential(*layers, WeightNormLinear(widths[-1], pixels, 1.0), nn.Sigmoid())


def train_gan(
    pool: np.ndarray,
    index: np.ndarray,
    labels: np.ndarray,
    n_classes: int,
    settings: FeatureMatching,
    conditions: Conditions,
    *,
    pixel_max: int,
) -> tuple[nn.Module, list[float]]:
    """Train a discriminator on the labels of pool[index], the pool and a generator's images.

    For a discriminator with logits l and Z = sum exp l, the loss is the labels' cross-entropy, and
    -log Z/(Z+1) on the pool's images, -log 1/(Z+1) on generated ones, half each. The generator's
    loss is the mean squared difference of the mean features of both. One generator of random
    numbers for each purpose at torch_seed(seed, *path, ...): the same arguments give the same bits.

    Args:
        pool, index, labels, n_classes, pixel_max: as `student.network.train_network` takes them.
        settings: how the networks are trained.
        conditions: seed, path, observe and progress; device and checkpoint are not used.

    Returns:
        The network, in evaluation mode, and what `observe`, given the network's `network_scores`,
        returned after each epoch.

    Raises:
        ValueError: the loss stops being finite.

    References:
        Salimans et al. 2016, sections 3.1 and 5.
    """
    path = conditions.seed, *conditions.path
    images = torch.from_numpy(to_channels_first(pool)).to(torch.float32) / pixel_max
    index, labels = torch.from_numpy(index), torch.from_numpy(labels)
    pixels = images[0].numel()
    with seeded_weights(torch_seed(*path, "initialisation")):
        model = Discriminator(pixels, settings.widths, n_classes)
        creator = _generator(settings.codes, settings.generator_widths, pixels)
    networks = model, creator
    optimizers = [
        torch.optim.Adam(network.parameters(), betas=(settings.momentum, 0.999), fused=True)
        for network in networks
    ]
    batches, noise, codes = (
        torch.Generator().manual_seed(torch_seed(*path, name))
        for name in ("batches", "noise", "codes")
    )

    def generate_images() -> torch.Tensor:
        return creator(torch.rand(settings.batch_size, settings.codes, generator=codes))

    def discriminate(others: torch.Tensor) -> torch.Tensor:
        chosen = torch.randint(len(index), (settings.batch_size,), generator=batches)
        with torch.no_grad():
            false = generate_images().reshape(-1, *others.shape[1:])
        logits = model(torch.cat([images[index[chosen]], others, false]), noise)
        labelled, real, false = logits.split([len(chosen), len(others), len(false)])
        real, false = torch.logsumexp(real, dim=1), torch.logsumexp(false, dim=1)
        unlabelled_loss = softplus(-real).mean() / 2 + softplus(false).mean() / 2
        return cross_entropy(labelled, labels[chosen]) + unlabelled_loss

    def create(others: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            mean_features = model.features(others, noise).mean(dim=0)
        return ((model.features(generate_images(), noise).mean(dim=0) - mean_features) ** 2).mean()

    observed = []
    for epoch in range(settings.epochs):
        rate = settings.learning_rate * min(1.0, 3 * (1 - epoch / settings.epochs))
        losses = []
        # The last, smaller batch of a permutation is left to other epochs.
        order = torch.randperm(len(images), generator=batches)
        whole = len(images) // settings.batch_size * settings.batch_size
        for part in order[:whole].split(settings.batch_size):
            for loss_of, optimizer in zip((discriminate, create), optimizers, strict=True):
                for network in networks:
                    network.zero_grad(set_to_none=True)
                loss = loss_of(images[part])
                loss.backward()
                optimizer.param_groups[0]["lr"] = rate
                optimizer.step()
                losses.append(loss.detach())
        mean = float(torch.stack(losses).mean())
        if not math.isfinite(mean):
            raise ValueError(
                f"student: the loss is {mean} in epoch {epoch + 1}: lower the learning rate, "
                f"{settings.learning_rate}"
            )
        conditions.progress(f"{epoch + 1} of {settings.epochs} epochs, loss {mean:.4f}")
        if conditions.observe is not None:
            scores = functools.partial(network_scores, model, pixel_max=pixel_max)
            observed.append(float(conditions.observe(scores)))
    return model.eval(), observed
