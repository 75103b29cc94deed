"""What an ensemble is trained on: records, and who gets which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class ShardedRecords:
    """What an ensemble is trained on.

    images: uint8 (N, height, width) or (N, height, width, channels), values to pixel_max. labels:
    (N,), classes below n_classes. shards: for each teacher the indices of its records.
    """

    images: torch.Tensor
    labels: torch.Tensor
    shards: Sequence
    pixel_max: int
    n_classes: int

    def select_members(self, device: torch.device, members: Sequence[int]) -> ShardedRecords:
        """Return the same with the shards of `members` only: images and labels on `device`, shards
        on the CPU, all of them tensors, labels and shards of int64.
        """
        return ShardedRecords(
            torch.as_tensor(self.images, device=device),
            torch.as_tensor(self.labels, device=device).to(torch.int64),
            [torch.as_tensor(self.shards[i]) for i in members],
            self.pixel_max,
            self.n_classes,
        )
