"""The teachers' models: small networks that train in a second, from logistic regression to SVHN.

Every model is an `nn.Sequential` of layers without state of their own (no batch normalisation,
no dropout), so that one record's gradient depends on that record alone, as DP-SGD needs it.
"""

import torch
from torch import nn
from torch.nn.functional import max_pool2d

from private_ensembles.base import checks

SQUARE = ([2, 2], [2, 2], [0, 0], [1, 1], False)  # kernel, stride, padding, dilation, ceil_mode


class MaxPool2x2(nn.Module):
    """2x2 max pooling, an odd last row or column left out: bit for bit nn.MaxPool2d(2).

    On a CPU PyTorch walks over contiguous images value by value to find the maxima, twelve times as
    long as over channels-last ones (`device.to_channels_last`), which are left to it. DP-SGD needs
    contiguous ones. Among equal values, the gradient goes to the first one of each square in any
    case.
    """

    def forward(self, images):
        """(N, channels, height, width) -> (N, channels, height // 2, width // 2)."""
        if not (images.is_cuda or torch.is_grad_enabled()):
            return _row_maxima(_corners(images))[2]  # where the maxima are does not matter here
        if images.is_cuda or not images.is_contiguous():
            return max_pool2d(images, 2)
        return _Pool.apply(images)[0]


def _corners(images):
    """The values of each 2x2 square, in reading order."""
    height, width = (side // 2 * 2 for side in images.shape[-2:])
    return [images[..., i:height:2, j:width:2] for i in (0, 1) for j in (0, 1)]


def _row_maxima(corners):
    """The maxima of the upper rows, of the lower rows, and of the squares."""
    a, b, c, d = corners
    upper, lower = torch.maximum(a, b), torch.maximum(c, d)
    return upper, lower, torch.maximum(upper, lower)


class _Pool(torch.autograd.Function):
    """The maxima; where they are: in the right column, in the lower row of their squares."""

    @staticmethod
    def forward(images):
        a, b, c, d = corners = _corners(images)
        upper, lower, largest = _row_maxima(corners)
        below, right = lower > upper, b > a
        # (d > c) where the lower row wins: `where` would take ten times as long
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
        # in 16 bits, because 64 take three times as long
        within = below.to(torch.int16) * width + right
        return torch.ops.aten.max_pool2d_with_indices_backward(
            gradient, images, *SQUARE, within.to(torch.int64) + (rows[:, None] * width + columns)
        )


def darrm_cnn(image_shape, n_classes):
    """The CNN of DaRRM section 6.2: (N, channels, height, width) in [0, 1] -> (N, n_classes).

    Two 5x5 convolutions of 16 and 32 channels, padding 2, each followed by 2x2 max pooling and
    ReLU, then one linear layer. Height and width must be at least 4.
    """
    channels, height, width = _dimensions("darrm_cnn", image_shape, 4)
    return nn.Sequential(
        *_stage(channels, 16, 5, padding=2),
        *_stage(16, 32, 5, padding=2),
        # not view(n, -1), which cannot guess the size of an empty batch
        nn.Flatten(1),
        nn.Linear(32 * (height // 4) * (width // 4), n_classes),
    )


def mnist_cnn(image_shape, n_classes):
    """A CNN for PATE's ten-class 28x28 images: logits (N, n_classes).

    Two 5x5 convolutions of 16 and 32 channels without padding, each followed by 2x2 max pooling and
    ReLU, then one linear layer: on MNIST shards of 240 images as accurate as `darrm_cnn` in half
    its time. Height and width must be at least 16.
    """
    channels, height, width = _dimensions("mnist_cnn", image_shape, 16)
    sides = [((side - 4) // 2 - 4) // 2 for side in (height, width)]
    return nn.Sequential(
        *_stage(channels, 16, 5),
        *_stage(16, 32, 5),
        nn.Flatten(1),
        nn.Linear(32 * sides[0] * sides[1], n_classes),
    )


def svhn_cnn(image_shape, n_classes):
    """A CNN for SVHN's 32x32 colour images: logits (N, n_classes).

    Two 3x3 convolutions of 32 and 64 channels, padding 1, each followed by 2x2 max pooling and
    ReLU, then hidden layers of 128 and 64 units. Height and width must be at least 4.
    """
    channels, height, width = _dimensions("svhn_cnn", image_shape, 4)
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
    """One hidden layer of 32 units: logits (N, n_classes); for tests, and for other tables."""
    return nn.Sequential(
        nn.Flatten(1),
        nn.Linear(_count_values(image_shape), 32),
        nn.ReLU(),
        nn.Linear(32, n_classes),
    )


def linear(image_shape, n_classes):
    """Logistic regression on pixels: (N, channels, height, width) in [0, 1] -> (N, n_classes)."""
    return nn.Sequential(nn.Flatten(1), nn.Linear(_count_values(image_shape), n_classes))


MODELS = {
    "darrm_cnn": darrm_cnn,
    "mnist_cnn": mnist_cnn,
    "svhn_cnn": svhn_cnn,
    "mlp": mlp,
    "linear": linear,
}


def build_model(name, image_shape, n_classes, seed=0):
    """A freshly initialised model on the CPU; the same seed gives the same weights everywhere.

    name: a key of MODELS. image_shape: (height, width), or (height, width, channels). seed: 0 <=
    seed < 2**63. The process' random state is left as it was. Raises ValueError for an unknown name
    and for images that are too small.
    """
    checks.check_choice(MODELS, model=name)
    # PyTorch's layers draw their weights from the global generator only.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MODELS[name](image_shape, n_classes)


def _stage(channels, outputs, kernel, padding=0):
    """A convolution, 2x2 max pooling, and ReLU: after the pooling it has a quarter to do."""
    return nn.Conv2d(channels, outputs, kernel, padding=padding), MaxPool2x2(), nn.ReLU()


def _dimensions(name, image_shape, smallest):
    """(channels, height, width), checked."""
    height, width, *colours = image_shape
    if min(height, width) < smallest:
        shape, least = tuple(image_shape), f"{smallest}x{smallest}"
        raise ValueError(f"image_shape = {shape}: {name} needs at least {least} pixels")
    return (colours[0] if colours else 1), height, width


def _count_values(image_shape):
    """Numbers per image."""
    size = 1
    for side in image_shape:
        size *= side
    return size
