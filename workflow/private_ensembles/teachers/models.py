"""The teachers' models: DaRRM's small convolutional network and a linear classifier."""

import torch
from torch import nn


def darrm_cnn(image_shape, n_classes):
    """The CNN of DaRRM section 6.2: (N, 1, height, width) in [0, 1] -> logits (N, n_classes).

    Two 5x5 convolutions of 16 and 32 channels, padding 2, each followed by ReLU and 2x2 max
    pooling, then one linear layer. Height and width must be at least 4.
    """
    height, width = image_shape
    if min(height, width) < 4:
        raise ValueError(f"image_shape = {tuple(image_shape)}: darrm_cnn needs at least 4x4 pixels")
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        # not view(n, -1), which cannot guess the size of an empty batch
        nn.Flatten(1),
        nn.Linear(32 * (height // 4) * (width // 4), n_classes),
    )


def linear(image_shape, n_classes):
    """Logistic regression on pixels: (N, 1, height, width) in [0, 1] -> logits (N, n_classes)."""
    height, width = image_shape
    return nn.Sequential(nn.Flatten(1), nn.Linear(height * width, n_classes))


MODELS = {"darrm_cnn": darrm_cnn, "linear": linear}


def build_model(name, image_shape, n_classes, seed=0):
    """A freshly initialised model on the CPU; the same seed gives the same weights everywhere.

    name: a key of MODELS. image_shape: (height, width). seed: 0 <= seed < 2**63. The process'
    random state is left as it was. Raises ValueError for an unknown name.
    """
    if name not in MODELS:
        raise ValueError(f"model = {name!r}: must be one of {', '.join(MODELS)}")
    # PyTorch's layers draw their weights from the global generator only.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MODELS[name](image_shape, n_classes)
