"""The dearest adversary of many labels, exactly: all of its strategies, in whole numbers.

For each query it chooses what the others vote, and what its own votes are on either of two
neighbouring data sets, by all that was released before. Which votes are neighbours is a relation:
a table of votes, and the moves between its rows.
"""

import functools
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np

from private_ensembles.labels.ballots import deal_absent_ballots
from tests.claims.drawn import followed

# Of Gaussian noise that is summed up in floats: fewer than 1e6 positive numbers of sum 1.
ROUNDING = 1e-13
# Chances that no fraction holds, such as e^x, are rounded to whole multiples of this.
_UNIT = Fraction(1, 2**256)


def exact_laws(law, counts, parameters, *, secure=False):
    """Return the outcomes' chances on each row of counts as the fractions that the floats are."""
    table = law.outcome_distribution(np.asarray(counts), parameters, secure=secure)
    return [[Fraction(float(p)) for p in row] for row in table]


def rounded(law):
    """Return chances as fractions of few digits, which are within 1e-77 of them."""
    return [round(Fraction(p) / _UNIT) * _UNIT for p in law]


def least_power(epsilon):
    """Return e^epsilon as a fraction, at most 1e-60 too little."""
    with mpmath.workdps(400):
        return Fraction(int(mpmath.floor(mpmath.exp(mpmath.mpf(epsilon)) * 10**60)), 10**60)


def delta_of(mechanism, parameters, task, epsilon=None):
    """Return the exact delta of all labels that are released, at the task's epsilon or another one.

    Of secure labels it is that of what is drawn.
    """
    size, reach = task.ensemble, getattr(parameters, "k", task.protection.reach)
    epsilon, left = task.budget.epsilon if epsilon is None else epsilon, None
    if not mechanism.guarantee.hides_votes:
        laws, moves = _teachers_of(mechanism, parameters, task)
        # The corners are floats, and may be less private than they should by their rounding.
        return largest_delta(laws, moves, epsilon, 1) - 8 * 2.0**-53 * math.exp(epsilon)
    if task.wanted.most_ones is not None:
        rows, moves, left = few_ones(size.teachers, reach, task.wanted.most_ones)
    else:
        neighbours = moved_ballots if size.absent else moved_votes
        rows, moves = neighbours(size.teachers, size.classes, reach)
    if task.secure:
        with followed() as draws:
            laws = [rounded(draws.law(mechanism.law, parameters, row)) for row in rows.tolist()]
    else:
        laws = exact_laws(mechanism.law, rows, parameters)
    queries = getattr(parameters, "queries", parameters.labels)
    return largest_delta(laws, moves, epsilon, queries, parameters.labels, left)


def largest_delta(laws, moves, epsilon, queries, answers=None, left=None):
    """Return the delta at epsilon of all outcomes, over every adaptive strategy: a fraction.

    It is that of e^epsilon rounded down by 1e-60, and exact but for that.

    laws: of a query's outcomes on each row of votes. moves: pairs of rows between which an
    adversary may choose, in both orders; or a function from what is left of its means to (row,
    row, what is left afterwards). answers: how many outcomes but the first one may come before
    nothing more is drawn; None: any number. left: an adversary's means, if they are limited.
    """
    answers = queries if answers is None else answers
    unit = math.lcm(*(p.denominator for law in laws for p in law))
    whole = [[int(p * unit) for p in law] for law in laws]

    @functools.cache
    def offers(left):
        """What may be asked: each outcome's chances on both sides, once for equal ones."""
        listed = moves(left) if callable(moves) else ((*pair, None) for pair in moves)
        found = set()
        for here, there, after in listed:
            if here == there:  # the label tells nothing
                found.add((((unit, unit, 0),), after))
                continue
            # Where any number is answered outcomes have no names.
            answered = (int(answers < queries and n > 0) for n in range(len(whole[here])))
            outcomes = zip(whole[here], whole[there], answered, strict=True)
            found.add((tuple(sorted(o for o in outcomes if o[0])), after))
        return found

    @functools.cache
    def value(queries, answers, left, x, y):
        """The largest sum of (x P - y P')_+ over all that is still drawn, times unit^queries."""
        if not queries or not answers:
            return max(0, x - y) * unit**queries
        best = 0
        for outcomes, after in offers(left):
            if queries == 1:  # as below, in one go
                gain = sum(x * p - y * q for p, q, _ in outcomes if x * p > y * q)
            else:
                gain = sum(
                    value(queries - 1, answers - answered, after, x * p, y * q)
                    for p, q, answered in outcomes
                )
            best = max(best, gain)
        return best

    growth = least_power(epsilon)
    scaled = value(queries, answers, left, growth.denominator, growth.numerator)
    return Fraction(scaled, growth.denominator * unit**queries)


def all_votes(teachers, classes):
    """Return every histogram, by trying all tuples."""
    tuples = itertools.product(range(teachers + 1), repeat=classes)
    return np.array(sorted(row for row in tuples if sum(row) == teachers))


def moved_votes(teachers, classes, reach=1):
    """Histograms, and all pairs between which at most so many votes move: from any to any class."""
    rows = all_votes(teachers, classes)
    return rows, [
        (one, other)
        for one, other in itertools.permutations(range(len(rows)), 2)
        if np.abs(rows[one] - rows[other]).sum() <= 2 * reach
    ]


def moved_ballots(teachers, classes, reach=1):
    """The same of ballots that may be absent, which are dealt out: as one class more."""
    ballots, pairs = moved_votes(teachers, classes + 1, reach)
    rows = deal_absent_ballots(ballots[:, :classes], teachers)
    return rows, [(one, other) for one, other in pairs if (rows[one] != rows[other]).any()]


def few_ones(teachers, reach, most):
    """Votes of two classes, and the moves of so many teachers who may vote 1 so often each.

    Returns the histograms, a function for `largest_delta`, and what is left at the start.
    """
    ones = np.arange(teachers + 1)

    def moves(left):
        before, after = left
        yield 0, 0, left  # its teachers vote alike, which tells nothing
        for here, there in itertools.product(range(reach + 1), repeat=2):
            if here != there and here <= before and there <= after:
                for others in range(teachers - reach + 1):
                    yield others + here, others + there, (before - here, after - there)

    return np.stack([teachers - ones, ones], axis=1), moves, (reach * most, reach * most)


def teacher_corners(epsilon, Delta):
    """Return Pr[a teacher says 1] on both data sets, at the ends of what its privacy allows."""
    growth = math.exp(epsilon)
    high, low = (growth + Delta) / (growth + 1), (1 - Delta) / (growth + 1)
    half = [(0.0, 0.0), (Delta, 0.0), (1.0, 1.0), (1.0, 1 - Delta), (high, low)]
    return half + [(q, p) for p, q in half if p != q]


def private_teachers(teachers, corners, label_one=None):
    """Laws of teachers who are private themselves, any of whom may change, and pairs of these laws.

    label_one: (teachers + 1,), Pr[label 1 | ones], of one label; None: all votes themselves are
    released, as any number of labels may tell. Each way of giving teachers corners makes a pair.
    """
    laws = []
    for chosen in itertools.combinations_with_replacement(corners, teachers):
        for side in (0, 1):
            votes = [Fraction(1)]  # of every run of votes
            for corner in chosen:
                p = Fraction(corner[side])
                votes = [chance * own for chance in votes for own in (1 - p, p)]
            if label_one is None:
                laws.append(votes)
                continue
            runs = itertools.product((0, 1), repeat=teachers)
            one = sum(
                chance * Fraction(float(label_one[sum(run)]))
                for chance, run in zip(votes, runs, strict=True)
            )
            laws.append([1 - one, one])
    pairs = ((n + side, n + 1 - side) for n in range(0, len(laws), 2) for side in (0, 1))
    return laws, list(pairs)


def _teachers_of(mechanism, parameters, task):
    """Laws and pairs of private teachers: of one on disjoint shards, of all if data are shared.

    Teachers are trained once: any number of labels may tell all votes, or all of a committee.
    """
    K, teacher = task.ensemble.teachers, task.teacher_cost()
    corners = teacher_corners(teacher.epsilon, teacher.delta)
    if task.protection.privacy_model == "disjoint_shards":
        return private_teachers(1, corners)
    if task.wanted.labels > 1:
        return private_teachers(getattr(parameters, "members", K), corners)
    with followed() as draws:
        label_one = [draws.law(mechanism.law, parameters, (K - n, n))[2] for n in range(K + 1)]
    return private_teachers(K, corners, label_one)
