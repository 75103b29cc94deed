"""Distorted images: the same draw, the same image."""

import torch

from private_ensembles.student.augmentation import distort


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_distortion_of_nothing_changes_nothing_and_shifts_move_the_image():
    images = torch.rand((3, 1, 8, 8), generator=generator())
    same = distort(images, generator(), shift=0.0, rotation=0.0, scale=0.0)
    torch.testing.assert_close(same, images)
    moved = distort(images, generator(), shift=0.3, rotation=0.2, scale=0.1)
    assert moved.shape == images.shape
    assert moved.min() >= 0
    assert moved.max() <= 1
    assert not torch.allclose(moved, images)
    assert torch.equal(moved, distort(images, generator(), shift=0.3, rotation=0.2, scale=0.1))
