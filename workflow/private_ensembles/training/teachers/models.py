"""The teachers' models: small networks that train in a second, from logistic regression to SVHN.

Every model is an `nn.Sequential` of layers without state of their own (no batch normalisation,
no dropout), so that one record's gradient depends on that record alone, as DP-SGD needs it.
"""

import torch
from torch import nn
from torch.nn.functional import max_pool2d

from private_ensembles.base import checks
from private_ensembles.training.initialisation import seeded_weights

SQUARE = ([2, 2], [2, 2], [0, 0], [1, 1], False)  # kernel, stride, padding, dilation, ceil_mode


class MaxPool2x2(nn.Module):
    """2x2 max pooling, an odd last row or column left out: bit for bit nn.MaxPool2d(2).

    On a CPU PyTorch walks over contiguous images value by value to find the maxima, twelve times as
    long as over channels-last ones (`device.to_channels_last`), which are left to it. DP-SGD needs
    contiguous ones. Among equal values, the gradient goes to the first one of each square in any
    case.
    """

    def forward(self, images):
        """Pool (N, channels, height, width) to (N, channels, height // 2, width // 2)."""
        if not (images.is_cuda or torch.is_grad_enabled()):
            return _row_maxima(_corners(images))[2]  # where the maxima are does not matter here
        if images.is_cuda or not images.is_contiguous():
            return max_pool2d(images, 2)
        return _Pool.apply(images)[0]


def _corners(images):
    """Return the four values of each 2x2 square, in reading order."""
    height, width = (side // 2 * 2 for side in images.shape[-2:])
    return [images[..., i:height:2, j:width:2] for i in (0, 1) for j in (0, 1)]


def _row_maxima(corners):
    """Return the maxima of the upper rows, of the lower rows, and of the squares."""
    a, b, c, d = corners
    upper, lower = torch.maximum(a, b), torch.maximum(c, d)
    return upper, lower, torch.maximum(upper, lower)


class _Pool(torch.autograd.Function):
    """Maxima of the squares, and whether each is in the right column and in the lower row."""

    @staticmethod
    def forward(images):
        a, b, c, d = corners = _corners(images)
        upper, lower, largest = _row_maxima(corners)
        below, right = lower > upper, b > a
        # This is (d > c) where the lower row wins; `where` would take ten times as long.
        return largest, right ^ ((right ^ (d > c)) & below), below

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, right, below = output
        ctx.mark_non_differentiable(right, below)
        ctx.save_for_backward(inputs[0], right, below)

    @staticmethod
    def backward(ctx, gradient, *_):
        images, right, below = ctx.saved_tensors
        height, width = images.shape[-2:]
        rows, columns = (
            torch.arange(0, side // 2 * 2, 2, device=gradient.device) for side in (height, width)
        )
        # Positions are in 16 bits, because 64 take three times as long.
        within = below.to(torch.int16) * width + right
        return torch.ops.aten.max_pool2d_with_indices_backward(
            gradient, images, *SQUARE, within.to(torch.int64) + (rows[:, None] * width + columns)
        )


def darrm_cnn(image_shape, n_classes):
    """Return the CNN of DaRRM: (N, channels, height, width) in [0, 1] -> logits (N, n_classes).

    It has two 5x5 convolutions of 16 and 32 channels, padding 2, each followed by 2x2 max pooling
    and ReLU, then one linear layer.

    Args:
        image_shape: (height, width[, channels]), at least 4 x 4 pixels.
        n_classes: The number of classes.

    Raises:
        ValueError: The images are too small.

    References:
        DaRRM, section 6.2.
    """
    channels, height, width = _checked_dimensions("darrm_cnn", image_shape, 4)
    return nn.Sequential(
        *_stage(channels, 16, 5, padding=2),
        *_stage(16, 32, 5, padding=2),
        # view(n, -1) could not guess the size of an empty batch.
        nn.Flatten(1),
        nn.Linear(32 * (height // 4) * (width // 4), n_classes),
    )


def mnist_cnn(image_shape, n_classes):
    """Return a CNN for PATE's ten-class 28x28 images.

    It has two 5x5 convolutions of 16 and 32 channels without padding, each followed by 2x2 max
    pooling and ReLU, then one linear layer. On MNIST shards of 240 images it is as accurate as
    `darrm_cnn` in half its time.

    Args:
        image_shape: (height, width[, channels]), at least 16 x 16 pixels.
        n_classes: The number of classes.

    Raises:
        ValueError: The images are too small.
    """
    channels, height, width = _checked_dimensions("mnist_cnn", image_shape, 16)
    sides = [((side - 4) // 2 - 4) // 2 for side in (height, width)]
    return nn.Sequential(
        *_stage(channels, 16, 5),
        *_stage(16, 32, 5),
        nn.Flatten(1),
        nn.Linear(32 * sides[0] * sides[1], n_classes),
    )


def svhn_cnn(image_shape, n_classes):
    """Return a CNN for SVHN's 32x32 colour images.

    It has two 3x3 convolutions of 32 and 64 channels, padding 1, each followed by 2x2 max pooling
    and ReLU, then hidden layers of 128 and 64 units.

    Args:
        image_shape: (height, width[, channels]), at least 4 x 4 pixels.
        n_classes: The number of classes.

    Raises:
        ValueError: The images are too small.
    """
    channels, height, width = _checked_dimensions("svhn_cnn", image_shape, 4)
    return nn.Sequential(
        *_stage(channels, 32, 3, padding=1),
        *_stage(32, 64, 3, padding=1),
        nn.Flatten(1),
        nn.Linear(64 * (height // 4) * (width // 4), 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, n_classes),
    )


def mlp(image_shape, n_classes):
    """Return a network with one hidden layer of 32 units, for tests and for other tables."""
    return nn.Sequential(
        nn.Flatten(1),
        nn.Linear(_count_values(image_shape), 32),
        nn.ReLU(),
        nn.Linear(32, n_classes),
    )


def linear(image_shape, n_classes):
    """Return a logistic regression on pixels."""
    return nn.Sequential(nn.Flatten(1), nn.Linear(_count_values(image_shape), n_classes))


MODELS = {
    "darrm_cnn": darrm_cnn,
    "mnist_cnn": mnist_cnn,
    "svhn_cnn": svhn_cnn,
    "mlp": mlp,
    "linear": linear,
}


def build_model(name, image_shape, n_classes, seed=0):
    """Return a freshly initialised model on the CPU.

    The process' random state is left as it was.

    Args:
        name: A key of MODELS.
        image_shape: (height, width), or (height, width, channels).
        n_classes: The number of classes.
        seed: 0 <= seed < 2**63; the same seed gives the same weights everywhere.

    Raises:
        ValueError: The name is unknown, or the images are too small.
    """
    checks.check_choice(MODELS, model=name)
    with seeded_weights(seed):
        return MODELS[name](image_shape, n_classes)


def _stage(channels, outputs, kernel, padding=0):
    """Return a convolution, 2x2 max pooling, and ReLU, which has a quarter to do after pooling."""
    return nn.Conv2d(channels, outputs, kernel, padding=padding), MaxPool2x2(), nn.ReLU()


def _checked_dimensions(name, image_shape, smallest):
    """Return (channels, height, width); raise ValueError for a side below `smallest`."""
    height, width, *colours = image_shape
    if min(height, width) < smallest:
        shape, least = tuple(image_shape), f"{smallest}x{smallest}"
        raise ValueError(f"image_shape = {shape}: {name} needs at least {least} pixels")
    return (colours[0] if colours else 1), height, width


def _count_values(image_shape):
    """Return how many numbers an image has."""
    size = 1
    for side in image_shape:
        size *= side
    return size
