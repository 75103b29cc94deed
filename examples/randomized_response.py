"""A mechanism for anybody's audit: the plurality of the votes, told by randomised response.

    private-ensembles audit examples/randomized_response.py:labels --teachers 11 --classes 3
    private-ensembles audit examples/randomized_response.py:draw --teachers 11 --classes 3

`labels` says how likely each label is; `draw` only draws labels. Needs nothing but NumPy.
"""

import numpy as np

EPSILON = 1.0


def labels(counts):
    """Return Pr[label], (queries, classes), for vote counts of that shape; ties break evenly."""
    leader_share = counts == counts.max(axis=1, keepdims=True)
    leader_share = leader_share / leader_share.sum(axis=1, keepdims=True)
    n_others = counts.shape[1] - 1
    truth = np.exp(EPSILON) / (np.exp(EPSILON) + n_others)
    return leader_share * truth + (1 - leader_share) * (1 - truth) / n_others


def draw(counts, generator):
    """Return one label each, (queries,), for vote counts (queries, classes), as `labels` says."""
    cumulative = labels(counts).cumsum(axis=1)
    return (generator.random(len(counts))[:, None] > cumulative[:, :-1]).sum(axis=1)
