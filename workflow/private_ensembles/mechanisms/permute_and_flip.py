"""Permute-and-flip (McKenna and Sheldon 2020) on vote counts: rate epsilon / 2 is epsilon-DP."""

from private_ensembles.mechanisms.composed import PureLabels, answered
from private_ensembles.mechanisms.selection import (
    permute_and_flip_distribution,
    permute_and_flip_release,
)


class PermuteAndFlip(PureLabels):
    """Never more expected error than the exponential mechanism at the same rate."""

    name = "permute_and_flip"

    def distribution(self, counts, parameters):
        """Its own, exact."""
        return permute_and_flip_distribution(counts, parameters["label_epsilon"] / 2)

    def release(self, counts, parameters, generator):
        """One label for each of the first `labels` queries."""
        rate = parameters["label_epsilon"] / 2
        return answered(permute_and_flip_release(counts, generator, rate=rate), parameters)


MECHANISM = PermuteAndFlip()
