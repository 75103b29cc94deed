"""Whether labels come as often as they should."""

import numpy as np
from scipy.stats import chi2

# A right sampler fails one of these tests once in a hundred million runs or so; the seeds are
# fixed but for the secure ones.
CHANCE = 1e-9


def follows(labels, probability):
    """Whether labels (-1 for no answer) come at these probabilities, by a chi-squared test."""
    expected = np.append(probability, 1 - probability.sum()) * len(labels)
    seen = np.bincount(np.where(labels < 0, len(probability), labels), minlength=len(expected))
    kept = expected > 1e-6
    assert (seen[~kept] == 0).all()
    if kept.sum() == 1:
        return True
    statistic = (np.square(seen - expected)[kept] / expected[kept]).sum()
    return chi2.sf(statistic, kept.sum() - 1) > CHANCE
