"""Every sample of every data set, in fractions: what labels of sampled voters are."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np

from private_ensembles.pate.gnmax_quadrature import gnmax_distribution


@functools.cache
def law_of(law, scale, counts):
    """Pr[label] of a histogram, a tuple of fractions that add up to 1."""
    if law == "exponential":
        weights = [math.exp((count - max(counts)) / scale) for count in counts]
        chances = [Fraction(weight) for weight in weights]
    else:
        # A vote more for every class changes nothing, and nobody need be sampled.
        row = gnmax_distribution(np.array([counts]) + 1, scale)[0]
        chances = [Fraction(float(chance)) for chance in row]
    return tuple(chance / sum(chances) for chance in chances)


def _mixed(parts):
    laws = [[weight * p for p in law] for weight, law in parts]
    return tuple(map(sum, zip(*laws, strict=True)))


@functools.cache
def label_of(law, scale, rate, votes):
    """Pr[label] of voters with so many votes for each class, over every sample of them."""
    q = Fraction(rate)
    parts = []
    for sample in itertools.product(*(range(count + 1) for count in votes)):
        weight = math.prod(
            math.comb(all_of, some) * q**some * (1 - q) ** (all_of - some)
            for all_of, some in zip(votes, sample, strict=True)
        )
        parts.append((weight, law_of(law, scale, sample)))
    return _mixed(parts)


@functools.cache
def label_of_nearest(law, scale, rate, votes, nearest, classes):
    """Pr[label] of voters in the query's order, of whose sample the first ones vote."""
    q = Fraction(rate)
    parts = []
    for taken in itertools.product((False, True), repeat=len(votes)):
        weight = math.prod(q if one else 1 - q for one in taken)
        ballots = [vote for vote, one in zip(votes, taken, strict=True) if one][:nearest]
        ballots += [j % classes for j in range(nearest - len(ballots))]
        counts = tuple(ballots.count(label) for label in range(classes))
        parts.append((weight, law_of(law, scale, counts)))
    return _mixed(parts)


def neighbours(law, scale, rate, voters, classes, adjacency, nearest=None):
    """All pairs of laws of one label that neighbours can cause, in both orders."""
    found = set()
    label = functools.partial(label_of, law, scale, rate)
    if nearest is not None:
        label = functools.partial(label_of_nearest, law, scale, rate)
        for count in range(voters):
            for votes in itertools.product(range(classes), repeat=count):
                before = label(votes, nearest, classes)
                for place, vote in itertools.product(range(count + 1), range(classes)):
                    more = (*votes[:place], vote, *votes[place:])
                    found.add((before, label(more, nearest, classes)))
    else:
        totals = [voters - 1] if adjacency == "replace_one" else range(voters)
        for votes in itertools.product(range(voters), repeat=classes):
            if sum(votes) not in totals:
                continue
            more = [
                tuple(count + (j == own) for j, count in enumerate(votes)) for own in range(classes)
            ]
            if adjacency == "replace_one":
                found |= set(itertools.combinations([label(row) for row in more], 2))
            else:
                found |= {(label(votes), label(row)) for row in more}
    # Classes that are renamed alike change nothing.
    pairs = {tuple(sorted(zip(*pair, strict=True))) for pair in found}
    pairs |= {tuple(sorted((q, p) for p, q in pair)) for pair in pairs}
    return [tuple(zip(*pair, strict=True)) for pair in pairs]
