"""Permute-and-flip (McKenna and Sheldon 2020) on vote counts: rate epsilon / 2 is epsilon-DP."""

import numpy as np

from private_ensembles.accounting.adaptive.selection_covers import permute_and_flip_cover
from private_ensembles.mechanisms.families.selection import Selection, preferences


class PermuteAndFlip(Selection):
    """Never more expected error than the exponential mechanism at the same rate."""

    name = "permute_and_flip"
    label = "Permute-and-flip on the counts"
    source = "McKenna and Sheldon 2020, Algorithm 1"
    order = 31
    color = "vermilion"
    dominating = staticmethod(permute_and_flip_cover)

    @staticmethod
    def weigh(counts, rate):
        """Pr[label] by Algorithm 1: visit the classes in random order until one is taken.

        Class j is taken with probability q_j = e^(rate (n_j - max)). With uniform arrival times
        Pr[j] = q_j times the integral over t in [0, 1] of the product over i != j of (1 - q_i t), a
        polynomial of degree C - 1 that Gauss-Legendre quadrature with ceil(C / 2) nodes integrates
        exactly, all terms positive.
        """
        weights = preferences(counts, rate)
        n_classes = weights.shape[1]
        nodes, shares = np.polynomial.legendre.leggauss(-(-n_classes // 2))
        out = np.zeros_like(weights)
        for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):  # C / 2 nodes inside (0, 1)
            refusals = 1 - t * weights
            out += share * weights * (refusals.prod(axis=1, keepdims=True) / refusals)
        return out

    @staticmethod
    def choose(counts, generator, *, rate):
        """Draw by Algorithm 1 as it is written."""
        weights = preferences(counts, rate)
        arrival = generator.random(weights.shape)
        accepted = generator.random(weights.shape) < weights  # the largest always is: weight 1
        return np.argmin(np.where(accepted, arrival, np.inf), axis=1)


MECHANISM = PermuteAndFlip()
