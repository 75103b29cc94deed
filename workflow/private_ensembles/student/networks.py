"""The students' convolutional network, for small grey or colour images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import nn

from private_ensembles import checks


def student_cnn(
    image_shape: tuple[int, int, int],
    n_classes: int,
    *,
    widths: Sequence[int] = (16, 32, 64),
    seed: int = 0,
) -> nn.Sequential:
    """A freshly initialised network on the CPU: (N, channels, height, width) in [0, 1] -> logits.

    A 5x5 convolution, two of 3x3, the last two followed by 2x2 max pooling, each with a leaky ReLU,
    and one linear layer; no normalisation, because batches mix labelled images, others and
    perturbed ones. The first convolution halves images of 16 pixels and more, which would otherwise
    take most of the time. The same seed, 0 <= seed < 2**63, gives the same weights everywhere; the
    process' random state is left as it was.

    Raises ValueError for images smaller than 4 x 4, fewer than two classes, or other than three
    widths >= 1.
    """
    channels, height, width = image_shape
    if min(height, width) < 4 or channels < 1:
        raise ValueError(f"image_shape = {tuple(image_shape)}: must be at least 4 x 4 pixels")
    checks.integer(n_classes=n_classes, at_least=2)
    if len(widths) != 3 or min(widths) < 1:
        raise ValueError(f"widths = {list(widths)}: must be three integers >= 1")
    first, second, third = map(int, widths)
    stride = 2 if min(height, width) >= 16 else 1

    def left(size: int) -> int:  # halvings that round up: by the stride, and twice by pooling
        return math.ceil(math.ceil(size / stride) / 4)

    # PyTorch's layers draw their weights from the global generator only.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            _First(channels, first, 5, stride=stride, padding=2),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(first, second, 3, padding=1),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(second, third, 3, padding=1),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.LeakyReLU(0.1, inplace=True),
            nn.Flatten(1),
            nn.Linear(third * left(height) * left(width), n_classes),
        )


class _First(nn.Conv2d):
    """The first convolution, which puts the channels last in a CPU's memory, for all layers.

    Max pooling takes a tenth of the time then. The bytes of grey images are alike in either order:
    the strides are what PyTorch goes by.
    """

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(N, channels, height, width) -> (N, outputs, ...), channels last on a CPU."""
        if not images.is_cuda:
            last = images.movedim(1, -1)
            images = last.flatten(1).view(last.shape).movedim(-1, 1)
        return super().forward(images)
