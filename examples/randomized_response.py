"""A mechanism for anybody's audit: the plurality of the votes, told by randomised response.

    private-ensembles audit examples/randomized_response.py:labels --teachers 11 --classes 3
    private-ensembles audit examples/randomized_response.py:draw --teachers 11 --classes 3

`labels` says how likely each label is; `draw` only draws labels. Needs nothing but NumPy.
"""

import numpy as np

EPSILON = 1.0


def labels(counts):
    """Return Pr[label], (n, C), for vote counts (n, C); ties are broken evenly."""
    leads = counts == counts.max(axis=1, keepdims=True)
    leads = leads / leads.sum(axis=1, keepdims=True)
    others = counts.shape[1] - 1
    truth = np.exp(EPSILON) / (np.exp(EPSILON) + others)
    return leads * truth + (1 - leads) * (1 - truth) / others


def draw(counts, generator):
    """Return one label each, (n,), for vote counts (n, C), drawn as `labels` says."""
    chances = labels(counts).cumsum(axis=1)
    return (generator.random(len(counts))[:, None] > chances[:, :-1]).sum(axis=1)
