"""First weights from a seed, while the process' own random state stays as it is."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def seeded_weights(seed: int) -> Iterator[None]:
    """Let PyTorch's layers draw their weights from a seed inside the block.

    Layers draw from the CPU's default generator only. Its state is put back at the end, and no
    other generator is touched, those of GPUs neither.

    Args:
        seed: 0 <= seed < 2**63.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
