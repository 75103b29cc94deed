"""Where the batches and the noise of a training come from: a seed, or the system's entropy.

This is to training what `base.noise_sources` is to labels: whoever draws asks a source and does not
care which it is. All draws are made on the CPU, so that a GPU sees the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from private_ensembles.base import secure
from private_ensembles.base.streams import torch_seed


class SeededTensors:
    """Draws that can be repeated, from a private generator with this seed."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def uniform(self, number: int) -> torch.Tensor:
        """Return independent uniform numbers in [0, 1): float64 (number,)."""
        return torch.rand(number, generator=self._generator, dtype=torch.float64)

    def normal(self, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
        """Return independent standard Gaussians of this shape and type."""
        return self.fill_normal(torch.empty(shape, dtype=dtype))

    def fill_normal(self, numbers: torch.Tensor) -> torch.Tensor:
        """Overwrite a contiguous tensor on the CPU by what `normal` draws, and return it."""
        return numbers.normal_(generator=self._generator)

    def permutation(self, number: int) -> torch.Tensor:
        """Return 0..number-1 in a uniformly drawn order: int64 (number,)."""
        return torch.randperm(number, generator=self._generator)

    def state(self) -> torch.Tensor:
        """Return the state on which the next draws depend, uint8, for a checkpoint."""
        return self._generator.get_state()

    def restore(self, state: torch.Tensor) -> None:
        """Draw from here on as after `state`."""
        # A copy, because PyTorch would read the first row of a matrix for any of its rows.
        self._generator.set_state(state.clone())


class SecureTensors:
    """Draws from the system's entropy, which nobody can repeat; for teachers of real records."""

    def uniform(self, number: int) -> torch.Tensor:
        """Return independent uniform numbers in (0, 1): float64 (number,)."""
        return torch.from_numpy(secure.uniform(number))

    def normal(self, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
        """Return independent standard Gaussians, each from four samples (`secure.normal`)."""
        return torch.from_numpy(secure.normal(tuple(shape))).to(dtype)

    def fill_normal(self, numbers: torch.Tensor) -> torch.Tensor:
        """Overwrite a tensor on the CPU by what `normal` draws, and return it."""
        return numbers.copy_(self.normal(numbers.shape, numbers.dtype))

    def state(self) -> torch.Tensor:
        """Return nothing, uint8 (0,): there is no state."""
        return torch.empty(0, dtype=torch.uint8)

    def restore(self, state: torch.Tensor) -> None:
        """Do nothing: there is no state."""


Source = SeededTensors | SecureTensors


@dataclass(frozen=True)
class Randomness:
    """Where the weights, batches and noise of an ensemble's teachers come from.

    Teacher i has streams of its own at (seed, *path, kind, i, ...), so that it depends neither on
    how many others there are, nor on their order, nor on which job trains them.

    Attributes:
        seed, path: The address of the streams.
        noise: `secure` draws batches and noise of private teachers from the system's entropy
            instead of `reproducible` streams.

    Raises:
        ValueError: The noise is neither.
    """

    seed: int
    path: tuple[int | str, ...] = ()
    noise: str = "reproducible"

    def __post_init__(self) -> None:
        secure.check_mode(self.noise)

    def initial_seed(self, kind: str, teacher: int) -> int:
        """Return the seed of a teacher's first weights."""
        return torch_seed(self.seed, *self.path, kind, teacher, "initialisation")

    def source(self, kind: str, teacher: int, name: str) -> Source:
        """Return a fresh source of a teacher's batches (`sampling`) or of its `noise`."""
        if kind == "private" and self.noise == "secure":
            return SecureTensors()
        return SeededTensors(torch_seed(self.seed, *self.path, kind, teacher, name))
