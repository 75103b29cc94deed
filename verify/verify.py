#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints a line for each certificate and ends with 0 if all hold, with 1 at the first file that says
what is not proven, and with 2 if something could not be checked. Theorems and the format:
docs/certificates.md. Integers are fixed point: x is x / ONE.
"""

import argparse
import decimal
import json
import math
import os
import re
import sys
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import ceil, comb, floor, isqrt, prod
from operator import mul

BITS = 128
ONE = 1 << BITS
GUARD = 1 << 256  # working precision of the elementary functions, and of chances of labels
SLACK = 1 << 28  # what a kernel may be short of, in ONE
WIDE = 34  # bytes of a product of two masses, and of sums of such
ROOT_OF_PI = Fraction(1772453850905516027298167483341145182797549456122387128213807789, 10**63)

# What is read at all: bytes of a file, digits of a number, a count, kinds of noise. More is not
# checked, nor what takes more work than is allowed.
LARGEST_FILE, MOST_DIGITS, LARGEST_COUNT, MOST_KINDS = 1 << 23, 600, 99999, 20
MILLION = 10**6
LONGEST_LINE = 4000


def need(condition, text):
    """What is not proven is a ValueError."""
    if not condition:
        raise ValueError(text)


def within(condition, text):
    """What this program cannot tell is a NotImplementedError."""
    if not condition:
        raise NotImplementedError(text)


class Steps:
    """The work that a certificate may take, and all of a file's ten times that, in multiplications
    of long integers, of which a core does some three million a second.

    It is charged before it is done, so that no file keeps this program busy for ever.
    """

    def __init__(self, limit):
        self.allow(limit)

    def allow(self, limit):
        """Begin a file."""
        self.limit, self.of_file = limit, 10 * limit
        self.restart()

    def restart(self):
        """Begin a certificate."""
        self.left = min(self.limit, self.of_file)

    def take(self, number):
        needed, allowed = -(-(self.limit - self.left + number) // MILLION), self.limit // MILLION
        text = (
            f"it needs {needed} million steps or more, and {allowed} million are allowed (--limit)"
        )
        if number > self.left == self.of_file:
            self.of_file = 0
        within(number <= self.left, text)
        self.left, self.of_file = self.left - number, self.of_file - number


steps = Steps(20 * MILLION)


# ---- Numbers -------------------------------------------------------------------------------------
HEXADECIMAL = r"-?0x[01]\.[0-9a-f]{1,13}p([+-](\d{1,3}|10[01]\d|102[0-2])|\+1023)"


def number(text):
    """An exact number: an integer, "p/q", or a float in hexadecimal such as "0x1.8p-3"."""
    if type(text) is int:
        within(abs(text) < 10**MOST_DIGITS, f"an integer has more than {MOST_DIGITS} digits")
        return Fraction(text)
    need(type(text) is str, f"{text!r} is no exact number")
    if re.fullmatch(r"-?\d+/[1-9]\d*", text, re.ASCII):
        longest = max(len(part) for part in text.lstrip("-").split("/"))
        within(longest <= MOST_DIGITS, f"a fraction has more than {MOST_DIGITS} digits")
        return Fraction(text)
    need(re.fullmatch(HEXADECIMAL, text, re.ASCII), f"{text!r} is no exact number")
    return Fraction(float.fromhex(text))


def count(value):
    """An integer from 0 to LARGEST_COUNT."""
    need(type(value) is int and value >= 0, f"{value!r}: not an integer of 0 or more")
    within(value <= LARGEST_COUNT, f"a count is above {LARGEST_COUNT}")
    return value


def real(value):
    """A number as JSON has them, exactly what its float is."""
    need(type(value) in (int, float), f"{value!r}: not a number")
    need(type(value) is int or math.isfinite(value), f"{value!r}: not a finite number")
    return number(value if type(value) is int else value.hex())


def words(value):
    need(type(value) is str, f"{value!r}: not a text")
    return value


def several(values, kind, length=None):
    need(type(values) is list, f"{values!r}: not a list")
    need(length in (None, len(values)), f"a list of {len(values)}: must have {length}")
    return [kind(value) for value in values]


def fields(record, spec, optional=""):
    """The values of exactly these fields, by the ends of their names: "name" is a number, "name#" a
    count, "name~" a number of JSON, "name$" a text, and "name*" anything.

    Optional ones follow, None where they are missing.
    """
    kinds = {"#": count, "~": real, "$": words, "*": lambda value: value}
    names, further = (
        {name.rstrip("#~$*"): kinds.get(name[-1], number) for name in text.split()}
        for text in (spec, optional)
    )
    need(type(record) is dict, f"{record!r}: not an object")
    for name in names:
        need(name in record, f"there is no field {name!r}")
    for name in record:
        need(name in names or name in further, f"nobody checks a field {name!r}: it must not be")
        need(name in names or record[name] is not None, f"{name!r} is empty")
    values = [kind(record[name]) for name, kind in names.items()]
    return values + [kind(record[x]) if x in record else None for x, kind in further.items()]


@lru_cache(1 << 14)
def exp(x):
    """Fractions below and above e^x."""
    if x < -2000:
        return Fraction(0), exp(Fraction(-2000))[1]
    if x < 0:
        return tuple(1 / bound for bound in reversed(exp(-x)))
    within(x <= 2000, "an exponent is above 2000")
    over, under = x.numerator, x.denominator << 20  # below 2^-9; the result is squared 20 times
    low = high = below = above = GUARD
    for n in range(1, 40):
        below, above = below * over // (n * under), -(-above * over // (n * under))
        low, high = low + below, high + above
    high += above  # all further terms together are less than the last one
    for _ in range(20):
        low, high = low * low // GUARD, -(-high * high // GUARD)
    return Fraction(low, GUARD), Fraction(high, GUARD)


@lru_cache(1 << 14)
def erfc(y):
    """Fractions below and above erfc(y) = 1 - erf(y); for y >= 0, erf(y) is
    2 y / sqrt(pi) e^(-y^2) times the sum over n of 2^n y^(2n) / (1 * 3 * ... * (2n + 1))."""
    if y < 0:
        return tuple(2 - bound for bound in reversed(erfc(-y)))
    if y > 12:  # erfc(y) <= e^(-y^2), which falls
        return Fraction(0), exp(Fraction(-144))[1]
    over, under = 2 * y.numerator**2, y.denominator**2
    low = high = below = above = GUARD
    for n in range(1, 1000):
        below = below * over // ((2 * n + 1) * under)
        above = -(-above * over // ((2 * n + 1) * under))
        low, high = low + below, high + above
        if above == 1 and 2 * over < (2 * n + 1) * under:
            break  # from here on each term is less than half of the one before
    least, most = (2 * y * bound / GUARD for bound in exp(-y * y))
    low, high = low * least / (ROOT_OF_PI + Fraction(1, 10**63)), (high + above) * most / ROOT_OF_PI
    return max(1 - high, Fraction(0)), 1 - low


# ---- What is printed -----------------------------------------------------------------------------
def in_decimals(x, digits, rounding):
    limits = {"Emax": decimal.MAX_EMAX, "Emin": decimal.MIN_EMIN}
    context = decimal.Context(prec=digits, rounding=rounding, **limits)
    value = context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))
    value = value.normalize(context)
    return value, (format(value, "f") if -5 < value.adjusted() < 15 else str(value)).lower()


def at_most(x):
    """An upper bound in decimals, rounded up."""
    return in_decimals(x, 10, decimal.ROUND_CEILING)[1]


def at_least(x):
    return in_decimals(x, 10, decimal.ROUND_FLOOR)[1]


def near(x):
    """What a claim is about, with a ~ where the decimals are not all of it."""
    value, text = in_decimals(x, 12, decimal.ROUND_HALF_EVEN)
    return text if Fraction(value) == x else f"~{text}"


def plain(text):
    """No longer than a line, and nothing in it that a terminal would obey."""
    text = str(text)
    short = text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)


# ---- DaRRM's noise function: privacy -------------------------------------------------------------
# K teachers, each (epsilon, Delta)-DP; G(p) = E g(L), L ones, g(l) = sign(l - K/2) gamma(l). With
# C = e^(m epsilon), DaRRM is (m epsilon, delta)-DP if f = G(p) - C G(p') <= C - 1 + 2 delta for all
# teachers at corners (p, p') of a region: (0,0), (1,1), (0,D), (D,0), (1-D,1), (1,1-D), (h,1-h),
# (1-h,h), h = (e^epsilon + D) / (e^epsilon + 1). [DaRRM, Lemmas 3.4 and 5.1] A smaller C is safe,
# as G(p) + 1 - 2 delta <= C (1 + G(p')), and a larger region, as f is linear in each (p, p').
def setting(body, further):
    K, m, epsilon, Delta, delta, *rest = fields(body, "K# m epsilon Delta delta " + further)
    right = K % 2 and 1 <= m <= K and epsilon > 0 and 0 <= 2 * Delta < 1 and 0 <= delta < 1
    need(right, "K must be odd, 1 <= m <= K, epsilon > 0, Delta in [0, 1/2), delta in [0, 1)")
    return K, m, epsilon, Delta, delta, *rest


def teachers(K, m, epsilon, Delta):
    return f"K = {K} teachers, each ({near(epsilon)}, {near(Delta)})-DP, 2 classes, m = {near(m)}"


def gamma_privacy(body, worst_cost=None):
    """V[i][b] is G with i of t teachers at h, t - i at 1 - h, b at 1, a = n - b at 0; p' has t - i.
    To first order in D each of the a + b others makes the better of its moves. Second differences
    bound the further orders; where that is too much all moves are tried.

    worst_cost: a bound on f that the file states; it is checked up to 2^-44 of 1 + C.
    """
    K, m, epsilon, Delta, delta, gamma = setting(body, "gamma*")
    gamma = several(gamma, number, K + 1)
    right = gamma == gamma[::-1] and min(gamma) >= 0 and max(gamma) <= 1
    need(right, "gamma must be symmetric around K/2, and lie in [0, 1]")
    steps.take((K + 1) ** 3)
    V = [[floor(ONE * value) * (1 if 2 * l > K else -1) for l, value in enumerate(gamma)]]
    D, C, growth = ceil(ONE * Delta), floor(ONE * exp(m * epsilon)[0]), exp(epsilon)[1]
    h, weights = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1)), [[ONE]]
    for _ in range(K):  # Pr[Bin(a, D) = r], rounded down, without what is 0 then
        row = mean([0, *weights[-1], 0], ONE - D)
        weights.append(row if row[-1] else row[:-1])
    lost = max(ONE - sum(row) for row in weights)  # rounding moves G by one for each teacher, too
    rounding = (ONE + C) * (K + 1 + 2 * lost + 2)
    allowed = (C - ONE) * ONE + floor(2 * delta * ONE**2) - rounding
    exceeded = allowed + 9 * rounding  # whatever h, D and C were rounded to
    stated, undecided = exceeded, False
    if worst_cost is not None:
        stated = floor(worst_cost * ONE**2) + (ONE + C) * (ONE >> 44) - rounding
    limit = min(allowed, stated)
    for t in range(K + 1):
        n, step = K - t, Fraction(2 * D, ONE)
        further = ceil(ONE * ((1 + step) ** n - 1 - n * step) / 4)
        for i in range(t + 1):
            L, R = V[i], V[t - i]
            sides = ((v[k : k + 3], s) for v, s in ((L, ONE), (R, C)) for k in range(n - 1))
            bent = max((abs(x - 2 * y + z) * s for (x, y, z), s in sides), default=0)
            for b in range(n + 1):
                a, f = n - b, L[b] * ONE - C * R[b]
                zeros = max(0, (L[b + 1] - L[b]) * ONE, C * (R[b] - R[b + 1])) if a else 0
                ones = max(0, (L[b - 1] - L[b]) * ONE, C * (R[b] - R[b - 1])) if b else 0
                moved = (a * zeros + b * ones) * D + bent * further
                if f - (-moved >> BITS) > limit:
                    f = all_moves(L, R, b, a, C, weights)
                    place = f"{i} teachers at H, {t - i} opposite, {b} at 1"
                    need(f <= exceeded, f"not private: {place}")
                    need(f <= stated, f"f is above worst_cost: {place}")
                    undecided |= f > allowed
        V = [mean(V[0], ONE - h)] + [mean(v, h) for v in V]
    within(not undecided, "costs what is allowed, and no rounding can tell whether more")
    claim = f"({at_most(m * epsilon)}, {at_most(delta)})-DP"
    return f"{teachers(K, m, epsilon, Delta)}: a label by DaRRM with this gamma is {claim}"


def mean(line, h):
    """G with one more teacher who says 1 with probability h / ONE, rounded down."""
    return [((ONE - h) * x + h * y) >> BITS for x, y in pairwise(line)]


def all_moves(L, R, b, a, C, weights):
    """The largest f = P(x, y) - C Q(x', y') if x of a zeros and y of b ones move on the side of p,
    x' and y' on that of p', x + x' <= a and y + y' <= b."""
    starts = [b - s for s in range(min(b + 1, len(weights[-1])))]
    width = len(weights[-1])
    steps.take((a + 1) * (2 * (len(starts) + b + 1) * width + 9 * (b + 1)) // 2)

    def moved(line):
        for few in weights[: a + 1]:
            near = [sum(map(mul, few, line[start:])) >> BITS for start in starts]
            yield [sum(map(mul, row, near)) for row in weights[: b + 1]]

    P, Q = list(moved(L)), [[-C * (v >> BITS) for v in row] for row in moved(R)]
    for row, low in zip(Q, [Q[0], *Q], strict=False):  # the largest for at most x' and at most y'
        row[:] = accumulate(map(max, row, low), max)
    pairs = (zip(row, rest[::-1], strict=True) for row, rest in zip(P, Q[::-1], strict=True))
    return max(p + q for pair in pairs for p, q in pair)


# ---- DaRRM's noise function: no private one is better --------------------------------------------
def gamma_utility(body):
    """Weak duality: a private gamma keeps row . gamma <= C - 1 + 2 delta wherever its teachers may
    be, so its utility is at most y . right + sum over l of max(0, c - y . rows) for all y >= 0."""
    K, m, epsilon, Delta, delta, prior, rows, claim = setting(body, "prior* rows* utility")
    need(type(rows) is list, "rows must be a list")
    steps.take((len(rows) + 1) * K * (K + 10))
    C, (p, q) = ceil(ONE * exp(m * epsilon)[1]), corners(Delta, epsilon)
    # Everything below is in ONE * ONE * GUARD. A larger C is implied, and any y >= 0 will do.
    left, total = [ceil(x * ONE**2 * GUARD) for x in objective(K, prior)], 0
    for counts, y in several(rows, lambda row: fields(row, "teachers* multiplier")):
        counts = several(counts, count, 8)
        need(sum(counts) == K and y >= 0, "a row places K teachers, with a multiplier >= 0")
        P, Q, y = pmf(counts, p), pmf(counts, q), floor(y * GUARD)
        for k, l in enumerate(range(K // 2 + 1, K + 1)):
            left[k] -= y * (ONE * (P[l] - P[K - l]) - C * (Q[l] - Q[K - l]))
        total += y
    # Rounding takes at most K off a probability, so that a row may be K (1 + C) too large.
    bound = total * (ONE * (C - ONE) + ceil(2 * delta * ONE**2))
    bound += sum(max(0, value + total * K * (ONE + C)) for value in left)
    bound = Fraction(bound, ONE**2 * GUARD)
    need(bound <= claim, f"the multipliers prove no less than {at_most(bound)}")
    kind, *ends = fields(prior, "kind* low high")
    prior = f"{kind} prior on [{', '.join(map(near, ends))}]"
    about = f"{teachers(K, m, epsilon, Delta)}, delta {near(delta)}, {prior}"
    return f"{about}: no private gamma has a utility above {at_most(claim)}"


def corners(Delta, epsilon):
    """(p, p') of the eight corners, in ONE, as sequences of p and of p'; inside of the region."""
    D, growth = floor(ONE * Delta), exp(epsilon)[0]
    h = floor(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    first = [0, ONE, 0, D, ONE - D, ONE, h, ONE - h]
    return first, [0, ONE, D, 0, ONE, ONE - D, ONE - h, h]


def pmf(counts, chances):
    """Pr[l teachers say 1], l = 0..K, rounded down by at most one for each teacher."""
    row = [ONE]
    for size, p in zip(counts, chances, strict=True):
        for _ in range(size):
            row = mean([0, *row, 0], ONE - p)
    return row


CLOSED_FORMS = ("uniform", "common")


def objective(K, prior):
    """The utility is the sum of c(l) gamma(l) over l > K/2, c(l) = E[Pr[l say 1] - Pr[K - l say 1]]
    over teachers' p in [low, high]: every c(l), rounded up to a multiple of 1 / GUARD."""
    kind, low, high = fields(prior, "kind* low high")
    need(0 <= low < high <= 1, "a prior's probabilities are 0 <= low < high <= 1")
    within(kind in CLOSED_FORMS, f"the utility of prior {kind!r} has no closed form")
    steps.take(K * K * max(x.denominator.bit_length() for x in (low, high)) // 20)

    def binomial(n, p):
        """Chances of 0..n in common units, and the unit."""
        yes, no = p.numerator, p.denominator - p.numerator
        ways = [comb(n, l) * yes**l * no ** (n - l) for l in range(n + 1)]
        return ways, p.denominator**n

    def lead(values, unit):
        """values[l] - values[K - l], rounded up."""
        upper = range(K // 2 + 1, K + 1)
        return [-(-(values[l] - values[K - l]) * GUARD // unit) for l in upper]

    if kind == "uniform":  # independent teachers: only the mean counts
        ways, unit = binomial(K, (low + high) / 2)
        return [Fraction(x, GUARD) for x in lead(ways, unit)]
    # One p for all, by the incomplete beta integral: a difference of tails.
    ways, unit = binomial(K + 1, low)
    first = lead(list(accumulate(ways)), unit)
    ways, unit = binomial(K + 1, high)
    second = lead([-x for x in accumulate(ways)], unit)
    width = (K + 1) * (high - low)
    return [Fraction(ceil((x + y) / width), GUARD) for x, y in zip(first, second, strict=True)]


# ---- One label -----------------------------------------------------------------------------------
def label(body, epsilon, delta, denied):
    """One label is (epsilon, delta)-DP, or it is denied that it is."""
    (law,) = fields(body, "law*")
    pairs = neighbours(law)
    most, least = (Fraction(stick(pairs, epsilon, up), GUARD**2) for up in (1, 0))
    proven, refuted = most <= delta, least > delta
    if denied:
        proven, refuted = refuted, proven
    need(not refuted, f"delta is about {at_most(most)}")
    within(proven, f"delta is {at_least(least)} to {at_most(most)}: nobody can tell")
    return f"one label of {described(law)}"


def stick(pairs, x, up=1):
    """The largest sum of max(0, P - e^x P') over the labels, from above or from below."""
    growth = floor(exp(x)[0] * GUARD) if up else ceil(exp(x)[1] * GUARD)
    return max(sum(max(0, GUARD * p[up] - growth * q[1 - up]) for p, q in pair) for pair in pairs)


def neighbours(law):
    """Neighbouring inputs in both orders: bounds on both probabilities of each label, in GUARD."""
    name, pairs = name_of(law), [(0, 1)]
    if name == "table":
        rows, pairs, *_ = table(law)
    elif name == "response":  # whatever is (epsilon, delta)-DP loses no more
        _, epsilon, delta = fields(law, "name* epsilon delta")
        need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")
        true, false = ([(1 - delta) / (1 + y) for y in exp(x)[::-1]] for x in (-epsilon, epsilon))
        rows = [[true, false, (delta, delta), (0, 0)], [false, true, (0, 0), (delta, delta)]]
    else:  # two classes, K teachers, of whom `moved` vote alike and change their votes
        _, K, moved, scale = fields(law, "name* teachers# moved# scale")
        need(1 <= moved <= K and scale > 0, "moved must be 1 to teachers, and scale positive")
        steps.take(K * (500 if name == "gaussian" else 200))
        few = [minority(name, abs(2 * l - K) / scale) for l in range(K + 1)]
        rows = [[x, [1 - y for y in x[::-1]]][:: 1 if 2 * l > K else -1] for l, x in enumerate(few)]
        pairs = [(l, l + moved) for l in range(K + 1 - moved)]
    rows = [[(floor(low * GUARD), ceil(high * GUARD)) for low, high in row] for row in rows]
    for row in rows:
        low, high = map(sum, zip(*row, strict=True))
        right = low <= GUARD <= high and all(0 <= x <= y for x, y in row)
        need(right and len(row) == len(rows[0]), "a row is no distribution")
    need(pairs, "there is no pair of neighbours")
    steps.take(40 * len(pairs) * len(rows[0]))
    both = ((rows[i], rows[j]) for x in pairs for i, j in (x, x[::-1]))
    return sorted({tuple(sorted(zip(*pair, strict=True))) for pair in both})


def name_of(law):
    need(type(law) is dict, "a law is an object")
    return words(law.get("name"))


def minority(name, x):
    """Bounds on the chance of the label that lacks `scale` times x votes."""
    if name == "gaussian":  # normal noise on both counts; scale: its standard deviation
        return [bound / 2 for bound in erfc(x / 2)]
    if name == "exponential":  # a class of n votes weighs e^(n / scale)
        return [1 / (1 + bound) for bound in exp(x)[::-1]]
    # noise of density e^(-|z| / scale) / (2 scale)
    within(name in ("laplace", "permute_and_flip"), f"no law {name!r} is known here")
    return [bound * (1 + x / 2 if name == "laplace" else 1) / 2 for bound in exp(-x)]


def table(law):
    """Rows of intervals, the pairs of them that are compared, and what is said of these."""
    _, rows, pairs, histograms, moved = fields(law, "name* rows* pairs*", "histograms* moved#")
    need(rows and type(rows) is list, "a table has rows")
    steps.take(40 * sum(len(row) if type(row) is list else 1 for row in rows))
    rows = several(rows, lambda row: several(row, lambda x: several(x, number, 2)))
    pairs = several(pairs, lambda pair: several(pair, count, 2))
    right = all(x != y and max(x, y) < len(rows) for x, y in pairs)
    need(right, "a pair is of two rows of the table")
    size = f"a table of {len(rows)} inputs and {len(rows[0])} labels"
    if histograms is None:
        need(moved is None, "a vote moves between histograms, which are not stated")
        return rows, pairs, f"{size}, only for the {len(pairs)} pairs of inputs that it lists"
    histograms = several(histograms, lambda x: tuple(several(x, count)), len(rows))
    K, classes = sum(histograms[0]), len(histograms[0])
    alike = all((sum(x), len(x)) == (K, classes) for x in histograms)
    need(alike and len(set(histograms)) == len(rows), "histograms differ, and are of as many votes")
    need(moved is not None and 1 <= moved <= K, "moved must be 1 to the number of votes")
    steps.take(len(rows) * classes**2 * (10 + classes))
    every = set(moves(histograms, moved))
    listed = {frozenset(pair) for pair in pairs}
    need(listed <= every, "a pair is not of neighbours")
    votes = f"{K} teachers, {classes} classes, {moved} moved"
    if listed == every and len(rows) == comb(K + classes - 1, K):
        return rows, pairs, f"{size}, for all {len(every)} pairs of neighbours: {votes}"
    return rows, pairs, f"{size}, only for {len(listed)} of the pairs of neighbours: {votes}"


def moves(histograms, moved):
    """The pairs of these histograms between which so many votes go from one class to another."""
    place = {histogram: row for row, histogram in enumerate(histograms)}
    for histogram, row in place.items():
        for source, votes in enumerate(histogram):
            for target in range(len(histogram)):
                other = list(histogram)
                other[source], other[target] = votes - moved, other[target] + moved
                if source != target and tuple(other) in place:
                    yield frozenset((row, place[tuple(other)]))


def described(law):
    """All that a law's labels depend on, for the line that is printed."""
    name = name_of(law)
    if name == "table":
        return table(law)[2]
    if name == "response":
        cost = ", ".join(near(number(law[x])) for x in ("epsilon", "delta"))
        return f"any mechanism whose label is ({cost})-DP"
    scale = near(number(law["scale"]))
    return f"{law['teachers']} teachers, 2 classes, {law['moved']} moved, {name}, scale {scale}"


# ---- Many labels with fresh noise, whose inputs an adversary chooses as the labels come ----------
def noisy(body, epsilon, delta, theorem):
    """Noise on counts, each so many `times`, that a neighbour moves by the root of `squared`."""
    rows, *order = fields(body, "releases* order" if theorem == "renyi" else "releases*")
    rows = several(rows, lambda row: fields(row, "noise* times# squared scale"))
    noises = ("gaussian", "laplace") if theorem == "renyi" else (theorem,)
    need(rows, "there is no release")
    within(len(rows) <= MOST_KINDS, f"there are more than {MOST_KINDS} kinds of release")
    for noise, _, squared, scale in rows:
        need(noise in noises and squared > 0 and scale > 0, f"wanted is noise of {noises}, above 0")
    if theorem == "laplace":  # n releases of cost c^2 each lose n c
        ((_, times, squared, scale), *more) = rows
        need(not more, "Laplace noise is of one kind")
        least = Fraction(times**2 * squared / scale**2 > epsilon**2)
    else:
        unit = GUARD**2  # delta rises with rho, which is rounded up
        costs = (ceil(times * squared * unit / scale**2) for _, times, squared, scale in rows)
        rho = Fraction(sum(costs), 2 * unit)
        least = by_order(rho, epsilon, *order) if order else by_curve(rho, epsilon)
    need(least <= delta, f"delta is about {at_most(least)}")
    words = [
        f"{times} times {noise} noise of scale {near(scale)} on what moves by the root of "
        f"{near(squared)}"
        for noise, times, squared, scale in rows
    ]
    return "noisy counts: " + ", ".join(words) + (f", by order {near(order[0])}" if order else "")


def by_order(rho, epsilon, order):
    """delta of what is rho-zCDP, by Renyi divergences of one order above 1."""
    need(order > 1, "an order is above 1")
    return exp((order - 1) * (order * rho - epsilon))[1]


def by_curve(rho, epsilon):
    """delta of Gaussian noise, from above."""
    root = Fraction(isqrt(ceil(rho * GUARD)) + 1, ONE)
    inner, outer = ((epsilon + sign * root**2) / (2 * root) for sign in (-1, 1))
    return (erfc(inner)[1] - exp(epsilon)[0] * erfc(outer)[0]) / 2


def kernel(pairs, step, reach):
    """(first, masses, lost): masses in ONE of the losses first, first + 1, ... steps, and of an
    infinite one. Their stick, lost + the sum of m (1 - e^(x - loss)) over losses above x, is no
    less than that of the pairs at -reach, ..., reach steps, and 1 far below."""
    steps.take((2 * reach + 1) * (200 + 2 * len(pairs) * len(pairs[0])))
    fall = ceil(ONE * exp(-step)[1])
    dots = [-(-stick(pairs, k * step) >> 384) for k in range(reach, -reach - 1, -1)]
    lost, masses, finite, other = dots[0], [], 0, 0  # other: the sum of m e^(x - loss)
    for dot in dots[1:]:
        other = -(-other * fall >> BITS)
        short = dot - lost - finite + other
        masses.append(-(-short * ONE // (ONE - fall)) if short > SLACK else 0)
        finite, other = finite + masses[-1], other - (-masses[-1] * fall >> BITS)
    return -reach, [max(0, ONE - lost - finite), *masses[::-1]], lost + 2 * SLACK


def added(left, right, below, above):
    """The kernel of both: a product of polynomials, which is one of two long numbers. A loss beyond
    the ends counts as the next larger one."""
    (i, x, lost), (j, y, gone) = left, right
    need(max(sum(x) + lost, sum(y) + gone) < 9 * ONE, "there is too much mass")
    steps.take(isqrt(max(len(x), len(y)) ** 3) // 2 + 2 * (len(x) + len(y)))
    packed = (b"".join(mass.to_bytes(WIDE, "little") for mass in part) for part in (x, y))
    size = WIDE * (len(x) + len(y))
    text = prod(int.from_bytes(part, "little") for part in packed).to_bytes(size, "little")
    z = [-(-int.from_bytes(text[k : k + WIDE], "little") >> BITS) for k in range(0, size, WIDE)]
    low = max(0, -below - i - j)
    z[: low + 1] = [sum(z[: low + 1])]
    first, keep = i + j + low, max(0, above - i - j - low + 1)
    return first, z[:keep], sum(z[keep:]) - (-lost * (sum(y) + gone) - gone * sum(x) >> BITS)


def many(body, epsilon, delta, adaptive):
    """V_0(x) = max(0, 1 - e^epsilon x), V_q+1(x) = max over kernels of the mean of V_q(x e^-loss);
    V_Q(1) is delta. If not adaptive, one kernel above all pairs is composed: that of one label."""
    law, Q, step, reach, below, above = fields(body, "law* labels# step reach# below# above#")
    need(Q >= 1 and step > 0 and reach >= 1, "labels, step and reach must be positive")
    pairs, growth = neighbours(law), ONE * exp(epsilon)[0]
    steps.take(200 * (below + above + 1))
    kernels = [kernel(x, step, reach) for x in ([[x] for x in pairs] if adaptive else [pairs])]
    if not adaptive:
        single = whole = kernels[0]
        for bit in f"{Q:b}"[1:]:
            whole = added(whole, whole, below, above)
            whole = added(whole, single, below, above) if bit == "1" else whole
        kernels, reach = [whole], max(-whole[0], whole[0] + len(whole[1]))
    sparse = [([(k + i, m) for k, m in enumerate(x) if m], lost << BITS) for i, x, lost in kernels]
    V = [max(0, ceil(ONE - growth * exp(k * step)[0])) for k in range(-below, above + 1)]
    for left in range(Q if adaptive else 1, 0, -1):
        V = [ONE] * reach + V + V[-1:] * reach
        places = range(reach, len(V) - reach) if left > 1 else [below + reach]
        steps.take(len(places) * sum(1 + len(x) for x, _ in sparse))
        sums = (max(sum((m * V[i - k] for k, m in x), lost) for x, lost in sparse) for i in places)
        V = [-(-s >> BITS) for s in sums]
    need(V[0] <= delta * ONE, f"delta is about {at_most(Fraction(V[0], ONE))}")
    return f"{Q} labels, asked adaptively, of {described(law)}"


# ---- One certificate -----------------------------------------------------------------------------
THEOREMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): (gamma_privacy,),
    ("gamma_utility", "weak_duality"): (gamma_utility,),
    ("label", "hockey_stick"): (label, False),
    ("label", "counterexample"): (label, True),
    ("total", "laplace_noise"): (noisy, "laplace"),
    ("total", "gaussian_noise"): (noisy, "gaussian"),
    ("total", "renyi"): (noisy, "renyi"),
    ("total", "loss_distribution"): (many, False),
    ("total", "backward_induction"): (many, True),
}


def check(body, worst_cost=None):
    """One line on what is proven; ValueError where it is not, NotImplementedError where this
    program cannot tell. worst_cost: see `gamma_privacy`."""
    steps.restart()
    need(type(body) is dict, "a certificate is an object")
    rest = dict(body)
    kind, theorem = rest.pop("kind", None), rest.pop("theorem", None)
    if (kind, theorem) == ("ledger_row", "none"):
        raise NotImplementedError(*fields(rest, "why$"))
    known = type(kind) is type(theorem) is str and (kind, theorem) in THEOREMS
    within(known, f"no proof of {kind!r} by {theorem!r} is known")
    page = f"docs/certificates.md#{theorem.replace('.', '')}"
    need(rest.pop("proof", None) == page, f"its proof is elsewhere: {page}")
    prove, *how = THEOREMS[kind, theorem]
    if not how:
        conclusion = prove(rest, worst_cost) if worst_cost is not None else prove(rest)
        return f"{kind}, {theorem}: {conclusion}"
    need(rest.keys() >= {"epsilon", "delta"}, "there is no epsilon or no delta")
    epsilon, delta = number(rest.pop("epsilon")), number(rest.pop("delta"))
    need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")
    conclusion = prove(rest, epsilon, delta, *how)
    if theorem == "counterexample":
        return f"{kind}, {theorem}: {conclusion}: not ({at_least(epsilon)}, {at_least(delta)})-DP"
    return f"{kind}, {theorem}: {conclusion}: ({at_most(epsilon)}, {at_most(delta)})-DP"


# ---- The file of a noise function: every number beside the certificates is compared --------------
GAMMA_FILE = (
    "K~ m~ epsilon~ Delta~ delta~ prior$ gamma* utility~ utility_upper_bound~ monotone* "
    "scaling_loss~ certificate* solver* certificates*"
)
CERTIFICATE = (
    "holds* worst_cost~ allowance~ slack~ method$ rounding_error~ attained_cost~ worst_assignment*"
)
# Of gamma that are not monotone, without and with Delta.
METHODS = ("monotone_envelope", "four_corners"), ("monotone_envelope", "eight_corners", "series")
CORNERS = ("0,0", "1,1", "0,D", "D,0", "1-D,1", "1,1-D", "H,h", "h,H")
# How gamma was found. Nothing of it is proven, and it says nothing of privacy or of utility.
SOLVER = "name$ version$ cuts# rounds# seconds~"
PROVENANCE = "versions* revision* python$ machine$"


def gamma_file(record):
    """The lines of a file of one gamma: its certificates', once all that it states is theirs."""
    bodies = several(record.get("certificates"), lambda body: body)
    kinds = [body.get("kind") if type(body) is dict else None for body in bodies]
    need(kinds.count("gamma_privacy") == 1, "a file of gamma has one certificate of its privacy")
    need(set(kinds) <= {"gamma_privacy", "gamma_utility"}, "a certificate is not of a gamma")
    need(kinds.count("gamma_utility") <= 1, "there are two certificates of utility")
    privacy = bodies[kinds.index("gamma_privacy")]
    utility = bodies[kinds.index("gamma_utility")] if "gamma_utility" in kinds else None
    stated = record.get("certificate")
    cost = real(stated["worst_cost"]) if type(stated) is dict and "worst_cost" in stated else None
    lines = [check(body, cost) if body is privacy else check(body) for body in bodies]
    *setting, _, gamma, _, _, monotone, _, _, solver, _, origin = fields(
        record, GAMMA_FILE, "provenance*"
    )
    for body in bodies:
        for name, value in zip(("K", "m", "epsilon", "Delta", "delta"), setting, strict=True):
            need(value == number(body[name]), f"{name} is not that of the file")
    gamma = several(gamma, real)
    need(gamma == several(privacy["gamma"], number), "gamma is not that of the file")
    upper = gamma[len(gamma) // 2 :]
    need(monotone is (upper == sorted(upper)), "monotone is not what gamma is")
    of_certificate(stated, gamma, *setting[1:])
    fields(solver, SOLVER)
    if origin is not None:
        versions, *_ = fields(origin, PROVENANCE, "device$")
        need(type(versions) is dict, "versions are an object")
    kind = record["prior"].partition(":")[0]
    need(utility or kind not in CLOSED_FORMS, "utility_upper_bound has no certificate")
    if utility:
        of_utility(record, upper, utility)
    yield from (("holds", line) for line in lines)
    if not utility:
        yield "unchecked", f"utility and utility_upper_bound: no closed form for prior {kind!r}"


def of_utility(record, upper, proven):
    """gamma's utility is the file's, up to the rounding of a sum; its bound is the proven one."""
    kind, low, high = fields(proven["prior"], "kind* low high")
    name = re.fullmatch(r"([a-z-]+):([-+.\de]+),([-+.\de]+)", record["prior"], re.ASCII)
    need(name, "prior must be kind:low,high")
    ends = [Fraction(float(text)) for text in name.groups()[1:]]
    need([name[1], *ends] == [kind, low, high], "prior is not that of the file")
    exact = sum(c * x for c, x in zip(objective(proven["K"], proven["prior"]), upper, strict=True))
    right = abs(real(record["utility"]) - exact) <= Fraction(proven["K"] + 3, 2**50)
    need(right, f"utility is not {near(exact)}, which is that of gamma")
    bound, loss = real(record["utility_upper_bound"]), real(record["scaling_loss"])
    need(bound == number(proven["utility"]), "utility_upper_bound is not the proven one")
    # Before it was scaled, gamma was an optimum up to the search's tolerance.
    need(0 <= loss <= 1 - exact / bound + Fraction(1, MILLION), "scaling_loss is not what is lost")


def of_certificate(stated, gamma, m, epsilon, Delta, delta):
    """The package's own certificate has the numbers of this gamma, up to the rounding of floats;
    worst_cost is checked with the certificate of privacy."""
    holds, worst, allowance, slack, method, rounding, attained, places = fields(stated, CERTIFICATE)
    K, growth = len(gamma) - 1, exp(m * epsilon)[0]
    floating = Fraction(K + 4, 2**46) * (1 + growth)
    room = growth - 1 + 2 * delta - allowance
    need(0 <= room <= floating, "allowance is not e^(m epsilon) - 1 + 2 delta")
    need(holds is True and attained <= worst <= allowance, "worst_cost is above the allowance")
    need(slack == Fraction(float(allowance) - float(worst)), "slack is not what is left")
    need(floating / 4 <= rounding * (1 + Fraction(1, MILLION)), "rounding_error is too small")
    need(rounding <= floating, "rounding_error is too large")
    need(type(places) is dict and places.keys() <= set(CORNERS), "worst_assignment has no corners")
    counts = [count(places.get(name, 0)) for name in CORNERS]
    need(sum(counts) == K, "worst_assignment does not place all teachers")
    steps.take(2 * K * (K + 10))
    P, Q = (pmf(counts, chances) for chances in corners(Delta, epsilon))
    signs = [1 if 2 * l > K else -1 for l in range(K + 1)]
    f = sum(s * x * (p - growth * q) for s, x, p, q in zip(signs, gamma, P, Q, strict=True)) / ONE
    need(abs(f - attained) <= floating, "attained_cost is not worst_assignment's")
    rising = gamma[K // 2 + 1 :] == sorted(gamma[K // 2 + 1 :])
    known = METHODS[Delta > 0] if not rising else ("three_corners",)
    need(method in known, f"method must be one of {', '.join(known)}")


# ---- A file of labels and totals -----------------------------------------------------------------
# What the noise of a mechanism is. The names are the package's; the certificates have none.
NOISES = {
    r"(confident_|interactive_)?gnmax(_\w+)?": {"gaussian", "table"},
    r"lnmax(_\w+)?|dpbag|nzc": {"laplace", "table", "response"},
    r"exponential": {"exponential", "table"},
    r"permute_and_flip": {"permute_and_flip", "table"},
    r"ladder|optimal_label": {"table"},
    r"darrm_(sub|opt)": {"gamma"},
    r"majority_private": set(),
    r"committee|any": {"response"},
}


def check_name(name, body):
    """A name is that of a mechanism with the noise of the certificate: "budget: mechanism", or
    "mechanism, row". Nothing else of a name is checked."""
    need(len(words(name)) <= 200, "a name has at most 200 letters")
    first, comma, row = name.partition(", ")
    mechanism = first if comma else first.rpartition(": ")[2]
    noises = [
        noises for known, noises in NOISES.items() if re.fullmatch(known, mechanism, re.ASCII)
    ]
    need(noises, f"there is no mechanism {mechanism!r}")
    if body.get("kind") == "ledger_row":
        need(comma and row in str(body.get("why")), f"the certificate is not of {name!r}")
        return
    noise = {"gamma"} if body.get("kind") == "gamma_privacy" else set()
    if type(body.get("law")) is dict:
        noise = {body["law"].get("name")}
    if type(body.get("releases")) is list:
        noise = {row.get("noise") for row in body["releases"] if type(row) is dict}
    need(noise and noise <= noises[0], f"the certificate is not of {mechanism!r}")


def several_certificates(record):
    """The lines of a file of certificates, and of `about`, which says of which mechanisms."""
    bodies, about = fields(record, "certificates*", "about*")
    bodies = several(bodies, lambda body: body)
    within(bodies, "there is no certificate")
    called = [""] * len(bodies)
    if about is not None:
        about = several(about, lambda names: several(names, lambda name: name), len(bodies))
        for names, body in zip(about, bodies, strict=True):
            need(names and type(body) is dict, "a certificate is of something")
            for name in names:
                check_name(name, body)
        called = [f" (called {', '.join(map(repr, dict.fromkeys(names)))})" for names in about]
    for body, name in zip(bodies, called, strict=True):
        try:
            yield "holds", check(body) + name
        except NotImplementedError as reason:
            yield "unchecked", f"{reason}{name}"
        if steps.of_file <= 0:
            raise NotImplementedError(
                "the rest: the file takes more work than is allowed (--limit)"
            )


# ---- Files ---------------------------------------------------------------------------------------
def without_doubles(pairs):
    record = dict(pairs)
    need(len(record) == len(pairs), "a name stands twice in one object")
    return record


def integer(text):
    within(len(text) <= MOST_DIGITS + 1, f"an integer has more than {MOST_DIGITS} digits")
    return int(text)


def no_number(text):
    raise NotImplementedError(f"{text} is no number of JSON")


def read(path):
    """What a file holds; NotImplementedError where it is no JSON."""
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    within(len(content) <= LARGEST_FILE, f"has more than {LARGEST_FILE} bytes")
    try:
        text = content.decode("utf-8")
        hooks = {"parse_int": integer, "parse_constant": no_number}
        return json.loads(text, object_pairs_hook=without_doubles, **hooks)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as reason:
        raise NotImplementedError(f"is no JSON: {reason}") from None


def lines(path):
    """The verdict on each certificate of a file, and the line that says on what."""
    record = read(path)
    need(type(record) is dict, "holds no object")
    if "kind" in record:
        yield "holds", check(record)
    elif record.keys() & {"K", "gamma", "certificate", "utility"}:
        yield from gamma_file(record)
    else:
        within(record, "there is no certificate")
        yield from several_certificates(record)


def verdicts(path):
    """The lines of a file, whatever it holds."""
    try:
        yield from lines(path)
    except (NotImplementedError, OSError, MemoryError, RecursionError) as reason:
        yield "unchecked", str(reason) or type(reason).__name__
    except Exception as reason:  # what cannot be understood proves nothing
        yield "FAILS", str(reason) if type(reason) is ValueError else repr(reason)


def main(arguments=None):
    """Print a line for each certificate, and return the exit status."""
    parser = argparse.ArgumentParser(description="Check certificates of privacy.")
    parser.add_argument("files", nargs="*", metavar="FILE.json")
    parser.add_argument(
        "--limit",
        type=int,
        metavar="MILLIONS",
        default=20,
        help="of steps for one certificate, about a third of a second each (default 20)",
    )
    chosen = parser.parse_args(None if arguments is None else [str(x) for x in arguments])
    if not chosen.files or chosen.limit < 1:
        parser.print_usage(sys.stderr)
        return 2
    status = 0
    for path in chosen.files:
        steps.allow(chosen.limit * MILLION)
        for word, line in verdicts(path):
            print(f"{word:10} {plain(path)}: {plain(line)}", flush=True)
            if word == "FAILS":
                return 1
            status = status if word == "holds" else 2
    return status


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(main())
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
