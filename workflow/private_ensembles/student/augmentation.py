"""Small random distortions of images that leave their class as it is."""

from __future__ import annotations

import torch
from torch.nn.functional import affine_grid, grid_sample


def distort(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    shift: float,
    rotation: float,
    scale: float,
) -> torch.Tensor:
    """Each image moved, turned and stretched at random: (N, channels, height, width), same shape.

    shift: largest move, as a share of half the image's side; rotation: largest turn, radians;
    scale: largest logarithm of the stretch, of either side on its own. Each is drawn uniformly
    between its negative and itself, by `generator` on the CPU, whatever the images' device.
    Bilinear; what comes in from outside is 0.
    """
    draws = (2 * torch.rand((len(images), 5), generator=generator) - 1).to(images.device)
    turn = draws[:, 0] * rotation
    stretch = torch.exp(draws[:, 1:3] * scale)
    move = draws[:, 3:5] * shift
    cosine, sine = torch.cos(turn), torch.sin(turn)
    rows = (
        torch.stack([cosine * stretch[:, 0], -sine * stretch[:, 1], move[:, 0]], dim=1),
        torch.stack([sine * stretch[:, 0], cosine * stretch[:, 1], move[:, 1]], dim=1),
    )
    grid = affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    return grid_sample(images, grid, align_corners=False)
