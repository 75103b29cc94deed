"""Permute-and-flip (McKenna and Sheldon 2020) on vote counts: rate epsilon / 2 is epsilon-DP."""

from private_ensembles.mechanisms.families.selection import (
    Selection,
    permute_and_flip_distribution,
    permute_and_flip_release,
)


class PermuteAndFlip(Selection):
    """Never more expected error than the exponential mechanism at the same rate."""

    name = "permute_and_flip"
    label = "Permute-and-flip on the counts"
    source = "McKenna and Sheldon 2020, Algorithm 1"
    order = 31
    weigh = staticmethod(permute_and_flip_distribution)
    choose = staticmethod(permute_and_flip_release)


MECHANISM = PermuteAndFlip()
