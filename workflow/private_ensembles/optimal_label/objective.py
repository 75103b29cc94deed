"""What an optimal label is optimal for: expected right labels under a stated profile of teachers.

Either a teacher votes for the right class with probability `accuracy` and for each other class with
equal probability, independently of the others; or queries are easy or hard, and taken for few other
classes or many, as a profile of the consensus says. In both a histogram and the tie group of its
right class have a probability in closed form, and expected right labels are linear in the
mechanism.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.rounding import sixty_digits
from private_ensembles.optimal_label.sorted_histograms import TieGroups
from private_ensembles.votes.synthetic import ConsensusProfile

# Of one weight, relative: five roundings of correctly rounded factors.
WEIGHT_ROUNDINGS = 5
# Larger numbers of arrangements do not fit a float.
_LARGEST_LOGARITHM = 700.0


def right_weights(histograms: TieGroups, accuracy: float) -> NDArray[np.float64]:
    """Return Pr[the sorted histogram, the right class in the tie group], (G,).

    >>> from private_ensembles.optimal_label.sorted_histograms import tie_groups
    >>> right_weights(tie_groups(2, 2), 0.75)  # 1-1, 2-0 and 0-2
    array([0.375 , 0.5625, 0.0625])

    accuracy: of one teacher, in (1/C, 1). A mechanism that releases each class of a tie group with
    probability p releases the right class with probability sum of weights p. Each weight is off by
    at most WEIGHT_ROUNDINGS relative round-offs. Raises ValueError for another accuracy, and for so
    many teachers that the numbers of arrangements do not fit a float. Source: docs/best-label.md.
    """
    K, C = histograms.n_teachers, histograms.n_classes
    if not 1 / C < accuracy < 1:
        raise ValueError(f"accuracy = {accuracy}: must be above 1 / {C} and below 1")
    if K * math.log(C) > _LARGEST_LOGARITHM:
        raise ValueError(
            f"n_teachers = {K}: must be at most {_LARGEST_LOGARITHM / math.log(C):.0f}"
        )
    factorials = np.array([math.factorial(n) for n in range(K + 1)], dtype=object)
    votes = factorials[K] // np.multiply.reduce(factorials[histograms.counts], axis=1)
    arrangements = (votes[histograms.owners] * _names(histograms)).astype(np.float64)
    with sixty_digits():  # accuracy^n and ((1 - accuracy) / (C - 1))^n, each rounded once
        bases = Decimal(accuracy), (1 - Decimal(accuracy)) / (C - 1)
        right, wrong = np.array([[float(base**n) for n in range(K + 1)] for base in bases])
    return arrangements * right[histograms.votes] * wrong[K - histograms.votes]


def weights_of(
    histograms: TieGroups, accuracy: float | None, profile: ConsensusProfile | None
) -> NDArray[np.float64]:
    """Return `profile_weights` of a profile, or `right_weights` if there is none; as these do."""
    if profile is None:
        return right_weights(histograms, accuracy)
    return profile_weights(histograms, profile)


def profile_weights(histograms: TieGroups, profile: ConsensusProfile) -> NDArray[np.float64]:
    """Return Pr[the sorted histogram, the true class in the tie group] on the profile, (G,).

    >>> from private_ensembles.optimal_label.sorted_histograms import tie_groups
    >>> even = ConsensusProfile(2, easy_share=0.5, easy=(1, 1), hard=(1, 1), confusion=1.0)
    >>> profile_weights(tie_groups(2, 2), even)  # every number of right votes is as likely
    array([0.33333333, 0.33333333, 0.33333333])

    Votes for the true class are beta-binomial, easy or hard; those for the others are
    Dirichlet-multinomial, so that only Gamma functions remain (docs/best-label.md). Which classes
    are true how often, and a label that is not the true class in a known share of queries, change
    nothing for a label that treats all classes alike, and are left out. Each weight is rounded once
    from sixty digits. Raises ValueError for a profile of another number of classes.
    """
    K, C = histograms.n_teachers, histograms.n_classes
    if profile.n_classes != C:
        raise ValueError(f"profile: is of {profile.n_classes} classes, must be of {C}")
    with sixty_digits():
        right = right_votes(profile, K)
        confusion = Decimal(profile.confusion)
        each, together = rises(confusion / (C - 1), K), rises(confusion, K)
        rows = np.multiply.reduce(each[histograms.counts], axis=1)[histograms.owners]
        wrong = rows / each[histograms.votes] / together[K - histograms.votes]
        return (_names(histograms) * wrong * right[histograms.votes]).astype(np.float64)


def right_votes(profile: ConsensusProfile, n_teachers: int) -> NDArray[np.object_]:
    """Return Pr[n of K teachers vote for the true class] for n = 0..K, Decimals; K = n_teachers.

    In the caller's context of Decimals.
    """
    easy = Decimal(profile.easy_share)
    total = np.zeros(n_teachers + 1, dtype=object)
    for share, pair in ((easy, profile.easy), (1 - easy, profile.hard)):
        a, b = (Decimal(parameter) for parameter in pair)
        votes = rises(a, n_teachers) * rises(b, n_teachers)[::-1]
        total = total + share * votes / rises(a + b, n_teachers)[-1]
    return total


def rises(x: Decimal, most: int) -> NDArray[np.object_]:
    """Return x (x + 1) ... (x + n - 1) / n! for n = 0..most, in the caller's context."""
    products = [Decimal(1)]
    for n in range(most):
        products.append(products[-1] * (x + n) / (n + 1))
    return np.array(products, dtype=object)


def _names(histograms: TieGroups) -> NDArray[np.object_]:
    """How many ways there are to name all classes but the right one, one of each tie group."""
    C = histograms.n_classes
    factorials = np.array([math.factorial(n) for n in range(C + 1)], dtype=object)
    ties = np.multiply.reduceat(factorials[histograms.sizes], histograms.starts)
    sizes = histograms.sizes.astype(object)
    return factorials[C - 1] * sizes // ties[histograms.owners]


def leaders(histograms: TieGroups, lead: int) -> NDArray[np.int64]:
    """Return the leading group of every histogram whose lead is at least `lead` votes.

    A mechanism's least Pr[the leader] over these is what `minimax` maximises. Raises ValueError for
    a lead outside 1..K.
    """
    if not 1 <= lead <= histograms.n_teachers:
        raise ValueError(f"lead = {lead}: must be in 1..{histograms.n_teachers}")
    ahead = histograms.counts[:, 0] - histograms.counts[:, 1] >= lead
    return histograms.starts[ahead]
