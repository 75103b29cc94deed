"""Memory that a training gives back after each step and needs again in the next."""

import torch

_NUMBERS = 7 << 20  # 28 MiB: glibc never keeps more than 32 MiB because of one block


def keep_memory() -> None:
    """Let glibc keep what is freed, which Linux would fill with zeros again: a tenth of a training.

    glibc keeps twice the size of the largest block that was ever given back. With another C library
    this does nothing.
    """
    torch.empty(_NUMBERS)
