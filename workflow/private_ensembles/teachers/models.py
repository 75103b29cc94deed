"""The teachers' models: small networks that train in a second, from logistic regression to SVHN.

Every model is an `nn.Sequential` of layers without state of their own (no batch normalisation,
no dropout), so that one record's gradient depends on that record alone, as DP-SGD needs it.
"""

import torch
from torch import nn

from private_ensembles import checks
from private_ensembles.teachers.pooling import MaxPool2x2


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
        nn.Flatten(1), nn.Linear(_size(image_shape), 32), nn.ReLU(), nn.Linear(32, n_classes)
    )


def linear(image_shape, n_classes):
    """Logistic regression on pixels: (N, channels, height, width) in [0, 1] -> (N, n_classes)."""
    return nn.Sequential(nn.Flatten(1), nn.Linear(_size(image_shape), n_classes))


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
    checks.one_of(MODELS, model=name)
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


def _size(image_shape):
    """Numbers per image."""
    size = 1
    for side in image_shape:
        size *= side
    return size
