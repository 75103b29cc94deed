"""What an ensemble is trained on: records, and who gets which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class ShardedRecords:
    """What an ensemble is trained on.

    Attributes:
        images: uint8 (N, height, width) or (N, height, width, channels), values 0..pixel_max.
        labels: (N,), classes below n_classes.
        shards: The indices of each teacher's records.
        pixel_max: The largest value that a pixel may have.
        n_classes: The number of classes.
    """

    images: torch.Tensor
    labels: torch.Tensor
    shards: Sequence
    pixel_max: int
    n_classes: int

    def select_members(self, device: torch.device, members: Sequence[int]) -> ShardedRecords:
        """Return the same records as tensors, with the shards of `members` only.

        Args:
            device: Where images and labels go; shards stay on the CPU.
            members: The numbers of the teachers.

        Returns:
            ShardedRecords, with labels and shards of int64.
        """
        return ShardedRecords(
            torch.as_tensor(self.images, device=device),
            torch.as_tensor(self.labels, device=device).to(torch.int64),
            [torch.as_tensor(self.shards[i]) for i in members],
            self.pixel_max,
            self.n_classes,
        )
