#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints a line for each certificate and ends with 0 if all hold, with 1 at the first file that says
what is not proven, and with 2 if something could not be checked. Theorems and the format:
docs/certificates.md.

Read it as a proof. There is a function for each theorem, and its docstring says what it rests on.
All is computed with integers and fractions, and every rounding goes against the claim. An integer
in ONE is fixed point: it stands for x / ONE. Bounds come as pairs, (below, above).
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
from itertools import count as integers
from math import ceil, comb, floor, isqrt
from operator import mul

BITS = 128
ONE = 1 << BITS
GUARD = 1 << 256  # precision of the elementary functions, and of chances of labels
SLACK = 1 << 28  # what a kernel may be short of, in ONE
BYTES_OF_A_PRODUCT = 34  # of two masses, and of sums of such
ROOT_OF_PI = Fraction(1772453850905516027298167483341145182797549456122387128213807789, 10**63)

# What is read at all: bytes of a file, digits of a number, a count, kinds of noise. More is not
# checked, nor what takes more work than is allowed.
LARGEST_FILE = 1 << 23
MOST_DIGITS = 600
LARGEST_COUNT = 99999
MOST_KINDS = 20
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
        self.limit = limit
        self.left_of_file = 10 * limit
        self.restart()

    def restart(self):
        """Begin a certificate."""
        self.left = min(self.limit, self.left_of_file)

    def take(self, number):
        """Charge so many multiplications."""
        if number > self.left:
            if self.left == self.left_of_file:
                self.left_of_file = 0  # the file's work is used up, and not this certificate's
            needed = divided_up(self.limit - self.left + number, MILLION)
            allowed = self.limit // MILLION
            raise NotImplementedError(
                f"it needs {needed} million steps or more, and {allowed} million are allowed "
                "(--limit)"
            )
        self.left -= number
        self.left_of_file -= number


def divided_up(x, y):
    """x / y, rounded up to an integer."""
    return -(-x // y)


def shifted_up(x, bits):
    """x / 2^bits, rounded up to an integer."""
    return -(-x >> bits)


steps = Steps(20 * MILLION)


# ---- What a certificate says ---------------------------------------------------------------------
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
    if type(value) is int:
        return number(value)
    need(type(value) is float and math.isfinite(value), f"{value!r}: not a finite number")
    return Fraction(value)


def words(value):
    """A text."""
    need(type(value) is str, f"{value!r}: not a text")
    return value


def anything(value):
    """A value that somebody else looks at."""
    return value


def several(values, kind, length=None):
    """A list, each of whose values is of this kind."""
    need(type(values) is list, f"{values!r}: not a list")
    need(length is None or len(values) == length, f"a list of {len(values)}: must have {length}")
    return [kind(value) for value in values]


def fields(record, required, optional=None):
    """The values of an object that has these fields and no other.

    required and optional name each field's kind, such as `number`. The values are in the order of
    required, then of optional: None where one of these is missing.
    """
    optional = optional or {}
    need(type(record) is dict, f"{record!r}: not an object")
    for name in required:
        need(name in record, f"there is no field {name!r}")
    for name in record:
        known = name in required or name in optional
        need(known, f"nobody checks a field {name!r}: it must not be")
        need(name in required or record[name] is not None, f"{name!r} is empty")
    values = [kind(record[name]) for name, kind in required.items()]
    for name, kind in optional.items():
        values.append(kind(record[name]) if name in record else None)
    return values


# ---- Elementary functions, between bounds --------------------------------------------------------
def series(x, divisors):
    """In GUARD, bounds on 1 + x / d1 + x^2 / (d1 d2) + ..., x >= 0 and d1 < d2 < ... above 0."""
    low = high = below = above = GUARD
    for divisor in divisors:
        below = below * x.numerator // (divisor * x.denominator)
        above = divided_up(above * x.numerator, divisor * x.denominator)
        low += below
        high += above
        if above <= 1 and 2 * x < divisor:
            break  # from here on each term is less than half of the one before
    return low, high + above


@lru_cache(1 << 14)
def exp(x):
    """Fractions below and above e^x: the Taylor sum of x / 2^20, squared twenty times."""
    if x < -2000:
        return Fraction(0), exp(Fraction(-2000))[1]
    if x < 0:
        below, above = exp(-x)
        return 1 / above, 1 / below
    within(x <= 2000, "an exponent is above 2000")
    low, high = series(x / 2**20, integers(1))
    for _ in range(20):
        low = low * low // GUARD
        high = divided_up(high * high, GUARD)
    return Fraction(low, GUARD), Fraction(high, GUARD)


@lru_cache(1 << 14)
def erfc(y):
    """Fractions below and above erfc(y) = 1 - erf(y); for y >= 0, erf(y) is
    2 y / sqrt(pi) e^(-y^2) times the sum over n of 2^n y^(2n) / (1 * 3 * ... * (2n + 1))."""
    if y < 0:
        below, above = erfc(-y)
        return 2 - above, 2 - below
    if y > 12:  # erfc(y) <= e^(-y^2), which falls
        return Fraction(0), exp(Fraction(-144))[1]
    low, high = series(2 * y * y, integers(3, 2))
    bell_below, bell_above = exp(-y * y)
    erf_below = 2 * y * low * bell_below / GUARD / (ROOT_OF_PI + Fraction(1, 10**63))
    erf_above = 2 * y * high * bell_above / GUARD / ROOT_OF_PI
    return max(1 - erf_above, Fraction(0)), 1 - erf_below


# ---- What is printed -----------------------------------------------------------------------------
def in_decimals(x, digits, rounding):
    """A fraction as a decimal of so many digits, and as text."""
    limits = {"Emax": decimal.MAX_EMAX, "Emin": decimal.MIN_EMIN}
    context = decimal.Context(prec=digits, rounding=rounding, **limits)
    value = context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))
    value = value.normalize(context)
    text = format(value, "f") if -5 < value.adjusted() < 15 else str(value)
    return value, text.lower()


def at_most(x):
    """An upper bound in decimals, rounded up."""
    return in_decimals(x, 10, decimal.ROUND_CEILING)[1]


def at_least(x):
    """A lower bound in decimals, rounded down."""
    return in_decimals(x, 10, decimal.ROUND_FLOOR)[1]


def near(x):
    """What a claim is about, with a ~ where the decimals are not all of it."""
    value, text = in_decimals(x, 12, decimal.ROUND_HALF_EVEN)
    return text if Fraction(value) == x else f"~{text}"


def plain(text):
    """No longer than a line, and nothing in it that a terminal would obey."""
    text = str(text)
    if len(text) > LONGEST_LINE:
        text = text[:LONGEST_LINE] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# ---- DaRRM's noise function: privacy -------------------------------------------------------------
# K teachers, each (epsilon, Delta)-DP; G(p) = E g(L), L ones, g(l) = sign(l - K/2) gamma(l). With
# C = e^(m epsilon), DaRRM is (m epsilon, delta)-DP if f = G(p) - C G(p') <= C - 1 + 2 delta for all
# teachers at corners (p, p') of a region: (0,0), (1,1), (0,D), (D,0), (1-D,1), (1,1-D), (h,1-h),
# (1-h,h), h = (e^epsilon + D) / (e^epsilon + 1). [DaRRM, Lemmas 3.4 and 5.1] A smaller C is safe,
# as G(p) + 1 - 2 delta <= C (1 + G(p')), and a larger region, as f is linear in each (p, p').
SETTING = {"K": count, "m": number, "epsilon": number, "Delta": number, "delta": number}


def setting(body, further):
    """K, m, epsilon, Delta and delta of a certificate of gamma, then its further fields."""
    K, m, epsilon, Delta, delta, *rest = fields(body, SETTING | further)
    right = K % 2 and 1 <= m <= K and epsilon > 0 and 0 <= 2 * Delta < 1 and 0 <= delta < 1
    need(right, "K must be odd, 1 <= m <= K, epsilon > 0, Delta in [0, 1/2), delta in [0, 1)")
    return K, m, epsilon, Delta, delta, *rest


def teachers(K, m, epsilon, Delta):
    """Whose votes a certificate of gamma is about."""
    return f"K = {K} teachers, each ({near(epsilon)}, {near(Delta)})-DP, 2 classes, m = {near(m)}"


def gamma_privacy(body, worst_cost=None):
    """darrm_lemma_3.4: f is at most C - 1 + 2 delta wherever K teachers stand on the eight corners.

    t of them are at H = (h, 1 - h) or opposite, i and t - i; of the other n = K - t, b are at 1 and
    a at 0, each of which may move by D. V[i][b] is G(p) then, before any move; G(p') has t - i at
    H. P and Q are these two lines, over b.

    worst_cost: a bound on f that the file states; it is checked up to 2^-44 of 1 + C.
    """
    K, m, epsilon, Delta, delta, gamma = setting(body, {"gamma": anything})
    gamma = several(gamma, number, K + 1)
    right = gamma == gamma[::-1] and min(gamma) >= 0 and max(gamma) <= 1
    need(right, "gamma must be symmetric around K/2, and lie in [0, 1]")
    steps.take((K + 1) ** 3)
    # A larger region and a smaller C.
    D = ceil(ONE * Delta)
    C = floor(ONE * exp(m * epsilon)[0])
    growth = exp(epsilon)[1]
    h = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    chances = chances_of_moves(K, D)
    # What rounding may take off f: G loses one for each teacher, and what the chances lack of 1.
    lost = max(ONE - sum(row) for row in chances)
    rounding = (ONE + C) * (K + 1 + 2 * lost + 2)
    allowed = (C - ONE) * ONE + floor(2 * delta * ONE**2) - rounding
    exceeded = allowed + 9 * rounding  # whatever h, D and C were rounded to
    stated = exceeded
    if worst_cost is not None:
        stated = floor(worst_cost * ONE**2) + (ONE + C) * (ONE >> 44) - rounding
    undecided = False
    V = [[floor(ONE * value) * (1 if 2 * l > K else -1) for l, value in enumerate(gamma)]]
    for t in range(K + 1):
        n = K - t
        share = share_of_further_orders(n, D)
        for i in range(t + 1):
            P, Q = V[i], V[t - i]
            further = largest_second_difference(P, Q, C) * share
            for b in range(n + 1):
                f = P[b] * ONE - C * Q[b]
                moved = first_order_of_moves(P, Q, b, n - b, C) * D + further
                if f + shifted_up(moved, BITS) > min(allowed, stated):
                    f = cost_of_all_moves(P, Q, b, n - b, C, chances)
                    place = f"{i} teachers at H, {t - i} opposite, {b} at 1"
                    need(f <= exceeded, f"not private: {place}")
                    need(f <= stated, f"f is above worst_cost: {place}")
                    undecided = undecided or f > allowed
        # One teacher more stands at H or opposite.
        V = [one_teacher_more(V[0], ONE - h)] + [one_teacher_more(line, h) for line in V]
    within(not undecided, "costs what is allowed, and no rounding can tell whether more")
    claim = f"({at_most(m * epsilon)}, {at_most(delta)})-DP"
    return f"{teachers(K, m, epsilon, Delta)}: a label by DaRRM with this gamma is {claim}"


def one_teacher_more(line, h):
    """Means over one more teacher, who says 1 with probability h / ONE, rounded down."""
    return [((ONE - h) * x + h * y) >> BITS for x, y in pairwise(line)]


def chances_of_moves(K, D):
    """For n = 0..K, Pr[Bin(n, D) = r] at r = 0, 1, ..., rounded down, up to where it is 0 then."""
    rows = [[ONE]]
    for _ in range(K):
        row = one_teacher_more([0, *rows[-1], 0], ONE - D)
        if row[-1] == 0:
            row.pop()
        rows.append(row)
    return rows


def first_order_of_moves(P, Q, b, a, C):
    """What moves by D of a zeros and b ones add to f at most, to first order, over D. Each teacher
    makes the better of its moves, on the side of p or of p'."""
    zeros = ones = 0
    if a:
        zeros = max(0, (P[b + 1] - P[b]) * ONE, C * (Q[b] - Q[b + 1]))
    if b:
        ones = max(0, (P[b - 1] - P[b]) * ONE, C * (Q[b] - Q[b - 1]))
    return a * zeros + b * ones


def largest_second_difference(P, Q, C):
    """The largest |D^2 P| or C |D^2 Q|, in ONE * ONE."""
    largest = 0
    for line, scale in ((P, ONE), (Q, C)):
        for x, y, z in zip(line, line[1:], line[2:], strict=False):
            largest = max(largest, abs(x - 2 * y + z) * scale)
    return largest


def share_of_further_orders(n, D):
    """The moves of n teachers add to f, beyond first order, at most this share of the largest
    second difference: ((1 + 2 D)^n - 1 - 2 n D) / 4, as a difference of order s is at most 2^(s-2)
    times one of order 2."""
    step = Fraction(2 * D, ONE)
    return ceil(ONE * ((1 + step) ** n - 1 - n * step) / 4)


def cost_of_all_moves(P, Q, b, a, C, chances):
    """The largest f = P(x, y) - C Q(x', y') if x of a zeros and y of b ones move on the side of p,
    x' and y' on that of p', x + x' <= a and y + y' <= b."""
    starts = [b - s for s in range(min(b + 1, len(chances[-1])))]
    width = len(chances[-1])
    steps.take((a + 1) * (2 * (len(starts) + b + 1) * width + 9 * (b + 1)) // 2)

    def means(line):
        """G after x zeros and y ones have moved, for all x and y."""
        for zeros in chances[: a + 1]:
            after_zeros = [sum(map(mul, zeros, line[start:])) >> BITS for start in starts]
            yield [sum(map(mul, ones, after_zeros)) for ones in chances[: b + 1]]

    gained = list(means(P))
    spared = []  # the largest -C Q for at most x' and at most y' moves
    for row in means(Q):
        row = [-C * (value >> BITS) for value in row]
        if spared:
            row = map(max, row, spared[-1])
        spared.append(list(accumulate(row, max)))
    return max(gained[x][y] + spared[a - x][b - y] for x in range(a + 1) for y in range(b + 1))


# ---- DaRRM's noise function: no private one is better --------------------------------------------
def gamma_utility(body):
    """weak_duality: a private gamma keeps row . gamma <= C - 1 + 2 delta wherever its teachers may
    be, so its utility is at most y . right + sum over l of max(0, c - y . rows) for all y >= 0.

    Everything is in ONE * ONE * GUARD. A larger C is implied, and any y >= 0 will do.
    """
    further = {"prior": anything, "rows": anything, "utility": number}
    K, m, epsilon, Delta, delta, prior, rows, claim = setting(body, further)
    need(type(rows) is list, "rows must be a list")
    steps.take((len(rows) + 1) * K * (K + 10))
    C = ceil(ONE * exp(m * epsilon)[1])
    p, q = corners(Delta, epsilon)
    left = [ceil(x * ONE**2 * GUARD) for x in objective(K, prior)]  # c - y . rows
    total = 0  # of the multipliers y
    for row in rows:
        counts, multiplier = fields(row, {"teachers": anything, "multiplier": number})
        counts = several(counts, count, 8)
        right = sum(counts) == K and multiplier >= 0
        need(right, "a row places K teachers, with a multiplier >= 0")
        P, Q = chances_of_ones(counts, p), chances_of_ones(counts, q)
        y = floor(multiplier * GUARD)
        for k, l in enumerate(range(K // 2 + 1, K + 1)):
            left[k] -= y * (ONE * (P[l] - P[K - l]) - C * (Q[l] - Q[K - l]))
        total += y
    # Rounding takes at most K off a probability, so that a row may be K (1 + C) too large.
    bound = total * (ONE * (C - ONE) + ceil(2 * delta * ONE**2))
    bound += sum(max(0, value + total * K * (ONE + C)) for value in left)
    bound = Fraction(bound, ONE**2 * GUARD)
    need(bound <= claim, f"the multipliers prove no less than {at_most(bound)}")
    kind, low, high = fields(prior, PRIOR)
    about = f"{teachers(K, m, epsilon, Delta)}, delta {near(delta)}"
    about += f", {kind} prior on [{near(low)}, {near(high)}]"
    return f"{about}: no private gamma has a utility above {at_most(claim)}"


def corners(Delta, epsilon):
    """(p, p') of the eight corners, in ONE, as sequences of p and of p'; inside of the region."""
    D = floor(ONE * Delta)
    growth = exp(epsilon)[0]
    h = floor(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    p = [0, ONE, 0, D, ONE - D, ONE, h, ONE - h]
    q = [0, ONE, D, 0, ONE, ONE - D, ONE - h, h]
    return p, q


def chances_of_ones(counts, chances):
    """Pr[l teachers say 1], l = 0..K, rounded down by at most one for each teacher."""
    row = [ONE]
    for size, p in zip(counts, chances, strict=True):
        for _ in range(size):
            row = one_teacher_more([0, *row, 0], ONE - p)
    return row


PRIOR = {"kind": anything, "low": number, "high": number}
CLOSED_FORMS = ("uniform", "common")


def objective(K, prior):
    """The utility is the sum of c(l) gamma(l) over l > K/2, c(l) = E[Pr[l say 1] - Pr[K - l say 1]]
    over teachers' p in [low, high]: every c(l), rounded up to a multiple of 1 / GUARD."""
    kind, low, high = fields(prior, PRIOR)
    need(0 <= low < high <= 1, "a prior's probabilities are 0 <= low < high <= 1")
    within(kind in CLOSED_FORMS, f"the utility of prior {kind!r} has no closed form")
    steps.take(K * K * max(x.denominator.bit_length() for x in (low, high)) // 20)
    if kind == "uniform":  # independent teachers: only the mean counts
        ways, unit = binomial(K, (low + high) / 2)
        return [Fraction(lead, GUARD) for lead in leads(ways, unit)]
    # One p for all, by the incomplete beta integral: a difference of tails.
    ways, unit = binomial(K + 1, low)
    first = leads(list(accumulate(ways[:-1])), unit)
    ways, unit = binomial(K + 1, high)
    second = leads([-tail for tail in accumulate(ways[:-1])], unit)
    width = (K + 1) * (high - low)
    return [Fraction(ceil((x + y) / width), GUARD) for x, y in zip(first, second, strict=True)]


def binomial(n, p):
    """Pr[Bin(n, p) = l], l = 0..n, in a common unit, and this unit."""
    yes, no = p.numerator, p.denominator - p.numerator
    return [comb(n, l) * yes**l * no ** (n - l) for l in range(n + 1)], p.denominator**n


def leads(values, unit):
    """values[l] - values[K - l], l > K/2, of values at 0..K in a unit: in GUARD, rounded up."""
    K = len(values) - 1
    upper = range(K // 2 + 1, K + 1)
    return [divided_up((values[l] - values[K - l]) * GUARD, unit) for l in upper]


# ---- One label -----------------------------------------------------------------------------------
def hockey_stick(body, epsilon):
    """hockey_stick and counterexample: the least delta of a label is the largest sum of
    max(0, P - e^epsilon P') over the labels, of all neighbours in both orders."""
    (law,) = fields(body, {"law": anything})
    pairs, about = neighbours(law)
    delta = stick_from_below(pairs, epsilon), stick_from_above(pairs, epsilon)
    return f"one label of {about}", *delta


def stick_from_above(pairs, x):
    """The largest sum of max(0, P - e^x P') over the labels, at its most."""
    growth = floor(exp(x)[0] * GUARD)
    sums = (sum(max(0, GUARD * p[1] - growth * q[0]) for p, q in pair) for pair in pairs)
    return Fraction(max(sums), GUARD**2)


def stick_from_below(pairs, x):
    """The same at its least."""
    growth = ceil(exp(x)[1] * GUARD)
    sums = (sum(max(0, GUARD * p[0] - growth * q[1]) for p, q in pair) for pair in pairs)
    return Fraction(max(sums), GUARD**2)


def neighbours(law):
    """Neighbouring inputs in both orders: bounds on both probabilities of each label, in GUARD. And
    all that these depend on, for the line that is printed."""
    need(type(law) is dict, "a law is an object")
    name = words(law.get("name"))
    if name == "table":
        rows, pairs, about = table(law)
    elif name == "response":
        rows, pairs, about = dominating_response(law)
    else:
        rows, pairs, about = votes_for_two_classes(law)
    rows = [[(floor(low * GUARD), ceil(high * GUARD)) for low, high in row] for row in rows]
    for row in rows:
        least, most = (sum(bounds) for bounds in zip(*row, strict=True))
        right = least <= GUARD <= most and all(0 <= low <= high for low, high in row)
        need(right and len(row) == len(rows[0]), "a row is no distribution")
    need(pairs, "there is no pair of neighbours")
    steps.take(40 * len(pairs) * len(rows[0]))
    different = set()
    for i, j in pairs:
        different.add(tuple(sorted(zip(rows[i], rows[j], strict=True))))
        different.add(tuple(sorted(zip(rows[j], rows[i], strict=True))))
    return sorted(different), about


def dominating_response(law):
    """The label that loses most of all (epsilon, delta)-DP ones. [Kairouz, Oh and Viswanath 2017,
    Theorem 3.3]"""
    cost = {"epsilon": number, "delta": number}
    _, epsilon, delta = fields(law, {"name": anything} | cost)
    need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")

    def share(x):
        """(1 - delta) / (1 + e^x)."""
        below, above = exp(x)
        return (1 - delta) / (1 + above), (1 - delta) / (1 + below)

    true, false, never, leak = share(-epsilon), share(epsilon), (0, 0), (delta, delta)
    rows = [[true, false, leak, never], [false, true, never, leak]]
    about = f"any mechanism whose label is ({near(epsilon)}, {near(delta)})-DP"
    return rows, [(0, 1)], about


def votes_for_two_classes(law):
    """K teachers, of whom `moved` vote alike and change their votes; a row for each number of
    ones."""
    name, K, moved, scale = fields(
        law, {"name": anything, "teachers": count, "moved": count, "scale": number}
    )
    need(1 <= moved <= K and scale > 0, "moved must be 1 to teachers, and scale positive")
    steps.take(K * (500 if name == "gaussian" else 200))
    rows = []
    for ones in range(K + 1):
        low, high = minority(name, abs(2 * ones - K) / scale)
        few, many = (low, high), (1 - high, 1 - low)
        rows.append([few, many] if 2 * ones > K else [many, few])
    pairs = [(ones, ones + moved) for ones in range(K + 1 - moved)]
    about = f"{K} teachers, 2 classes, {moved} moved, {name}, scale {near(scale)}"
    return rows, pairs, about


def minority(name, x):
    """Bounds on the chance of the label that lacks `scale` times x votes."""
    if name == "gaussian":  # normal noise on both counts; scale: its standard deviation
        below, above = erfc(x / 2)
        return below / 2, above / 2
    if name == "exponential":  # a class of n votes weighs e^(n / scale)
        below, above = exp(x)
        return 1 / (1 + above), 1 / (1 + below)
    within(name in ("laplace", "permute_and_flip"), f"no law {name!r} is known here")
    below, above = exp(-x)
    if name == "laplace":  # noise of density e^(-|z| / scale) / (2 scale)
        return below * (1 + x / 2) / 2, above * (1 + x / 2) / 2
    return below / 2, above / 2


TABLE = {"name": anything, "rows": anything, "pairs": anything}
TABLE |= {"histograms": anything, "moved": count}


def table(law):
    """Rows of intervals, one for each histogram of K votes, and all pairs of neighbours."""
    _, rows, pairs, histograms, moved = fields(law, TABLE)
    need(rows and type(rows) is list, "a table has rows")
    steps.take(40 * sum(len(row) if type(row) is list else 1 for row in rows))
    rows = several(rows, lambda row: several(row, lambda x: several(x, number, 2)))
    pairs = several(pairs, lambda pair: several(pair, count, 2))
    histograms = several(histograms, lambda x: tuple(several(x, count)), len(rows))
    K, classes = sum(histograms[0]), len(histograms[0])
    alike = all(sum(x) == K and len(x) == classes for x in histograms)
    need(alike, "histograms are of as many votes")
    need(1 <= moved <= K, "moved must be 1 to the number of votes")
    steps.take(len(rows) * classes**2 * (10 + classes))
    need(len(set(histograms)) == comb(K + classes - 1, K), "a histogram is missing")
    every = pairs_of_neighbours(histograms, moved)
    right = {frozenset(pair) for pair in pairs} == every
    need(right, "the pairs must be all pairs of neighbours")
    about = f"a table of {len(rows)} inputs and {len(rows[0])} labels, for all {len(every)} pairs"
    about += f" of neighbours: {K} teachers, {classes} classes, {moved} moved"
    return rows, pairs, about


def pairs_of_neighbours(histograms, moved):
    """The pairs of these histograms between which so many votes go from one class to another."""
    row_of = {histogram: row for row, histogram in enumerate(histograms)}
    pairs = set()
    for histogram, row in row_of.items():
        for source in range(len(histogram)):
            for target in range(len(histogram)):
                other = list(histogram)
                other[source] -= moved
                other[target] += moved
                if source != target and tuple(other) in row_of:
                    pairs.add(frozenset((row, row_of[tuple(other)])))
    return pairs


# ---- Many labels with fresh noise, whose inputs an adversary chooses as the labels come ----------
def laplace_noise(body, epsilon):
    """laplace_noise: n releases of cost c are (n c, 0)-DP. [Dwork and Roth 2014, Theorem 3.6]"""
    (releases,) = fields(body, {"releases": anything})
    releases, about = releases_of_noise(releases, ("laplace",))
    need(len(releases) == 1, "Laplace noise is of one kind")
    _, times, squared, scale = releases[0]
    delta = Fraction(0 if times**2 * squared / scale**2 <= epsilon**2 else 1)
    return about, delta, delta


def gaussian_noise(body, epsilon):
    """gaussian_noise: releases compose to a single one with rho = mu^2 / 2 [Dong, Roth and Su 2022,
    Corollary 3.3]; with r^2 = rho, its delta is [Balle and Wang 2018, Theorem 8]
    (erfc((epsilon - r^2) / (2 r)) - e^epsilon erfc((epsilon + r^2) / (2 r))) / 2."""
    (releases,) = fields(body, {"releases": anything})
    releases, about = releases_of_noise(releases, ("gaussian",))
    rho = concentrated(releases)
    r = Fraction(isqrt(ceil(rho * GUARD)) + 1, ONE)
    first = erfc((epsilon - r**2) / (2 * r))[1]
    second = exp(epsilon)[0] * erfc((epsilon + r**2) / (2 * r))[0]
    return about, (first - second) / 2, (first - second) / 2


def renyi(body, epsilon):
    """renyi: what is rho-zCDP has the delta e^((order - 1) (order rho - epsilon)) for any order
    above 1. [Bun and Steinke 2016, Propositions 1.4, 1.6, 1.7; Mironov 2017, Proposition 3]"""
    releases, order = fields(body, {"releases": anything, "order": number})
    releases, about = releases_of_noise(releases, ("gaussian", "laplace"))
    need(order > 1, "an order is above 1")
    delta = exp((order - 1) * (order * concentrated(releases) - epsilon))[1]
    return f"{about}, by order {near(order)}", delta, delta


RELEASE = {"noise": anything, "times": count, "squared": number, "scale": number}


def releases_of_noise(rows, noises):
    """Noise on counts, each so many `times`, that a neighbour moves by the root of `squared`; and
    what is printed of it."""
    releases = several(rows, lambda row: fields(row, RELEASE))
    need(releases, "there is no release")
    within(len(releases) <= MOST_KINDS, f"there are more than {MOST_KINDS} kinds of release")
    kinds = []
    for noise, times, squared, scale in releases:
        right = noise in noises and squared > 0 and scale > 0
        need(right, f"wanted is noise of {noises}, above 0")
        kind = f"{times} times {noise} noise of scale {near(scale)}"
        kinds.append(f"{kind} on what moves by the root of {near(squared)}")
    return releases, f"noisy counts: {', '.join(kinds)}"


def concentrated(releases):
    """rho of all releases together: the sum of times squared / (2 scale^2), each rounded up."""
    unit = GUARD**2
    costs = (ceil(times * squared * unit / scale**2) for _, times, squared, scale in releases)
    return Fraction(sum(costs), 2 * unit)


# A kernel is (first, masses, lost): the masses in ONE of the losses first, first + 1, ... steps of
# a grid, and the mass of an infinite loss. Its stick at x is lost + the sum of
# mass (1 - e^(x - loss)) over losses above x.
def kernel(pairs, step, reach):
    """A kernel whose stick is no less than that of the pairs at -reach, ..., reach steps, and 1 far
    below; so it is no less anywhere."""
    thresholds = range(reach, -reach - 1, -1)
    steps.take(len(thresholds) * (200 + 2 * len(pairs) * len(pairs[0])))
    sticks = [ceil(ONE * stick_from_above(pairs, k * step)) for k in thresholds]
    fall = ceil(ONE * exp(-step)[1])
    lost = sticks[0]
    masses = []  # from the largest loss down
    finite = 0  # the sum of masses
    discounted = 0  # the sum of mass e^(x - loss)
    for stick in sticks[1:]:
        discounted = shifted_up(discounted * fall, BITS)
        short = stick - lost - finite + discounted
        mass = divided_up(short * ONE, ONE - fall) if short > SLACK else 0
        masses.append(mass)
        finite += mass
        discounted += shifted_up(mass * fall, BITS)
    masses.append(max(0, ONE - lost - finite))
    return -reach, masses[::-1], lost + 2 * SLACK


def added(left, right, below, above):
    """The kernel of both: a product of polynomials, which is one of two long numbers. A loss beyond
    the ends counts as the next larger one."""
    first, x, lost = left
    second, y, gone = right
    need(max(sum(x) + lost, sum(y) + gone) < 9 * ONE, "there is too much mass")
    steps.take(isqrt(max(len(x), len(y)) ** 3) // 2 + 2 * (len(x) + len(y)))
    product = side_by_side(x) * side_by_side(y)
    masses = [shifted_up(mass, BITS) for mass in taken_apart(product, len(x) + len(y))]
    start = first + second
    low = max(0, -below - start)  # so many losses are below the grid, and count as its least
    masses[: low + 1] = [sum(masses[: low + 1])]
    start += low
    kept = max(0, above - start + 1)
    infinite = lost * (sum(y) + gone) + gone * sum(x)
    return start, masses[:kept], sum(masses[kept:]) + shifted_up(infinite, BITS)


def side_by_side(masses):
    """One long number, of which each mass has so many bytes that a product of two fits."""
    text = b"".join(mass.to_bytes(BYTES_OF_A_PRODUCT, "little") for mass in masses)
    return int.from_bytes(text, "little")


def taken_apart(long, length):
    """The numbers that stand side by side in a long one."""
    text = long.to_bytes(BYTES_OF_A_PRODUCT * length, "little")
    starts = range(0, len(text), BYTES_OF_A_PRODUCT)
    return [int.from_bytes(text[k : k + BYTES_OF_A_PRODUCT], "little") for k in starts]


GRID = {"step": number, "reach": count, "below": count, "above": count}


def labels_on_a_grid(body):
    """What a certificate of many labels is about: a law, how many labels, and a grid."""
    law, labels, step, reach, below, above = fields(body, {"law": anything, "labels": count} | GRID)
    right = labels >= 1 and step > 0 and reach >= 1
    need(right, "labels, step and reach must be positive")
    pairs, about = neighbours(law)
    about = f"{labels} labels, asked adaptively, of {about}"
    steps.take(200 * (below + above + 1))
    return about, pairs, labels, step, reach, below, above


def backward_induction(body, epsilon):
    """backward_induction: V_0(x) = max(0, 1 - e^epsilon x), V_q+1(x) = max over kernels of the mean
    of V_q(x e^-loss), where a kernel lies above each pair of neighbours. V_Q(1) is at least the
    delta of Q labels."""
    about, pairs, labels, step, reach, below, above = labels_on_a_grid(body)
    kernels = [sparse(kernel([pair], step, reach)) for pair in pairs]
    V = without_labels(epsilon, step, below, above)
    for _ in range(labels - 1):
        V = before_a_label(V, kernels, reach, range(len(V)))
    (delta,) = before_a_label(V, kernels, reach, [below])
    return about, Fraction(delta, ONE), Fraction(delta, ONE)


def loss_distribution(body, epsilon):
    """loss_distribution: with one kernel above all pairs of neighbours the induction has no choice
    to make, so that the losses of Q labels add up as independent ones do."""
    about, pairs, labels, step, reach, below, above = labels_on_a_grid(body)
    single = total = kernel(pairs, step, reach)
    for bit in f"{labels:b}"[1:]:  # doubled for each further binary digit
        total = added(total, total, below, above)
        if bit == "1":
            total = added(total, single, below, above)
    first, masses, _ = total
    reach = max(-first, first + len(masses))
    V = without_labels(epsilon, step, below, above)
    (delta,) = before_a_label(V, [sparse(total)], reach, [below])
    return about, Fraction(delta, ONE), Fraction(delta, ONE)


def sparse(kernel):
    """A kernel's losses of positive mass, each (steps, mass), and the infinite one's, in ONE^2."""
    first, masses, lost = kernel
    return [(first + k, mass) for k, mass in enumerate(masses) if mass], lost << BITS


def without_labels(epsilon, step, below, above):
    """V_0 at x = e^(k step), k = -below..above, in ONE."""
    growth = ONE * exp(epsilon)[0]
    return [max(0, ceil(ONE - growth * exp(k * step)[0])) for k in range(-below, above + 1)]


def before_a_label(V, kernels, reach, places):
    """V_q+1 from V_q, at these places; V_q is 1 below its grid, and its last value above."""
    V = [ONE] * reach + V + [V[-1]] * reach
    steps.take(len(places) * sum(1 + len(losses) for losses, _ in kernels))
    values = []
    for place in places:
        i = reach + place
        worst = max(sum((m * V[i - k] for k, m in losses), lost) for losses, lost in kernels)
        values.append(shifted_up(worst, BITS))
    return values


# ---- One certificate -----------------------------------------------------------------------------
THEOREMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): gamma_privacy,
    ("gamma_utility", "weak_duality"): gamma_utility,
    ("label", "hockey_stick"): hockey_stick,
    ("label", "counterexample"): hockey_stick,
    ("total", "laplace_noise"): laplace_noise,
    ("total", "gaussian_noise"): gaussian_noise,
    ("total", "renyi"): renyi,
    ("total", "loss_distribution"): loss_distribution,
    ("total", "backward_induction"): backward_induction,
}


def check(body, worst_cost=None):
    """One line on what is proven; ValueError where it is not, NotImplementedError where this
    program cannot tell. worst_cost: see `gamma_privacy`."""
    steps.restart()
    need(type(body) is dict, "a certificate is an object")
    rest = dict(body)
    kind, theorem = rest.pop("kind", None), rest.pop("theorem", None)
    if (kind, theorem) == ("ledger_row", "none"):
        (why,) = fields(rest, {"why": words})
        raise NotImplementedError(why)
    known = type(kind) is type(theorem) is str and (kind, theorem) in THEOREMS
    within(known, f"no proof of {kind!r} by {theorem!r} is known")
    page = f"docs/certificates.md#{theorem.replace('.', '')}"
    need(rest.pop("proof", None) == page, f"its proof is elsewhere: {page}")
    if kind == "gamma_privacy":
        return f"{kind}, {theorem}: {gamma_privacy(rest, worst_cost)}"
    if kind == "gamma_utility":
        return f"{kind}, {theorem}: {gamma_utility(rest)}"
    need("epsilon" in rest and "delta" in rest, "there is no epsilon or no delta")
    epsilon, delta = number(rest.pop("epsilon")), number(rest.pop("delta"))
    need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")
    about, least, most = THEOREMS[kind, theorem](rest, epsilon)
    nobody_can_tell = f"delta is {at_least(least)} to {at_most(most)}: nobody can tell"
    if theorem == "counterexample":
        need(most > delta, f"delta is about {at_most(most)}")
        within(least > delta, nobody_can_tell)
        claim = f"not ({at_least(epsilon)}, {at_least(delta)})-DP"
    else:
        need(least <= delta, f"delta is about {at_most(most)}")
        within(most <= delta, nobody_can_tell)
        claim = f"({at_most(epsilon)}, {at_most(delta)})-DP"
    return f"{kind}, {theorem}: {about}: {claim}"


# ---- The file of a noise function: every number beside the certificates is compared --------------
GAMMA_FILE = dict.fromkeys(SETTING, real) | {
    "prior": words,
    "gamma": anything,
    "utility": real,
    "utility_upper_bound": real,
    "monotone": anything,
    "scaling_loss": real,
    "certificate": anything,
    "solver": anything,
    "certificates": anything,
}
CERTIFICATE = {
    "holds": anything,
    "worst_cost": real,
    "allowance": real,
    "slack": real,
    "method": words,
    "rounding_error": real,
    "attained_cost": real,
    "worst_assignment": anything,
}
CORNERS = ("0,0", "1,1", "0,D", "D,0", "1-D,1", "1,1-D", "H,h", "h,H")
# How gamma was found. Nothing of it is proven, and it says nothing of privacy or of utility.
SOLVER = {"name": words, "version": words, "cuts": count, "rounds": count, "seconds": real}
PROVENANCE = {"versions": anything, "revision": anything, "python": words, "machine": words}


def gamma_file(record):
    """The lines of a file of one gamma: its certificates', once every number that it states is
    that of its certificates."""
    fields(record, GAMMA_FILE, {"provenance": anything})
    bodies = several(record["certificates"], anything)
    kinds = [body.get("kind") if type(body) is dict else None for body in bodies]
    need(kinds.count("gamma_privacy") == 1, "a file of gamma has one certificate of its privacy")
    need(kinds.count("gamma_utility") <= 1, "there are two certificates of utility")
    need(len(kinds) <= 1 + kinds.count("gamma_utility"), "a certificate is not of a gamma")
    privacy = bodies[kinds.index("gamma_privacy")]
    utility = bodies[kinds.index("gamma_utility")] if "gamma_utility" in kinds else None
    stated = fields(record["certificate"], CERTIFICATE)
    proven = [check(body, worst_cost=stated[1]) for body in bodies]
    for body in bodies:
        for name in SETTING:
            need(real(record[name]) == number(body[name]), f"{name} is not that of the file")
    gamma = several(record["gamma"], real)
    need(gamma == several(privacy["gamma"], number), "gamma is not that of the file")
    upper = gamma[len(gamma) // 2 :]
    rising = upper == sorted(upper)
    need(record["monotone"] is rising, "monotone is not what gamma is")
    of_certificate(stated, gamma, rising, privacy)
    fields(record["solver"], SOLVER)
    if "provenance" in record:
        versions, *_ = fields(record["provenance"], PROVENANCE, {"device": words})
        need(type(versions) is dict, "versions are an object")
    kind = record["prior"].partition(":")[0]
    need(utility or kind not in CLOSED_FORMS, "utility_upper_bound has no certificate")
    if utility:
        of_utility(record, upper, utility)
    for line in proven:
        yield "holds", line
    if not utility:
        yield "unchecked", f"utility and utility_upper_bound: no closed form for prior {kind!r}"


def of_utility(record, upper, proven):
    """gamma's utility is the file's, up to the rounding of a sum; its bound is the proven one."""
    kind, low, high = fields(proven["prior"], PRIOR)
    name = re.fullmatch(r"([a-z-]+):([-+.\de]+),([-+.\de]+)", record["prior"], re.ASCII)
    need(name, "prior must be kind:low,high")
    said = [name[1], Fraction(float(name[2])), Fraction(float(name[3]))]
    need(said == [kind, low, high], "prior is not that of the file")
    K = proven["K"]
    exact = sum(c * x for c, x in zip(objective(K, proven["prior"]), upper, strict=True))
    right = abs(real(record["utility"]) - exact) <= Fraction(K + 3, 2**50)
    need(right, f"utility is not {near(exact)}, which is that of gamma")
    bound, loss = real(record["utility_upper_bound"]), real(record["scaling_loss"])
    need(bound == number(proven["utility"]), "utility_upper_bound is not the proven one")
    # Before it was scaled, gamma was an optimum up to the search's tolerance.
    need(0 <= loss <= 1 - exact / bound + Fraction(1, MILLION), "scaling_loss is not what is lost")


def of_certificate(stated, gamma, rising, privacy):
    """The package's own certificate has the numbers of this gamma, up to the rounding of floats;
    worst_cost is checked with the certificate of privacy."""
    holds, worst, allowance, slack, method, rounding, attained, places = stated
    m, epsilon, Delta, delta = (number(privacy[name]) for name in list(SETTING)[1:])
    K = len(gamma) - 1
    C = exp(m * epsilon)[0]
    floating = Fraction(K + 4, 2**46) * (1 + C)
    room = C - 1 + 2 * delta - allowance
    need(0 <= room <= floating, "allowance is not e^(m epsilon) - 1 + 2 delta")
    need(holds is True and attained <= worst <= allowance, "worst_cost is above the allowance")
    need(slack == Fraction(float(allowance) - float(worst)), "slack is not what is left")
    need(floating / 4 <= rounding * (1 + Fraction(1, MILLION)), "rounding_error is too small")
    need(rounding <= floating, "rounding_error is too large")
    right = type(places) is dict and places.keys() <= set(CORNERS)
    need(right, "worst_assignment has no corners")
    counts = [count(places.get(name, 0)) for name in CORNERS]
    need(sum(counts) == K, "worst_assignment does not place all teachers")
    steps.take(2 * K * (K + 10))
    p, q = corners(Delta, epsilon)
    P, Q = chances_of_ones(counts, p), chances_of_ones(counts, q)
    f = 0
    for l in range(K + 1):
        sign = 1 if 2 * l > K else -1
        f += sign * gamma[l] * (P[l] - C * Q[l])
    need(abs(f / ONE - attained) <= floating, "attained_cost is not worst_assignment's")
    if rising:
        known = ("three_corners",)
    elif Delta > 0:
        known = ("monotone_envelope", "eight_corners", "series")
    else:
        known = ("monotone_envelope", "four_corners")
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
    possible = [
        noises for pattern, noises in NOISES.items() if re.fullmatch(pattern, mechanism, re.ASCII)
    ]
    need(possible, f"there is no mechanism {mechanism!r}")
    if body.get("kind") == "ledger_row":
        need(comma and row in str(body.get("why")), f"the certificate is not of {name!r}")
        return
    noise = noises_of(body)
    need(noise and noise <= possible[0], f"the certificate is not of {mechanism!r}")


def noises_of(body):
    """Which noises a certificate speaks of."""
    if type(body.get("releases")) is list:
        return {row.get("noise") for row in body["releases"] if type(row) is dict}
    if type(body.get("law")) is dict:
        return {body["law"].get("name")}
    return {"gamma"} if body.get("kind") == "gamma_privacy" else set()


def several_certificates(record):
    """The lines of a file of certificates, and of `about`, which says of which mechanisms."""
    bodies, about = fields(record, {"certificates": anything}, {"about": anything})
    bodies = several(bodies, anything)
    within(bodies, "there is no certificate")
    called = [""] * len(bodies)
    if about is not None:
        about = several(about, lambda names: several(names, anything), len(bodies))
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
        too_much = "the rest: the file takes more work than is allowed (--limit)"
        within(steps.left_of_file > 0, too_much)


# ---- Files ---------------------------------------------------------------------------------------
def without_doubles(pairs):
    """An object of JSON, none of whose names stands twice."""
    record = dict(pairs)
    need(len(record) == len(pairs), "a name stands twice in one object")
    return record


def integer(text):
    """An integer of JSON; Python itself refuses very long ones, in other words."""
    within(len(text) <= MOST_DIGITS + 1, f"an integer has more than {MOST_DIGITS} digits")
    return int(text)


def no_number(text):
    """NaN and the infinities, which Python's reader of JSON would take."""
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
            if word == "unchecked":
                status = 2
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
