#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints a line for each certificate. The exit status is 0 if all hold, 1 at the first file that
states what is not proven, and 2 if something could not be checked. Theorems and the format:
docs/certificates.md.

Read it as a proof. There is a function for each theorem, and its docstring says what it rests on.
All is computed with integers and fractions, and every rounding goes against the claim. An integer
x in ONE is fixed point: it stands for x / ONE. Bounds are pairs, (below, above).
"""

import argparse
import csv
import decimal
import hashlib
import io
import json
import math
import os
import re
import sys
from bisect import bisect_left
from datetime import datetime
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from itertools import count as integers
from math import ceil, comb, floor, isqrt
from operator import add, mul
from typing import NamedTuple

BITS = 128
ONE = 1 << BITS
GUARD = 1 << 256  # the precision of the elementary functions and of labels' probabilities
SLACK = 1 << 28  # a kernel may be short of so much mass, in ONE
BYTES_OF_A_PRODUCT = 34  # a product of two masses fits, and a sum of such products
ROOT_OF_PI = Fraction(1772453850905516027298167483341145182797549456122387128213807789, 10**63)

# A file has at most so many bytes, a number so many digits, and a count is at most so large. What
# exceeds them is not checked, nor what takes more work than is allowed.
LARGEST_FILE = 1 << 23
MOST_DIGITS = 600
LARGEST_COUNT = 99999
MILLION = 10**6
LONGEST_LINE = 4000


def need(condition, text):
    """Raise ValueError with this text unless the condition holds: what is not proven fails."""
    if not condition:
        raise ValueError(text)


def require_decidable(condition, text):
    """Raise NotImplementedError unless the condition holds: this program cannot tell."""
    if not condition:
        raise NotImplementedError(text)


class Steps:
    """The work that a certificate may still take, in multiplications of long integers.

    A core does some three million of them a second. They are charged before they are done, so that
    no file keeps this program busy for ever.
    """

    def __init__(self, limit):
        self.allow(limit)

    def allow(self, limit):
        """Begin a file, each of whose certificates may take so many multiplications."""
        self.limit = limit
        self.restart()

    def restart(self):
        """Begin a certificate."""
        self.left = self.limit

    def take(self, number):
        """Charge so many multiplications; raise NotImplementedError if too few are left."""
        if number > self.left:
            needed = divide_up(self.limit - self.left + number, MILLION)
            allowed = self.limit // MILLION
            raise NotImplementedError(
                f"it needs {needed} million steps or more, and {allowed} million are allowed "
                "(--limit)"
            )
        self.left -= number


def divide_up(x, y):
    """Return x / y, rounded up to an integer."""
    return -(-x // y)


def shift_up(x, bits):
    """Return x / 2^bits, rounded up to an integer."""
    return -(-x >> bits)


steps = Steps(100 * MILLION)


# ---- What a certificate says ---------------------------------------------------------------------
HEXADECIMAL = r"-?0x[01]\.[0-9a-f]{1,13}p([+-](\d{1,3}|10[01]\d|102[0-2])|\+1023)"


def number(text):
    """Return an exact number as a Fraction.

    It is written as an integer, as "p/q", or as a float in hexadecimal such as "0x1.8p-3".
    """
    if type(text) is int:
        require_decidable(
            abs(text) < 10**MOST_DIGITS, f"an integer has more than {MOST_DIGITS} digits"
        )
        return Fraction(text)
    need(type(text) is str, f"{text!r} is no exact number")
    if re.fullmatch(r"-?\d+/[1-9]\d*", text, re.ASCII):
        longest = max(len(part) for part in text.lstrip("-").split("/"))
        require_decidable(longest <= MOST_DIGITS, f"a fraction has more than {MOST_DIGITS} digits")
        return Fraction(text)
    need(re.fullmatch(HEXADECIMAL, text, re.ASCII), f"{text!r} is no exact number")
    return Fraction(float.fromhex(text))


def count(value):
    """Return an integer from 0 to LARGEST_COUNT."""
    need(type(value) is int and value >= 0, f"{value!r}: not an integer of 0 or more")
    require_decidable(value <= LARGEST_COUNT, f"a count is above {LARGEST_COUNT}")
    return value


def real(value):
    """Return a number of JSON as a Fraction, which is exactly its float."""
    if type(value) is int:
        return number(value)
    need(type(value) is float and math.isfinite(value), f"{value!r}: not a finite number")
    return Fraction(value)


def parse_text(value):
    """Return a text."""
    need(type(value) is str, f"{value!r}: not a text")
    return value


def accept_anything(value):
    """Return the value as it is; another function checks it."""
    return value


def parse_list(values, kind, length=None):
    """Return a list, each of whose values is of one kind.

    Args:
        values: what JSON has there.
        kind: checks and converts a value, such as `number`.
        length: how many values there must be; None for any number.
    """
    need(type(values) is list, f"{values!r}: not a list")
    need(length is None or len(values) == length, f"a list of {len(values)}: must have {length}")
    return [kind(value) for value in values]


def parse_fields(record, required, optional=None):
    """Return the values of an object that has these fields and no other.

    Args:
        record: what JSON has there.
        required: each field's kind, such as `number`, by name.
        optional: the kinds of fields that may be missing.

    Returns:
        The values in the order of required, then of optional; None where one of these is missing.
    """
    optional = optional or {}
    need(type(record) is dict, f"{record!r}: not an object")
    for name in required:
        need(name in record, f"there is no field {name!r}")
    for name in record:
        known = name in required or name in optional
        need(known, f"nobody checks a field {name!r}: it must not be")
        need(name in required or record[name] is not None, f"{name!r} is empty")
    values = []
    for name, kind in [*required.items(), *optional.items()]:
        try:
            values.append(kind(record[name]) if name in record else None)
        except ValueError as reason:
            raise ValueError(f"{name}: {reason}") from None
    return values


# ---- Elementary functions, between bounds --------------------------------------------------------
def series(x, divisors):
    """Return bounds on 1 + x / d1 + x^2 / (d1 d2) + ..., in GUARD.

    Args:
        x: a fraction >= 0.
        divisors: d1 < d2 < ..., all above 0.
    """
    low = high = below = above = GUARD
    for divisor in divisors:
        below = below * x.numerator // (divisor * x.denominator)
        above = divide_up(above * x.numerator, divisor * x.denominator)
        low += below
        high += above
        if above <= 1 and 2 * x < divisor:
            break  # from here on, each term is less than half of the one before
    return low, high + above


@lru_cache(1 << 14)
def exp(x):
    """Return fractions below and above e^x: the Taylor sum of x / 2^20, squared twenty times."""
    if x < -2000:
        return Fraction(0), exp(Fraction(-2000))[1]
    if x < 0:
        below, above = exp(-x)
        return 1 / above, 1 / below
    require_decidable(x <= 2000, "an exponent is above 2000")
    low, high = series(x / 2**20, integers(1))
    for _ in range(20):
        low = low * low // GUARD
        high = divide_up(high * high, GUARD)
    return Fraction(low, GUARD), Fraction(high, GUARD)


@lru_cache(1 << 14)
def erfc(y):
    """Return fractions below and above erfc(y) = 1 - erf(y).

    For y >= 0, erf(y) is 2 y / sqrt(pi) e^(-y^2) times the sum over n of 2^n y^(2n) / (1 * 3 * ...
    * (2n + 1)).
    """
    if y < 0:
        below, above = erfc(-y)
        return 2 - above, 2 - below
    if y > 12:  # erfc(y) <= e^(-y^2), which falls as y grows
        return Fraction(0), exp(Fraction(-144))[1]
    low, high = series(2 * y * y, integers(3, 2))
    bell_below, bell_above = exp(-y * y)
    erf_below = 2 * y * low * bell_below / GUARD / (ROOT_OF_PI + Fraction(1, 10**63))
    erf_above = 2 * y * high * bell_above / GUARD / ROOT_OF_PI
    return max(1 - erf_above, Fraction(0)), 1 - erf_below


# ---- What is printed -----------------------------------------------------------------------------
def to_decimal(fraction, digits, rounding):
    """Return a fraction as a decimal of so many digits, and this decimal as text."""
    limits = {"Emax": decimal.MAX_EMAX, "Emin": decimal.MIN_EMIN}
    context = decimal.Context(prec=digits, rounding=rounding, **limits)
    value = context.divide(
        decimal.Decimal(fraction.numerator), decimal.Decimal(fraction.denominator)
    )
    value = value.normalize(context)
    text = format(value, "f") if -5 < value.adjusted() < 15 else str(value)
    return value, text.lower()


def write_upper_bound(value):
    """Write an upper bound in decimals, rounded up."""
    return to_decimal(value, 10, decimal.ROUND_CEILING)[1]


def write_lower_bound(value):
    """Write a lower bound in decimals, rounded down."""
    return to_decimal(value, 10, decimal.ROUND_FLOOR)[1]


def write_approximately(x):
    """Write a number in decimals, with a ~ if they are not all of it."""
    value, text = to_decimal(x, 12, decimal.ROUND_HALF_EVEN)
    return text if Fraction(value) == x else f"~{text}"


def clean_line(text):
    """Return a text cut to a line, with nothing in it that a terminal would obey."""
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


def parse_setting(body, further):
    """Return K, m, epsilon, Delta and delta of a certificate of gamma, then further fields."""
    K, m, epsilon, Delta, delta, *rest = parse_fields(body, SETTING | further)
    valid = K % 2 and 1 <= m <= K and epsilon > 0 and 0 <= 2 * Delta < 1 and 0 <= delta < 1
    need(valid, "K must be odd, 1 <= m <= K, epsilon > 0, Delta in [0, 1/2), delta in [0, 1)")
    return K, m, epsilon, Delta, delta, *rest


def describe_teachers(K, m, epsilon, Delta):
    """Say whose votes a certificate of gamma is about."""
    cost = f"({write_approximately(epsilon)}, {write_approximately(Delta)})"
    return f"K = {K} teachers, each {cost}-DP, 2 classes, m = {write_approximately(m)}"


def check_gamma_privacy(body, worst_cost=None):
    """Check darrm_lemma_3.4: f <= C - 1 + 2 delta wherever K teachers are on the eight corners.

    t teachers are at H = (h, 1 - h) or opposite, i and t - i of them. Of the other n = K - t, b are
    at 1 and a at 0, and each of these may move by D. V[i][b] is G(p) before any move; G(p') has t -
    i at H. P and Q are these two lines, over b.

    Args:
        body: the certificate's fields.
        worst_cost: a bound on f that the file states; it is checked up to 2^-44 of 1 + C.
    """
    K, m, epsilon, Delta, delta, gamma = parse_setting(body, {"gamma": accept_anything})
    gamma = parse_list(gamma, number, K + 1)
    valid = gamma == gamma[::-1] and min(gamma) >= 0 and max(gamma) <= 1
    need(valid, "gamma must be symmetric around K/2, and lie in [0, 1]")
    steps.take((K + 1) ** 3)
    # The region is larger and C is smaller than they are, which is safe.
    D = ceil(ONE * Delta)
    C = floor(ONE * exp(m * epsilon)[0])
    growth = exp(epsilon)[1]
    h = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    probabilities = move_probabilities(K, D)
    # Rounding may take so much off f: G loses one for each teacher, and what the probabilities lack
    # of 1.
    lost = max(ONE - sum(row) for row in probabilities)
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
                if f + shift_up(moved, BITS) > min(allowed, stated):
                    f = cost_of_all_moves(P, Q, b, n - b, C, probabilities)
                    position = f"{i} teachers at H, {t - i} opposite, {b} at 1"
                    need(f <= exceeded, f"not private: {position}")
                    need(f <= stated, f"f is above worst_cost: {position}")
                    undecided = undecided or f > allowed
        # One teacher more stands at H or opposite.
        V = [add_teacher(V[0], ONE - h)] + [add_teacher(line, h) for line in V]
    require_decidable(not undecided, "costs what is allowed, and no rounding can tell whether more")
    claim = f"({write_upper_bound(m * epsilon)}, {write_upper_bound(delta)})-DP"
    return f"{describe_teachers(K, m, epsilon, Delta)}: a label by DaRRM with this gamma is {claim}"


def add_teacher(line, h):
    """Return the means over one more teacher, rounded down.

    The teacher says 1 with probability h / ONE.
    """
    return [((ONE - h) * x + h * y) >> BITS for x, y in pairwise(line)]


def move_probabilities(K, D):
    """Return Pr[Bin(n, D) = r] at r = 0, 1, ..., for n = 0..K.

    They are rounded down, and each row ends where it is 0 from there on.
    """
    rows = [[ONE]]
    for _ in range(K):
        row = add_teacher([0, *rows[-1], 0], ONE - D)
        if row[-1] == 0:
            row.pop()
        rows.append(row)
    return rows


def first_order_of_moves(P, Q, b, a, C):
    """Return a bound on what moves by D of a zeros and b ones add to f, to first order, over D.

    Each teacher makes the better of its moves, on the side of p or of p'.
    """
    zeros = ones = 0
    if a:
        zeros = max(0, (P[b + 1] - P[b]) * ONE, C * (Q[b] - Q[b + 1]))
    if b:
        ones = max(0, (P[b - 1] - P[b]) * ONE, C * (Q[b] - Q[b - 1]))
    return a * zeros + b * ones


def largest_second_difference(P, Q, C):
    """Return the largest |D^2 P| or C |D^2 Q|, in ONE * ONE."""
    largest = 0
    for line, scale in ((P, ONE), (Q, C)):
        for x, y, z in zip(line, line[1:], line[2:], strict=False):
            largest = max(largest, abs(x - 2 * y + z) * scale)
    return largest


def share_of_further_orders(n, D):
    """Return a bound on what n teachers' moves add to f beyond first order.

    It is a share of the largest second difference: ((1 + 2 D)^n - 1 - 2 n D) / 4, as a difference
    of order s is at most 2^(s-2) times one of order 2.
    """
    step = Fraction(2 * D, ONE)
    return ceil(ONE * ((1 + step) ** n - 1 - n * step) / 4)


def cost_of_all_moves(P, Q, b, a, C, probabilities):
    """Return the largest f = P(x, y) - C Q(x', y') over all moves.

    x of a zeros and y of b ones move on the side of p, x' and y' on that of p', x + x' <= a and y +
    y' <= b.
    """
    starts = [b - s for s in range(min(b + 1, len(probabilities[-1])))]
    width = len(probabilities[-1])
    steps.take((a + 1) * (2 * (len(starts) + b + 1) * width + 9 * (b + 1)) // 2)

    def means(line):
        """Yield, for each x, G after x zeros and y ones have moved, for all y."""
        for zeros in probabilities[: a + 1]:
            after_zeros = [sum(map(mul, zeros, line[start:])) >> BITS for start in starts]
            yield [sum(map(mul, ones, after_zeros)) for ones in probabilities[: b + 1]]

    gained = list(means(P))
    spared = []  # this is the largest -C Q for at most x' and at most y' moves
    for row in means(Q):
        row = [-C * (value >> BITS) for value in row]
        if spared:
            row = map(max, row, spared[-1])
        spared.append(list(accumulate(row, max)))
    return max(gained[x][y] + spared[a - x][b - y] for x in range(a + 1) for y in range(b + 1))


# ---- DaRRM's noise function: no private one is better --------------------------------------------
def check_utility_bound(body):
    """Check weak_duality: no private gamma has a larger utility.

    A private gamma keeps row . gamma <= C - 1 + 2 delta wherever its teachers may be, so its
    utility is at most y . right + sum over l of max(0, c - y . rows) for all y >= 0. Everything is
    in ONE * ONE * GUARD. A larger C is implied, and any y >= 0 will do.
    """
    further = {"prior": accept_anything, "rows": accept_anything, "utility": number}
    K, m, epsilon, Delta, delta, prior, rows, claim = parse_setting(body, further)
    need(type(rows) is list, "rows must be a list")
    steps.take((len(rows) + 1) * K * (K + 10))
    C = ceil(ONE * exp(m * epsilon)[1])
    p, q = corners(Delta, epsilon)
    reduced = [ceil(x * ONE**2 * GUARD) for x in objective(K, prior)]  # becomes c - y . rows
    total = 0  # becomes the sum of the multipliers y
    for row in rows:
        counts, multiplier = parse_fields(row, {"teachers": accept_anything, "multiplier": number})
        counts = parse_list(counts, count, 8)
        valid = sum(counts) == K and multiplier >= 0
        need(valid, "a row places K teachers, with a multiplier >= 0")
        P, Q = ones_pmf(counts, p), ones_pmf(counts, q)
        y = floor(multiplier * GUARD)
        for k, l in enumerate(range(K // 2 + 1, K + 1)):
            reduced[k] -= y * (ONE * (P[l] - P[K - l]) - C * (Q[l] - Q[K - l]))
        total += y
    # Rounding takes at most K off a probability, so that a row may be K (1 + C) too large.
    bound = total * (ONE * (C - ONE) + ceil(2 * delta * ONE**2))
    bound += sum(max(0, value + total * K * (ONE + C)) for value in reduced)
    bound = Fraction(bound, ONE**2 * GUARD)
    need(bound <= claim, f"the multipliers prove no less than {write_upper_bound(bound)}")
    kind, low, high = parse_fields(prior, PRIOR)
    about = f"{describe_teachers(K, m, epsilon, Delta)}, delta {write_approximately(delta)}"
    about += f", {kind} prior on [{write_approximately(low)}, {write_approximately(high)}]"
    return f"{about}: no private gamma has a utility above {write_upper_bound(claim)}"


def corners(Delta, epsilon):
    """Return (p, p') of the eight corners, in ONE, as a list of p and one of p'.

    They are rounded to the inside of the region.
    """
    D = floor(ONE * Delta)
    growth = exp(epsilon)[0]
    h = floor(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    p = [0, ONE, 0, D, ONE - D, ONE, h, ONE - h]
    q = [0, ONE, D, 0, ONE, ONE - D, ONE - h, h]
    return p, q


def ones_pmf(counts, probabilities):
    """Return Pr[l teachers say 1], l = 0..K, each rounded down by at most one a teacher."""
    row = [ONE]
    for size, p in zip(counts, probabilities, strict=True):
        for _ in range(size):
            row = add_teacher([0, *row, 0], ONE - p)
    return row


PRIOR = {"kind": accept_anything, "low": number, "high": number}
CLOSED_FORMS = ("uniform", "common")


def objective(K, prior):
    """Return the coefficients c(l), l > K/2, of the utility, each rounded up to 1 / GUARD.

    The utility is the sum of c(l) gamma(l) over l > K/2, with c(l) = E[Pr[l say 1] - Pr[K - l say
    1]] over teachers' p in [low, high].
    """
    kind, low, high = parse_fields(prior, PRIOR)
    need(0 <= low < high <= 1, "a prior's probabilities are 0 <= low < high <= 1")
    require_decidable(kind in CLOSED_FORMS, f"the utility of prior {kind!r} has no closed form")
    steps.take(K * K * max(x.denominator.bit_length() for x in (low, high)) // 20)
    if kind == "uniform":  # teachers are independent, so only the mean counts
        ways, unit = binomial(K, (low + high) / 2)
        return [Fraction(lead, GUARD) for lead in leads_over_mirror(ways, unit)]
    # All teachers have one p: the incomplete beta integral gives a difference of tails.
    ways, unit = binomial(K + 1, low)
    first = leads_over_mirror(list(accumulate(ways[:-1])), unit)
    ways, unit = binomial(K + 1, high)
    second = leads_over_mirror([-tail for tail in accumulate(ways[:-1])], unit)
    width = (K + 1) * (high - low)
    return [Fraction(ceil((x + y) / width), GUARD) for x, y in zip(first, second, strict=True)]


def binomial(n, p):
    """Return Pr[Bin(n, p) = l], l = 0..n, in a common unit, and this unit."""
    yes, no = p.numerator, p.denominator - p.numerator
    return [comb(n, l) * yes**l * no ** (n - l) for l in range(n + 1)], p.denominator**n


def leads_over_mirror(values, unit):
    """Return values[l] - values[K - l], l > K/2, in GUARD and rounded up.

    The values are at 0..K, in a unit.
    """
    K = len(values) - 1
    upper = range(K // 2 + 1, K + 1)
    return [divide_up((values[l] - values[K - l]) * GUARD, unit) for l in upper]


# ---- One label -----------------------------------------------------------------------------------
def bound_label_delta(body, epsilon):
    """Check hockey_stick: a label's least delta is its largest hockey-stick divergence.

    That is the largest sum of max(0, P - e^epsilon P') over the labels, for all neighbours in both
    orders.

    Returns:
        What the label is, and bounds below and above its delta.
    """
    (law,) = parse_fields(body, {"law": accept_anything})
    pairs, about = neighbours(law)
    if law["name"] == "response" and epsilon >= number(law["epsilon"]):
        delta = number(law["delta"])  # the law states it, and rounding could not tell it
        return f"one label of {about}", delta, delta
    delta = hockey_stick_lower(pairs, epsilon), hockey_stick_upper(pairs, epsilon)
    return f"one label of {about}", *delta


def hockey_stick_upper(pairs, x):
    """Return an upper bound on the largest sum of max(0, P - e^x P') over the labels."""
    growth = floor(exp(x)[0] * GUARD)
    sums = (sum(max(0, GUARD * p[1] - growth * q[0]) for p, q in pair) for pair in pairs)
    return Fraction(max(sums), GUARD**2)


def hockey_stick_lower(pairs, x):
    """Return a lower bound on the largest sum of max(0, P - e^x P') over the labels."""
    growth = ceil(exp(x)[1] * GUARD)
    sums = (sum(max(0, GUARD * p[0] - growth * q[1]) for p, q in pair) for pair in pairs)
    return Fraction(max(sums), GUARD**2)


def neighbours(law):
    """Return the pairs of neighbouring inputs in both orders, each once.

    A pair is bounds on both probabilities of each label, in GUARD. Beside the pairs stands all that
    they depend on, for the line that is printed.
    """
    rows, pairs, about = rows_and_pairs(law)
    different = set()
    for i, j in pairs:
        different.add(tuple(sorted(zip(rows[i], rows[j], strict=True))))
        different.add(tuple(sorted(zip(rows[j], rows[i], strict=True))))
    return sorted(different), about


def rows_and_pairs(law):
    """Return what a law says of its labels.

    Returns:
        Bounds on the probability of each label, in GUARD, for each input; the pairs of inputs that
        are neighbours; and all that these depend on, for the line that is printed.
    """
    need(type(law) is dict, "a law is an object")
    name = parse_text(law.get("name"))
    laws = {"response": dominating_response, "coins": coins, "bounded_range": bounded_range_rows}
    require_decidable(name in laws, f"no law {name!r} is known here")
    rows, pairs, about = laws[name](law)
    rows = [[(floor(low * GUARD), ceil(high * GUARD)) for low, high in row] for row in rows]
    for row in rows:
        least, most = (sum(bounds) for bounds in zip(*row, strict=True))
        valid = least <= GUARD <= most and all(0 <= low <= high for low, high in row)
        need(valid and len(row) == len(rows[0]), "a row is no distribution")
    need(pairs, "there is no pair of neighbours")
    steps.take(40 * len(pairs) * len(rows[0]))
    return rows, pairs, about


def dominating_response(law):
    """Return the label that loses most of all (epsilon, delta)-DP ones.

    It is the one of Kairouz, Oh and Viswanath 2017, Theorem 3.3.
    """
    cost = {"epsilon": number, "delta": number}
    _, epsilon, delta = parse_fields(law, {"name": accept_anything} | cost)
    need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")

    def share(x):
        """Return bounds on (1 - delta) / (1 + e^x)."""
        below, above = exp(x)
        return (1 - delta) / (1 + above), (1 - delta) / (1 + below)

    true, false, never, leak = share(-epsilon), share(epsilon), (0, 0), (delta, delta)
    rows = [[true, false, leak, never], [false, true, never, leak]]
    cost = f"({write_approximately(epsilon)}, {write_approximately(delta)})"
    return rows, [(0, 1)], f"any mechanism whose label is {cost}-DP"


def bounded_range_rows(law):
    """Return labels that dominate all whose likelihood ratios span a factor of e^range at most.

    The largest ratio is 1/N, N in [e^-range, 1]. Of all N in a cell, the law on both ends with a
    mean of 1 loses most (Dong, Durfee and Rogers 2020).
    """
    _, spread, cells = parse_fields(law, {"name": accept_anything, "range": number, "cells": count})
    need(spread > 0 and cells >= 1, "range and cells must be positive")
    steps.take(1000 * cells)
    rows = []
    for cell in range(cells):
        (a, b), (c, d) = exp(spread * (cell + 1) / cells), exp(spread * (cell - cells) / cells)
        (rise, most), (fall, further) = (a - 1, b - 1), (1 - d, 1 - c)
        rare = fall / (fall + most), further / (further + rise)  # where the ratio is the larger one
        often = 1 - rare[1], 1 - rare[0]
        rows.append([often, rare])
        rows.append([(often[0] * c, often[1] * d), (rare[0] * a, rare[1] * b)])
    pairs = [(2 * cell, 2 * cell + 1) for cell in range(cells)]
    width = write_approximately(spread)
    return rows, pairs, f"any mechanism whose losses have a range of {width}, in {cells} cells"


def coins(law):
    """Return labels of two classes that are coins.

    For each number of ones, the law states which label is less likely, and its probability.
    """
    _, rows = parse_fields(law, {"name": accept_anything, "rows": accept_anything})
    need(type(rows) is list and len(rows) > 1, "there must be a coin for each number of ones")
    steps.take(10 * len(rows))
    coins = []
    for row in rows:
        need(type(row) is list and len(row) == 2, "a coin is a label and a probability")
        label, p = count(row[0]), number(row[1])
        need(label <= 1 and 0 <= 2 * p <= 1, "a label is 0 or 1, and the less likely one")
        coins.append([(p, p), (1 - p, 1 - p)] if label == 0 else [(1 - p, 1 - p), (p, p)])
    about = f"{len(rows) - 1} teachers, 2 classes, 1 moved, coins of the stated probabilities"
    return coins, list(pairwise(range(len(rows)))), about


def minority_probability(name, x):
    """Return bounds on the probability of the label that has fewer votes.

    Args:
        name: the law of the noise.
        x: by how many votes it has fewer, over the law's scale.
    """
    if name == "gaussian":  # both counts have normal noise with this standard deviation
        below, above = erfc(x / 2)
        return below / 2, above / 2
    below, above = exp(-x)
    if name == "exponential":  # a class of n votes weighs e^(n / scale)
        return below / (1 + below), above / (1 + above)
    if name == "laplace":  # noise of density e^(-|z| / scale) / (2 scale)
        return below * (1 + x / 2) / 2, above * (1 + x / 2) / 2
    return below / 2, above / 2  # permute_and_flip


# ---- Many labels with fresh noise, whose inputs an adversary chooses as the labels come ----------
class Kernel(NamedTuple):
    """A privacy loss distribution on a grid.

    Its hockey-stick divergence at x is lost + the sum of mass (1 - e^(x - loss)) over losses above
    x.

    Attributes:
        first: the least loss, in steps of the grid.
        masses: the masses of the losses first, first + 1, ... steps, in ONE.
        lost: the mass of an infinite loss, in ONE.
    """

    first: int
    masses: list
    lost: int


def dominating_kernel(divergences, step, places):
    """Return a kernel whose hockey-stick divergence is nowhere below the given ones.

    Args:
        divergences: upper bounds on convex divergences, 1 far below, at thresholds of -places
            and places steps.
        step: of the grid.
        places: whole numbers of steps, from 0 on.
    """
    thresholds = [*(-k for k in reversed(places)), *places[1:]]
    steps.take(20 * len(thresholds))
    reach = places[-1]
    masses = [0] * (2 * reach + 1)
    lost = divergences[-1]
    finite = discounted = 0  # these are the sums of mass, and of mass e^(threshold - loss)
    for i in range(len(thresholds) - 1, 0, -1):
        fall = fall_of(step, thresholds[i] - thresholds[i - 1])
        discounted = shift_up(discounted * fall, BITS)
        short = divergences[i - 1] - lost - finite + discounted
        mass = divide_up(short * ONE, ONE - fall) if short > SLACK else 0
        masses[thresholds[i] + reach] = mass
        finite += mass
        discounted += shift_up(mass * fall, BITS)
    masses[0] = max(0, ONE - lost - finite)
    return Kernel(-reach, masses, lost + 2 * SLACK)


@lru_cache(1 << 12)
def fall_of(step, gap):
    """Return e^(-gap step), rounded up, in ONE."""
    return ceil(ONE * exp(-gap * step)[1])


def compose_kernels(left, right):
    """Return the kernel of the sum of two independent losses.

    It is a product of polynomials, which is one product of two long integers.
    """
    first, x, lost = left
    second, y, gone = right
    need(max(sum(x) + lost, sum(y) + gone) < 9 * ONE, "there is too much mass")
    steps.take(isqrt(max(len(x), len(y)) ** 3) // 2 + 2 * (len(x) + len(y)))
    product = pack_masses(x) * pack_masses(y)
    masses = [shift_up(mass, BITS) for mass in unpack_masses(product, len(x) + len(y) - 1)]
    infinite = lost * (sum(y) + gone) + gone * sum(x)
    return Kernel(first + second, masses, shift_up(infinite, BITS))


def power(kernel, times):
    """Return the kernel of the sum of so many independent losses."""
    total = kernel
    for bit in f"{times:b}"[1:]:  # the number doubles with each further binary digit
        total = compose_kernels(total, total)
        if bit == "1":
            total = compose_kernels(total, kernel)
    return total


def pack_masses(masses, size=BYTES_OF_A_PRODUCT):
    """Return one long integer, in which each mass has room for a product of two masses."""
    text = b"".join(mass.to_bytes(size, "little") for mass in masses)
    return int.from_bytes(text, "little")


def unpack_masses(long, length):
    """Return the integers that stand side by side in a long one."""
    text = long.to_bytes(BYTES_OF_A_PRODUCT * length, "little")
    starts = range(0, len(text), BYTES_OF_A_PRODUCT)
    return [int.from_bytes(text[k : k + BYTES_OF_A_PRODUCT], "little") for k in starts]


def kernel_hockey_stick(kernel, step, epsilon):
    """Return an upper bound on a kernel's hockey-stick divergence at e^epsilon."""
    first, masses, lost = kernel
    growth = exp(epsilon)[0]
    steps.take(100 * len(masses))
    for loss, mass in enumerate(masses, first):
        if mass and loss * step > epsilon:
            share = max(0, ceil(ONE * (1 - growth * exp(-loss * step)[0])))
            lost += shift_up(mass * share, BITS)
    return Fraction(lost, ONE)


def loss_distribution(body, epsilon):
    """Check loss_distribution: Q labels lose what Q independent losses of one kernel do.

    A kernel above all pairs of neighbours leaves an adversary no choice, so that losses add up as
    independent ones do.

    Returns:
        What the labels are, and twice an upper bound on their delta.
    """
    further = {"law": accept_anything, "labels": count, "step": number, "reach": count}
    law, labels, step, reach = parse_fields(body, further)
    valid = labels >= 1 and step > 0 and reach >= 1
    need(valid, "labels, step and reach must be positive")
    pairs, about = neighbours(law)
    thresholds = range(-reach, reach + 1)
    steps.take(len(thresholds) * (200 + 2 * len(pairs) * len(pairs[0])))
    divergences = [ceil(ONE * hockey_stick_upper(pairs, k * step)) for k in thresholds]
    total = power(dominating_kernel(divergences, step, range(reach + 1)), labels)
    delta = kernel_hockey_stick(total, step, epsilon)
    return f"{labels} labels, asked adaptively, of {about}", delta, delta


# ---- All labels of a release ---------------------------------------------------------------------
# Backward induction needs few kernels, as the pairs are in groups. Values are in SMALL and stand
# side by side in one long integer, so that one multiplication by a kernel's mass serves all of
# them, and so does the maximum of two. A mass has two of Python's digits.
SMALL_BITS = 59
SMALL = 1 << SMALL_BITS
BYTES_OF_A_MEAN = 15  # masses of less than 2 times values, in SMALL, have 119 bits; one is free


def adaptive_labels(body, epsilon):
    """Check adaptive_labels: the total of adaptively chosen labels, by backward induction.

    V_0(x) = max(0, 1 - x), and V_q(x) is the largest mean of V_(q - 1)(x e^-loss) over kernels. V_q
    lies above the hockey-stick divergence of q labels, so that a kernel above it stands for a block
    of them. The losses of blocks, and of noisy counts, add up as independent ones do.

    Returns:
        What the labels are, and twice an upper bound on their delta.
    """
    grid = {"step": number, "places": accept_anything, "width": count}
    further = {
        "law": accept_anything,
        "groups": accept_anything,
        "blocks": accept_anything,
        "counts": accept_anything,
    }
    law, groups, blocks, counts, step, places, width = parse_fields(body, further | grid)
    places = parse_list(places, count)
    rising = len(places) > 1 and places[0] == 0 and all(x < y for x, y in pairwise(places))
    need(step > 0 and width and rising, "step and width must be positive, and places rise from 0")
    need(places[-1] <= 4000, "places end at 4000")
    total = None
    blocks = [
        parse_fields(row, {"times": count, "labels": count})
        for row in parse_list(blocks, accept_anything)
    ]
    need(blocks and all(times and labels for times, labels in blocks), "a block has a label")
    kernels, about = kernels_on_a_grid(law, groups, step, places)
    curves = induction(kernels, {labels for _, labels in blocks}, step, places[-1], width)
    for times, labels in blocks:
        reach, curve = curves[labels]
        total = compose_if_first(
            total, power(dominating_kernel(curve, step, range(reach + 1)), times)
        )
    asked = sum(times * labels for times, labels in blocks)
    text = [f"{asked} labels, asked adaptively, of {about}"]
    for row in parse_list(counts, accept_anything):
        *noise, reach = parse_fields(row, COUNTS | {"reach": count})
        divergence, description = discrete_noise(*noise)
        steps.take(100 * (2 * reach + 1))
        divergences = [ceil(ONE * divergence(k * step)) for k in range(-reach, reach + 1)]
        total = compose_if_first(total, dominating_kernel(divergences, step, range(reach + 1)))
        text.append(description)
    delta = kernel_hockey_stick(total, step, epsilon)
    return " and ".join(text), delta, delta


def kernels_on_a_grid(law, groups, step, places):
    """Return kernels above the groups of a label's pairs, and what the label is."""
    name = parse_text(law.get("name")) if type(law) is dict else ""
    if name == "gaussian_maximum":
        divergences, about = Maximum(law).group_hockey_sticks(groups, step, places)
    else:
        divergences, about = pairs_hockey_sticks(law, groups, step, places)
    return [
        small_kernel(dominating_kernel(divergence, step, places)) for divergence in divergences
    ], about


def groups_of(groups, length):
    """Return the group of each member."""
    groups = parse_list(groups, count, length)
    require_decidable(max(groups) < 10000, "there are more than 10000 groups")
    return groups


def pairs_hockey_sticks(law, groups, step, places):
    """Return the largest divergence of each group of pairs, at -places and places steps.

    Coins may have `apart`: how far a label that is drawn is from its coin in total variation.

    Args:
        law: of the label.
        groups: two lists, for each pair as it stands and for each with its members exchanged.
        step: of the grid.
        places: whole numbers of steps, from 0 on.
    """
    law, distance = dict(law), Fraction(0)
    if law["name"] == "coins" and "apart" in law:
        distance = number(law.pop("apart"))
        need(0 <= distance <= 1, "apart is from 0 to 1")
    rows, pairs, about = rows_and_pairs(law)
    about += f", drawn within {write_upper_bound(distance)} of them" if distance else ""
    forwards, backwards = (
        groups_of(part, len(pairs)) for part in parse_list(groups, accept_anything, 2)
    )
    members = {}
    for (i, j), first, second in zip(pairs, forwards, backwards, strict=True):
        members.setdefault(first, set()).add(tuple(zip(rows[i], rows[j], strict=True)))
        members.setdefault(second, set()).add(tuple(zip(rows[j], rows[i], strict=True)))
    steps.take(8 * len(pairs) * len(rows[0]) * len(places))
    divergence = partial(perturbed_hockey_stick, distance) if distance else hockey_stick_upper
    divergences = []
    for group in members.values():
        exchanged = [tuple((q, p) for p, q in pair) for pair in group]
        sides = (
            [ceil(ONE * divergence(side, k * step)) for k in places] for side in (group, exchanged)
        )
        divergences.append([min(ONE, x) for x in reflect_hockey_stick(*sides, step, places)])
    return divergences, about


def reflect_hockey_stick(right, left, step, places):
    """Return a hockey-stick divergence at thresholds of -places and places steps.

    It is known at and above 1 for pairs, and for the exchanged pairs. Divergences fall, so that
    none is above an earlier one. Below 1, at t, it is 1 - t plus t times that of the exchanged
    pairs at 1 / t.
    """
    right, left = (list(accumulate(side, min)) for side in (right, left))
    row = []
    for k, divergence in zip(places, left, strict=True):
        below, above = exp(-k * step)
        row.append(ONE - floor(ONE * below) + multiply_up(ceil(ONE * above), divergence))
    return row[:0:-1] + right


def perturbed_hockey_stick(total_variation, pairs, x):
    """Return the upper bound for two labels that are drawn near these pairs.

    P - e^x P' grows by the distance for a set of one label. For a set of none or of both it stays.
    """
    growth = floor(exp(x)[0] * GUARD)
    most = max(GUARD * p[1] - growth * q[0] for pair in pairs for p, q in pair)
    least = max(Fraction(0), 1 - exp(x)[0])
    return max(least, Fraction(most, GUARD**2) + total_variation * (1 + exp(x)[1]))


def small_kernel(kernel):
    """Return a kernel's losses of positive mass and the mass of its infinite loss, in SMALL.

    A loss is (steps from the left end, mass).
    """
    _, masses, lost = kernel
    losses = [(k, shift_up(m, BITS - SMALL_BITS)) for k, m in enumerate(masses) if m]
    lost = shift_up(lost, BITS - SMALL_BITS)
    need(sum(mass for _, mass in losses) + lost < 2 * SMALL, "there is too much mass")
    return losses, lost


def induction(kernels, wanted, step, kernel_radius, width):
    """Return the curves of the wanted numbers of labels, by backward induction.

    As the family has its pairs in both orders, W(1 / t) = 1 - (1 - W(t)) / t: a curve is computed
    from threshold 1 on, and reflected.

    Args:
        kernels: as `small_kernel` returns them.
        wanted: numbers of labels.
        step: of the grid.
        kernel_radius: how many steps the kernels reach to either side.
        width: a curve of q labels reaches width sqrt(q) steps further than a kernel.

    Returns:
        By number of labels: how many steps a curve reaches to either side, and its values, in ONE.
    """
    most = max(wanted)

    def far(labels):
        """Return how many steps a curve of so many labels reaches to either side."""
        return kernel_radius + isqrt(width * width * labels)

    steps.take(100 * (far(most) + 1))
    down = [floor(SMALL * exp(-k * step)[0]) for k in range(1, far(most) + 1)]

    def reflected(values, places):
        """Return the values at so many steps to the left, and those from 0 on."""
        right = zip(down[:places], values[1 : places + 1], strict=True)
        return [SMALL - (fall * (SMALL - v) >> SMALL_BITS) for fall, v in right][::-1] + values

    values, curves = [0] * (kernel_radius + 1), {}  # no label has 1 - t below 1, and 0 above
    for labels in range(1, most + 1):
        here = far(labels)
        wide = values + [values[-1]] * (here + kernel_radius + 1 - len(values))
        long = pack_masses(reflected(wide, kernel_radius), BYTES_OF_A_MEAN)
        asked = largest_means(long, kernels, kernel_radius, here + 1)
        values = list(map(max, wide, asked))  # an adversary may also ask for one label less
        if labels in wanted:
            lift = BITS - SMALL_BITS
            curves[labels] = here, [v << lift for v in reflected(values, here)]
    return curves


def largest_means(values, kernels, kernel_radius, length):
    """Return the largest mean over kernels at each of so many thresholds.

    The values stand side by side in one long integer and reach further to either side.
    """
    bits = 8 * BYTES_OF_A_MEAN
    ones = ((1 << bits * length) - 1) // ((1 << bits) - 1)  # has 1 at each place
    mask, free, best = (1 << bits * length) - 1, ones << bits - 1, 0
    for losses, lost in kernels:
        steps.take(length * (20 + len(losses)) // 60)
        total = sum((mass * values) << (bits * k) for k, mass in losses)
        total = (total >> (bits * 2 * kernel_radius)) & mask
        total += ones * (lost << SMALL_BITS)
        # The free bit of a place is set where the best is no less, and fills the others there.
        kept = ((best | free) - total) & free
        kept -= kept >> bits - 1
        best = total ^ ((total ^ best) & kept)
    text = best.to_bytes(BYTES_OF_A_MEAN * length, "little")
    starts = range(0, len(text), BYTES_OF_A_MEAN)
    means = [int.from_bytes(text[k : k + BYTES_OF_A_MEAN], "little") for k in starts]
    return [min(SMALL, shift_up(value, SMALL_BITS)) for value in means]


def compose_if_first(left, right):
    """Return the kernel of two independent losses, or the second if there is no first one."""
    return right if left is None else compose_kernels(left, right)


# ---- Counts with noise on whole numbers ----------------------------------------------------------
COUNTS = {"times": count, "scale": number}
SMOOTH = 400  # a sum with a larger standard deviation is taken for a rounded Gaussian
SINGLE = 2  # the law of a sum has no closed form below this scale


def discrete_counts(body, epsilon):
    """Check discrete_counts: noisy counts that a neighbour moves by 1 each.

    The noise is discrete Gaussian. If there are two kinds of counts, those of one kind are taken at
    what the losses of the other leave of epsilon.

    Returns:
        What the counts are, and twice an upper bound on their delta.
    """
    (rows,) = parse_fields(body, {"counts": accept_anything})
    rows = parse_list(rows, lambda row: parse_fields(row, COUNTS))
    need(1 <= len(rows) <= 2, "counts are of one kind or two")
    rows.sort(key=lambda row: row[0] * row[1] ** 2)
    divergence, about = discrete_noise(*rows[-1])
    if len(rows) == 1:
        return about, divergence(epsilon), divergence(epsilon)
    (times, scale), (_, description) = rows[0], discrete_noise(*rows[0])
    if times * scale**2 > SMOOTH**2:  # then both are large
        divergence, _ = rounded_gaussian_hockey_stick(rows)
        return f"{description} and {about}", divergence(epsilon), divergence(epsilon)
    masses, delta = masses_of_sum(times, scale)
    steps.take(1000 * len(masses))
    for s, mass in masses.items():
        rest = epsilon - (2 * s + times) / (2 * scale**2)
        rest = Fraction(floor(rest * GUARD), GUARD)  # rounded down, where a divergence is no lower
        delta += ceil(GUARD * mass * divergence(rest))
    return f"{description} and {about}", Fraction(delta, GUARD), Fraction(delta, GUARD)


def discrete_noise(times, scale):
    """Return an upper bound on the divergence of n counts at e^x, and their description.

    The bound is a function of x. The noise is N_Z(0, scale^2), and S the sum of n: a loss is (2 S +
    n) / (2 scale^2). With r, the law of N_Z(0, n scale^2), each probability of S is within 1 +- eta
    of r's.
    """
    need(times >= 1 and scale > 0, "there are counts, with noise")
    about = f"{times} counts that move by 1, noise on whole numbers of scale "
    about += write_approximately(scale)
    if scale < SINGLE:
        return noise_sum_hockey_stick(times, scale), about
    if times * scale**2 > SMOOTH**2:
        return rounded_gaussian_hockey_stick([(times, scale)])[0], about
    eta, tails = eta_of(times, scale), tails_of(times * scale**2)

    def divergence(x):
        x -= 3 * eta
        start = floor(scale**2 * x - Fraction(times, 2)) + 1
        here, there = tail_at(tails, start), tail_at(tails, start + times)
        return min(Fraction(1), max(Fraction(0), here[1] - exp(x)[0] * there[0]) * (1 + eta))

    return divergence, about


def eta_of(times, scale):
    """Return by how much a probability of the sum of noise may differ from N_Z's, relatively."""
    eta = 5 * (times - 1) * exp(-Fraction(9869, 1000) * scale**2)[1] + Fraction(1, 10**18)
    need(eta <= Fraction(1, 1000), "the scale is too small")
    return eta


def masses_of_sum(times, scale):
    """Return upper bounds on Pr[S = s] by s, and on the mass that is left out, in GUARD."""
    if scale < SINGLE:  # the masses are added up, as those of kernels are
        tails = tails_of(scale**2)
        reach = len(tails) - 2
        single = [
            ceil(ONE * (tail_at(tails, s)[1] - tail_at(tails, s + 1)[0]))
            for s in range(-reach, reach + 1)
        ]
        first, masses, lost = power(Kernel(-reach, single, ceil(ONE * 2 * tails[-1][1])), times)
        kept = {s: Fraction(mass, ONE) for s, mass in enumerate(masses, first) if mass > SLACK}
        return kept, (lost + sum(mass for mass in masses if mass <= SLACK)) * GUARD // ONE
    eta, tails = eta_of(times, scale), tails_of(times * scale**2)
    far = 11 * (isqrt(ceil(times * scale**2)) + 1)
    steps.take(100 * far)
    bounds = {}
    for s in range(1 - far, far):
        mass = (tail_at(tails, s)[1] - tail_at(tails, s + 1)[0]) * (1 + eta)
        bounds[s] = Fraction(ceil(mass * GUARD), GUARD)
    return bounds, ceil(GUARD * 2 * tail_at(tails, far)[1] * (1 + eta))


def noise_sum_hockey_stick(times, scale):
    """Return the divergence of n counts at e^x, as a function, from added probabilities.

    It is the sum of Pr[S = s] (1 - e^(x - loss)) over all s with losses above x.
    """
    masses, lost = masses_of_sum(times, scale)
    steps.take(200 * len(masses))
    numbers = sorted(masses)
    here, there = [Fraction(lost, GUARD)], [Fraction(0)]
    for s in reversed(numbers):
        less = masses[s] * exp(-(2 * s + times) / (2 * scale**2))[0]
        here.append(here[-1] + masses[s])
        there.append(there[-1] + Fraction(floor(less * GUARD), GUARD))

    def divergence(x):
        start = floor(scale**2 * x - Fraction(times, 2)) + 1
        above = len(numbers) - bisect_left(numbers, start)
        return min(Fraction(1), here[above] - exp(x)[0] * there[above])

    return divergence


def rounded_gaussian_hockey_stick(rows):
    """Return the divergence at e^x of counts of several kinds, as a function, and eta.

    No sum has a small variance, so the noise is taken for Gaussians of 2.25 less variance, whose
    shifts add up in squares.
    """
    eta = sum(eta_of(times, scale) for times, scale in rows)
    rho = sum(times**2 / (times * scale**2 - Fraction(9, 4)) for times, scale in rows) / 2
    r = Fraction(isqrt(ceil(rho * GUARD)) + 1, ONE)

    def divergence(x):
        x -= 3 * eta
        first = erfc((x - r**2) / (2 * r))[1]
        second = exp(x)[0] * erfc((x + r**2) / (2 * r))[0]
        return min(Fraction(1), max(Fraction(0), first - second) / 2 * (1 + eta))

    return divergence, eta


def tails_of(variance):
    """Return Pr[Z >= s], s = 0, 1, ..., of the discrete Gaussian of this variance.

    Each is a pair of fractions, (below, above).
    """
    reach = 25 * (isqrt(ceil(variance)) + 1)
    steps.take(8 * reach)
    weights = [(GUARD, GUARD)]  # e^(-s^2 / (2 variance)), each computed from the one before
    ratio = [floor(GUARD * exp(-1 / (2 * variance))[0]), ceil(GUARD * exp(-1 / (2 * variance))[1])]
    square = [ratio[0] ** 2 // GUARD, divide_up(ratio[1] ** 2, GUARD)]
    for _ in range(reach):
        low, high = weights[-1]
        weights.append((low * ratio[0] // GUARD, divide_up(high * ratio[1], GUARD)))
        ratio = [ratio[0] * square[0] // GUARD, divide_up(ratio[1] * square[1], GUARD)]
    need(ratio[1] < GUARD, "the variance is too large")
    # What lies beyond is less than a geometric series.
    low, high = 0, divide_up(weights[-1][1] * ratio[1], GUARD - ratio[1])
    sums = []
    for below, above in reversed(weights):
        low, high = low + below, high + above
        sums.append((low, high))
    sums.reverse()
    least, most = 2 * sums[0][0] - GUARD, 2 * sums[0][1] - GUARD
    return [(Fraction(low, most), Fraction(high, least)) for low, high in sums]


def tail_at(tails, start):
    """Return Pr[Z >= start] for any whole number."""
    if start <= 0:
        low, high = tail_at(tails, 1 - start)
        return 1 - high, 1 - low
    return tails[start] if start < len(tails) else (Fraction(0), tails[-1][1])


# ---- The largest of counts with Gaussian noise, in any number of classes -------------------------
# One vote moves from class a to b. Given the largest of all other noisy counts, M, there are three
# outcomes: a, b, another. In standard deviations, w is the lead of a over b, c how far M lies above
# the middle of the two, alpha = c - w/2, beta = c + w/2, and the move takes w to w - 2/sigma. Then
# Pr[a] is the integral of phi(y - w/2) Phi(y + w/2) over y > c, Pr[b] the same at -w, and
# Pr[another] = Phi(alpha) Phi(beta). All w and c are in cells; docs/many-labels.md, theorem 5.
MAXIMUM = {"name": accept_anything, "scale": number, "teachers": count, "classes": count}
MAXIMUM |= {"leads": accept_anything, "cells": count, "panels": count, "lattice": accept_anything}
LEAD, LOW, MARGIN = 13, Fraction(-13, 2), Fraction(17, 2)  # these are the cells' edges
OUTSIDE = ONE // 10**16 + 1  # labels beyond the edges may add so much to a divergence
ROOT_OF_TWO = Fraction(isqrt(2 * GUARD**2), GUARD)  # rounded down, within 2^-256
SIXTH = 70  # the sixth derivative of phi(y - w/2) Phi(y + w/2) in y is smaller


class Maximum:
    """The labels of the largest of counts with Gaussian noise.

    Cells are 1 / cells wide or a little less, so that the last node has the largest lead. A
    coordinate x is (n, m), for n unit + m half_move / 2, where half_move is 1 / sigma.

    The field `leads` is "votes" if each whole number of votes by which a may lead is a node, so
    that no lead lies between nodes; `stride` cells are then one vote.
    """

    def __init__(self, law):
        _, self.sigma, K, C, leads, cells, self.panels, lattice = parse_fields(law, MAXIMUM)
        valid = self.sigma > 0 and K >= 1 and C >= 2
        need(valid, "scale is positive, and there are a teacher and two classes")
        need(1 <= self.panels <= 64 and 2 <= cells <= 100, "cells are 2 to 100, panels 1 to 64")
        self.half_move = 1 / self.sigma
        need(leads == "votes" or (leads == "cells" and K > 1), "leads are cells, or else votes")
        # Nodes i = -leads, ..., leads are at w = half_move + i stride cell, j at LOW + j cell.
        half = min((K - 1) / self.sigma, LEAD + self.half_move)
        self.votes, self.stride, self.leads = leads == "votes", 1, ceil(half * cells)
        if self.votes:
            self.stride, self.leads = ceil(self.half_move * cells), ceil(half / self.half_move)
        self.cell = self.half_move / self.stride if self.votes else half / self.leads
        self.unit = self.cell / (4 * self.panels)
        widest = self.leads * self.stride * self.cell + self.half_move
        lowest = self.start(0) * self.unit
        self.middles = ceil((MARGIN + widest / 2 - lowest) / self.cell) + 1
        self.distance, drawn = Fraction(0), "continuous noise"
        # Releases before 0.4 drew noise on a fine lattice and were charged its distance.
        need(lattice in ("none", "fine"), "lattice is none or fine")
        if lattice == "fine":
            self.distance = fine_lattice_total_variation(self.sigma, C)
            drawn = "noise on a fine lattice"
        self.about = f"{K} teachers, {C} classes, largest count with Gaussian noise, scale "
        self.about += f"{write_approximately(self.sigma)}, {drawn}"
        size = (self.middles + 2 * self.leads * self.stride) * 8 * self.panels
        steps.take(1000 * size + 300 * (2 * self.leads + 1) * self.middles)
        self.first = self.start(0) - 2 * self.panels * (self.leads * self.stride + 1)
        last = self.start(self.middles) + 2 * self.panels * (self.leads * self.stride + 1)
        self.top = ceil(ONE / ROOT_OF_PI / ROOT_OF_TWO) + 1
        ones = {
            n: self.bound_density_and_cdf(n, 1) for n in range(min(self.first, -last), last + 1)
        }
        self.tables = {1: [ones[n] for n in range(self.first, last + 1)], -1: []}
        for n in range(self.first, last + 1):  # (n, -1) is less (-n, 1)
            if -n in ones:
                low, high, below, above = ones[-n]
                self.tables[-1].append((low, high, ONE - above, ONE - below))
            else:
                self.tables[-1].append(self.bound_density_and_cdf(n, -1))

    def start(self, j):
        """Return n of the middle j."""
        return 4 * self.panels * (floor(LOW / self.cell) + j)

    def coordinate(self, n, m):
        """Return the coordinate (n, m) as a number."""
        return n * self.unit + m * self.half_move / 2

    def bound_density_and_cdf(self, n, m):
        """Return phi and Phi at a coordinate, each (below, above), in ONE."""
        x = self.coordinate(n, m)
        x = Fraction(floor(x * GUARD), GUARD)  # off by 2^-256, which the ends cover
        bell = [y / ROOT_OF_PI / ROOT_OF_TWO * ONE for y in exp(-x * x / 2)]
        below = [y * ONE / 2 for y in erfc(Fraction(floor(-x / ROOT_OF_TWO * GUARD), GUARD))]
        phi = max(0, floor(bell[0]) - 1), ceil(bell[1]) + 1
        return *phi, max(0, floor(below[0]) - 1), min(ONE, ceil(below[1]) + 1)

    def look_up_density_and_cdf(self, n, m):
        """Return phi and Phi at a coordinate, out of the tables."""
        return self.tables[m][n - self.first]

    def first_wins(self, i):
        """Return Pr[a] at all middles, for lead i, by Boole's rule from the far end on."""
        shift, top = 2 * self.panels * self.stride * i, self.start(self.middles - 1)
        ends = range(self.start(0), top + 1)
        mine = self.tables[-1][ends[0] - shift - self.first : top - shift + 1 - self.first]
        theirs = self.tables[1][ends[0] + shift - self.first : top + shift + 1 - self.first]
        low = [x[0] * y[2] >> BITS for x, y in zip(mine, theirs, strict=True)]
        high = [shift_up(x[1] * y[3], BITS) for x, y in zip(mine, theirs, strict=True)]
        error = Fraction(8 * SIXTH, 945) * self.unit**7
        width = self.unit * Fraction(2, 45)
        below, above = 0, ONE - mine[-1][2]
        rows = [(below, above)]
        for end in range(len(low) - 1, 0, -4):
            f, g = low[end - 4 : end + 1], high[end - 4 : end + 1]
            weighted = 7 * (f[0] + f[4]) + 32 * (f[1] + f[3]) + 12 * f[2]
            below += floor(weighted * width - error * ONE)
            weighted = 7 * (g[0] + g[4]) + 32 * (g[1] + g[3]) + 12 * g[2]
            above += ceil(weighted * width + error * ONE)
            rows.append((max(0, below), min(ONE, above)))
        return rows[:: self.panels][::-1]

    def outcomes(self):
        """Return Pr[a], Pr[b] and Pr[another], (below, above), for each lead and middle."""
        wins = [self.first_wins(i) for i in range(-self.leads, self.leads + 1)]
        # Pr[b] is Pr[a] at -w, which the reflected lead 2 half_move - w has after the move.
        rows = []
        for i in range(-self.leads, self.leads + 1):
            a, shift = wins[i + self.leads], 2 * self.panels * self.stride * i
            row = []
            for j in range(self.middles):
                n = self.start(j)
                x = self.look_up_density_and_cdf(n - shift, -1)
                y = self.look_up_density_and_cdf(n + shift, 1)
                neither = x[2] * y[2] >> BITS, shift_up(x[3] * y[3], BITS)
                b = max(0, ONE - a[j][1] - neither[1]), min(ONE, ONE - a[j][0] - neither[0])
                row.append((a[j], b, neither))
            rows.append(row)
        return rows

    def curvature_bounds(self, *, move):
        """Return, for each cell, how far probabilities may be above their chords in it.

        For a, b and another it is this height, and by how much it may change as the vote moves.
        Where cells meet, it is the most of them. docs/many-labels.md has the derivatives; each
        factor is the largest in the cell, in ONE. Where leads are votes, a cell has no width but
        that of the move.

        Args:
            move: whether a cell reaches as far down in w as the vote moves it.
        """
        down = 2 if move else 0  # counted in halves of a move
        wide_by = 0 if self.votes else 1
        eighth = ceil(ONE * self.cell**2 / 8)
        move_of_w = ceil(ONE * 2 * self.half_move)
        at_once, tied = ceil(ONE / (2 * ROOT_OF_PI**2)), ceil(ONE / (4 * ROOT_OF_PI))
        heights = [self.start(j) * self.unit for j in range(self.middles)]
        both_c = [
            ceil(ONE * exp(Fraction(-(least_absolute(*ends) ** 2)))[1])
            for ends in pairwise(heights)
        ]
        above_c = [ceil(ONE * erfc(low)[1]) for low in heights[:-1]]
        x_of = {
            m: [floor(self.coordinate(n + self.first, m) * ONE) for n in range(len(table))]
            for m, table in self.tables.items()
        }
        cells = []
        for i in range(-self.leads, self.leads + 1 - wide_by):
            offset = i * self.stride
            low_w = (1 - down) * self.half_move + offset * self.cell
            high_w = self.half_move + (offset + wide_by) * self.cell
            near_w, far_w = least_absolute(low_w, high_w), largest_absolute(low_w, high_w)
            falls = ceil(ONE * exp(Fraction(-near_w * near_w) / 4)[1])
            turn = max(abs(Fraction(x * x) / 4 - Fraction(1, 2)) for x in (near_w, far_w))
            turn, half_w = ceil(ONE * turn), ceil(ONE * far_w / 2)
            low_w, high_w = floor(ONE * low_w), ceil(ONE * high_w)
            row = []
            for j in range(self.middles - 1):
                n, half = self.start(j) - self.first, 2 * self.panels
                mine = (
                    (-1, n - half * (offset + wide_by)),
                    (down - 1, n + 2 * half - half * offset),
                )
                theirs = (
                    (1 - down, n + half * offset),
                    (1, n + 2 * half + half * (offset + wide_by)),
                )
                a, b = [tuple(x_of[m][k] for m, k in ends) for ends in (mine, theirs)]
                bell_a, bell_b = self.max_density(mine, a), self.max_density(theirs, b)
                only_a = multiply_up(bell_a, self.tables[1][theirs[1][1]][3])
                only_b = multiply_up(bell_b, self.tables[mine[1][0]][mine[1][1]][3])
                density = multiply_up(multiply_up(both_c[j], falls), at_once)
                tie = multiply_up(multiply_up(falls, above_c[j]), tied)
                far_a, far_b = largest_absolute(*a) + 1, largest_absolute(*b) + 1
                along_a, along_b = (
                    multiply_up(far_a, only_a) + density,
                    multiply_up(far_b, only_b) + density,
                )
                squares_a, squares_b = largest_square_less_one(*a), largest_square_less_one(*b)
                further_a = largest_absolute(a[0] - high_w, a[1] - low_w) + 2
                further_b = largest_absolute(b[0] + low_w, b[1] + high_w) + 2
                turn_a = (multiply_up(squares_a, only_a) + multiply_up(far_b, density)) // 2 + 1
                turn_b = (multiply_up(squares_b, only_b) + multiply_up(far_a, density)) // 2 + 1
                bent_a = (multiply_up(squares_a, only_a) + multiply_up(further_a, density)) // 8 + 1
                bent_b = (multiply_up(squares_b, only_b) + multiply_up(further_b, density)) // 8 + 1
                wide, bend = multiply_up(half_w, tie), multiply_up(turn, tie)
                level = [
                    along_a + wide_by * (wide + along_a // 4 + 1),
                    along_b + wide_by * (wide + along_b // 4 + 1),
                    along_a + along_b + wide_by * ((along_a + along_b) // 4 + 1),
                ]
                tilt = [turn_a + wide_by * (bend + bent_a), turn_b + wide_by * (bend + bent_b)]
                tilt.append(turn_a + turn_b + wide_by * (bent_a + bent_b))
                tilt = [multiply_up(value, move_of_w) for value in tilt]
                row.append([multiply_up(value, eighth) for value in level + tilt])
            cells.append(row)
        return max_of_cells_at_corners(cells, between=not self.votes)

    def max_density(self, ends, x):
        """Return the largest phi between two coordinates, whose values are x."""
        if x[0] <= 0 <= x[1] + 1:
            return self.top
        return max(self.tables[m][n][1] for m, n in ends)

    def group_hockey_sticks(self, groups, step, places):
        """Return the largest divergence of each group of nodes, at -places and places steps.

        Args:
            groups: for each lead, the group of each middle.
            step: of the grid.
            places: whole numbers of steps, from 0 on.
        """
        size, leads = len(places), 2 * self.leads + 1
        groups = [
            groups_of(row, self.middles) for row in parse_list(groups, accept_anything, leads)
        ]
        steps.take(leads * self.middles * (100 + 6 * size))
        laws = self.outcomes()
        fixed, moved = self.curvature_bounds(move=False), self.curvature_bounds(move=True)
        growth = [exp(k * step) for k in places]
        growth = [(floor(ONE * low), ceil(ONE * high)) for low, high in growth]
        right, left = {}, {}
        for i in range(leads):
            for j in range(self.middles):
                # The vote takes this lead to minus the reflected one, where b has what a has there.
                other_a, other_b, other = laws[-1 - i][j]
                after = other_b, other_a, other
                x = fixed[-1 - i][j]
                bends = moved[i][j][:3], moved[i][j][3:], fixed[i][j][:3], [x[1], x[0], x[2]]
                curve = node_hockey_stick(laws[i][j], after, bends, growth)
                for side, group in ((right, groups[i][j]), (left, groups[-1 - i][j])):
                    side[group] = list(map(max, side[group], curve)) if group in side else curve
        # A label at a distance from that law, in total variation, adds (1 + t) times it.
        distance = ceil(ONE * self.distance)
        additions = [OUTSIDE + ceil(distance * (1 + exp(k * step)[1])) for k in places]
        divergences = []
        for group in sorted(right):  # left: the reflected lead gives the vote back
            sides = (list(map(add, side[group], additions)) for side in (right, left))
            divergences.append([min(ONE, x) for x in reflect_hockey_stick(*sides, step, places)])
        return divergences, self.about


def node_hockey_stick(before, after, bends, growth):
    """Return an upper bound on the divergence around a node, at each threshold t >= 1.

    It is the largest P - t P' of the sets that may have it, each with what the cells around the
    node add: (t - 1) level + tilt, or first + t second, whichever is less. b wins more often after
    the move, so that it is in no such set but all.
    """
    level, tilt, first, second = bends
    curve = [0] * len(growth)
    for chosen, rest in (((0,), (1, 2)), ((2,), (0, 1)), ((0, 2), (1,))):
        p, q = sum(before[o][1] for o in chosen), sum(after[o][0] for o in chosen)
        L, T, A, B = [
            min(sum(bound[o] for o in chosen), sum(bound[o] for o in rest))
            for bound in (level, tilt, first, second)
        ]
        near, far = (p - L + T, L - q), (p + A, B - q)
        line = [min(x + (y * t[y > 0] >> BITS) for x, y in (near, far)) + 1 for t in growth]
        curve = list(map(max, curve, line))
    return curve


def multiply_up(x, y):
    """Return a product of numbers of 0 or more, in ONE, rounded up."""
    return (x * y >> BITS) + 1


def least_absolute(low, high):
    """Return the least |x| of an interval."""
    return 0 if low <= 0 <= high else min(abs(low), abs(high))


def largest_absolute(low, high):
    """Return the largest |x| of an interval."""
    return max(abs(low), abs(high))


def largest_square_less_one(low, high):
    """Return the largest |x^2 - 1| of an interval, in ONE, rounded up."""
    near, far = max(0, least_absolute(low, high) - 1), largest_absolute(low, high) + 1
    return max(abs((near * near >> BITS) - ONE), abs((far * far >> BITS) - ONE)) + 2


def max_of_cells_at_corners(cells, *, between):
    """Return, at each corner of cells, the largest of the cells that meet there.

    Args:
        cells: rows of cells.
        between: whether rows of cells lie between rows of corners, or on them.
    """
    wide = [[*row, row[-1]] for row in cells]
    wide = [[list(map(max, row[max(0, j - 1)], row[j])) for j in range(len(row))] for row in wide]
    if not between:
        return wide
    wide.append(wide[-1])
    return [
        [list(map(max, x, y)) for x, y in zip(wide[max(0, i - 1)], wide[i], strict=True)]
        for i in range(len(wide))
    ]


def fine_lattice_total_variation(sigma, C):
    """Return how far a label of C classes with noise on a lattice is from continuous noise.

    The lattice has 2^-40 votes, and twice as many each time that sigma doubles from 2^16 on. The
    total-variation distance is at most (sqrt(2 ln C) + C / 2^20) h / sigma (docs/noise.md,
    theorem 5).
    """
    need(sigma >= Fraction(1, 2**20), "the scale is too small for the lattice")
    h = Fraction(1, 2**40)
    while sigma >= h * 2**56:
        h *= 2
    low, root = Fraction(1), Fraction(16)  # the root of 2 ln C is between them
    while root - low > Fraction(1, 4096):
        middle = (low + root) / 2
        low, root = (low, middle) if exp(middle**2 / 2)[0] >= C else (middle, root)
    return (root + Fraction(C, 2**20)) * h / sigma


# ---- One certificate -----------------------------------------------------------------------------
THEOREMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): check_gamma_privacy,
    ("gamma_utility", "weak_duality"): check_utility_bound,
    ("label", "hockey_stick"): bound_label_delta,
    ("total", "loss_distribution"): loss_distribution,
    ("total", "discrete_counts"): discrete_counts,
    ("total", "adaptive_labels"): adaptive_labels,
}


def check(body, worst_cost=None):
    """Return one line on what a certificate proves.

    Args:
        body: the certificate.
        worst_cost: see `gamma_privacy`.

    Raises:
        ValueError: if the certificate does not prove it.
        NotImplementedError: if this program cannot tell.
    """
    steps.restart()
    need(type(body) is dict, "a certificate is an object")
    rest = dict(body)
    kind, theorem = rest.pop("kind", None), rest.pop("theorem", None)
    if (kind, theorem) == ("none", "none"):
        (why,) = parse_fields(rest, {"why": parse_text})
        raise NotImplementedError(why)
    known = type(kind) is type(theorem) is str and (kind, theorem) in THEOREMS
    require_decidable(known, f"no proof of {kind!r} by {theorem!r} is known")
    page = f"docs/certificates.md#{theorem.replace('.', '')}"
    need(rest.pop("proof", None) == page, f"its proof is elsewhere: {page}")
    if kind == "gamma_privacy":
        return f"{kind}, {theorem}: {check_gamma_privacy(rest, worst_cost)}"
    if kind == "gamma_utility":
        return f"{kind}, {theorem}: {check_utility_bound(rest)}"
    need("epsilon" in rest and "delta" in rest, "there is no epsilon or no delta")
    epsilon, delta = number(rest.pop("epsilon")), number(rest.pop("delta"))
    need(epsilon >= 0 and 0 <= delta <= 1, "epsilon must be 0 or more, delta in [0, 1]")
    about, least, most = THEOREMS[kind, theorem](rest, epsilon)
    need(least <= delta, f"delta is about {write_upper_bound(most)}")
    require_decidable(
        most <= delta,
        f"delta is {write_lower_bound(least)} to {write_upper_bound(most)}: nobody can tell",
    )
    claim = f"({write_upper_bound(epsilon)}, {write_upper_bound(delta)})-DP"
    return f"{kind}, {theorem}: {about}: {claim}"


# ---- The file of a noise function: every number beside the certificates is compared --------------
GAMMA_FILE = dict.fromkeys(SETTING, real) | {
    "prior": parse_text,
    "gamma": accept_anything,
    "utility": real,
    "utility_upper_bound": real,
    "monotone": accept_anything,
    "scaling_loss": real,
    "certificate": accept_anything,
    "solver": accept_anything,
    "certificates": accept_anything,
}
CERTIFICATE = {
    "holds": accept_anything,
    "worst_cost": real,
    "allowance": real,
    "slack": real,
    "method": parse_text,
    "rounding_error": real,
    "attained_cost": real,
    "worst_assignment": accept_anything,
}
CORNERS = ("0,0", "1,1", "0,D", "D,0", "1-D,1", "1,1-D", "H,h", "h,H")
# This says how gamma was found. Nothing of it is proven, and no privacy or utility rests on it.
SOLVER = {
    "name": parse_text,
    "version": parse_text,
    "cuts": count,
    "rounds": count,
    "seconds": real,
}
PROVENANCE = {
    "versions": accept_anything,
    "revision": accept_anything,
    "python": parse_text,
    "machine": parse_text,
}


def check_gamma_file(record):
    """Yield the lines of a file of one gamma.

    Every number that the file states must be that of its certificates.
    """
    parse_fields(record, GAMMA_FILE, {"provenance": accept_anything})
    bodies = parse_list(record["certificates"], accept_anything)
    kinds = [body.get("kind") if type(body) is dict else None for body in bodies]
    need(kinds.count("gamma_privacy") == 1, "a file of gamma has one certificate of its privacy")
    need(kinds.count("gamma_utility") <= 1, "there are two certificates of utility")
    need(len(kinds) <= 1 + kinds.count("gamma_utility"), "a certificate is not of a gamma")
    privacy = bodies[kinds.index("gamma_privacy")]
    utility = bodies[kinds.index("gamma_utility")] if "gamma_utility" in kinds else None
    stated = parse_fields(record["certificate"], CERTIFICATE)
    proven = [check(body, worst_cost=stated[1]) for body in bodies]
    for body in bodies:
        for name in SETTING:
            need(real(record[name]) == number(body[name]), f"{name} is not that of the file")
    gamma = parse_list(record["gamma"], real)
    need(gamma == parse_list(privacy["gamma"], number), "gamma is not that of the file")
    upper = gamma[len(gamma) // 2 :]
    rising = upper == sorted(upper)
    need(record["monotone"] is rising, "monotone is not what gamma is")
    check_certificate_numbers(stated, gamma, rising, privacy)
    parse_fields(record["solver"], SOLVER)
    if "provenance" in record:
        versions, *_ = parse_fields(record["provenance"], PROVENANCE, {"device": parse_text})
        need(type(versions) is dict, "versions are an object")
    kind = record["prior"].partition(":")[0]
    need(utility or kind not in CLOSED_FORMS, "utility_upper_bound has no certificate")
    if utility:
        check_utility(record, upper, utility)
    for line in proven:
        yield "holds", line
    if not utility:
        yield "unchecked", f"utility and utility_upper_bound: no closed form for prior {kind!r}"


def check_utility(record, upper, proven):
    """Check that gamma's utility and its bound are those of the file.

    The utility may differ by the rounding of a sum; the bound is the proven one.
    """
    kind, low, high = parse_fields(proven["prior"], PRIOR)
    name = re.fullmatch(r"([a-z-]+):([-+.\de]+),([-+.\de]+)", record["prior"], re.ASCII)
    need(name, "prior must be kind:low,high")
    prior = [name[1], Fraction(float(name[2])), Fraction(float(name[3]))]
    need(prior == [kind, low, high], "prior is not that of the file")
    K = proven["K"]
    exact = sum(c * x for c, x in zip(objective(K, proven["prior"]), upper, strict=True))
    valid = abs(real(record["utility"]) - exact) <= Fraction(K + 3, 2**50)
    need(valid, f"utility is not {write_approximately(exact)}, which is that of gamma")
    bound, loss = real(record["utility_upper_bound"]), real(record["scaling_loss"])
    need(bound == number(proven["utility"]), "utility_upper_bound is not the proven one")
    # Before it was scaled, gamma was an optimum up to the search's tolerance.
    need(0 <= loss <= 1 - exact / bound + Fraction(1, MILLION), "scaling_loss is not what is lost")


def check_certificate_numbers(stated, gamma, rising, privacy):
    """Check that the package's own certificate has the numbers of this gamma.

    They may differ by the rounding of floats. worst_cost is checked with the certificate of
    privacy.
    """
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
    valid = type(places) is dict and places.keys() <= set(CORNERS)
    need(valid, "worst_assignment has no corners")
    counts = [count(places.get(name, 0)) for name in CORNERS]
    need(sum(counts) == K, "worst_assignment does not place all teachers")
    steps.take(2 * K * (K + 10))
    p, q = corners(Delta, epsilon)
    P, Q = ones_pmf(counts, p), ones_pmf(counts, q)
    f = 0
    for l in range(K + 1):
        sign = 1 if 2 * l > K else -1
        f += sign * gamma[l] * (P[l] - C * Q[l])
    need(abs(f / ONE - attained) <= floating, "attained_cost is not worst_assignment's")
    if rising:
        methods = ("three_corners",)
    elif Delta > 0:
        methods = ("monotone_envelope", "eight_corners", "series")
    else:
        methods = ("monotone_envelope", "four_corners")
    need(method in methods, f"method must be one of {', '.join(methods)}")


# ---- The file of a release: what was released is what its certificate speaks of ------------------
def choice_kind(*allowed):
    """Return the kind of a value that is one of these."""

    def kind(value):
        """Return the value if it is allowed."""
        valid = any(type(value) is type(x) and value == x for x in allowed)
        need(valid, f"{value!r}: must be {' or '.join(map(json.dumps, allowed))}")
        return value

    return kind


def nullable_kind(kind):
    """Return the kind of a value that may be null, though its field is there."""
    return lambda value: None if value is None else kind(value)


def positive_number(value):
    """Return a number above 0."""
    x = real(value)
    need(x > 0, f"{value!r}: must be above 0")
    return x


def share(value):
    """Return a number from 0 to 1."""
    x = real(value)
    need(0 <= x <= 1, f"{value!r}: must be from 0 to 1")
    return x


def pattern_kind(pattern):
    """Return the kind of a text that matches a pattern."""

    def kind(value):
        """Return the text if it matches."""
        need(re.fullmatch(pattern, parse_text(value), re.ASCII), f"{value!r}: must match {pattern}")
        return value

    return kind


TIME = pattern_kind(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00")


def moment(value):
    """Return a time that exists, to the second."""
    datetime.fromisoformat(TIME(value))
    return value


FACTS = {"time": moment, "terms": parse_text}
FACTS |= {"labels_sha256": pattern_kind("[0-9a-f]{64}"), "mechanism": parse_text}
FACTS |= {"epsilon": number, "delta": number}
# These are the terms. Only the form is checked of correct, version, profile and unit, on which no
# privacy rests.
PLAN = {"name": parse_text, "task": accept_anything, "parameters": accept_anything}
PLAN |= {"correct": real, "seed": choice_kind(None), "version": parse_text}
TASK = {"epsilon": positive_number, "delta": share, "queries": count, "labels": count}
TASK |= {"n_teachers": count, "n_classes": count, "secure": choice_kind(True)}
TASK |= {"unit": parse_text, "reach": count}
TASK |= {"privacy_model": choice_kind("disjoint_shards", "shared_data")}
TASK |= {
    "adjacency": choice_kind("add_remove", "replace_one"),
    "counts_only": choice_kind(False, True),
}
TASK |= {
    "teacher_epsilon": nullable_kind(positive_number),
    "teacher_Delta": share,
    "profile": accept_anything,
}
SELDOM = {"absent": choice_kind(True), "most_ones": count}
PROFILE = {
    "n_classes": count,
    "easy_share": share,
    "easy": accept_anything,
    "hard": accept_anything,
}
PROFILE |= {"confusion": positive_number, "imbalance": positive_number, "mislabelled": share}
PROFILE |= {"commonest": nullable_kind(share), "absent_share": share}
# Every kind of noise has these fields, and KINDS says what each has beside them.
NOISE = {"kind": parse_text, "labels": count, "continuous": choice_kind(False)}
NOISE |= {"n_teachers": count, "n_classes": count}
# Each mechanism has a kind of noise, and certificates by these theorems and of these laws.
COINS = [("hockey_stick", "coins"), ("adaptive_labels", "coins")]
MAXIMA, COUNTED = [("adaptive_labels", "gaussian_maximum")], [("discrete_counts", None)]
COMPOSED = [("loss_distribution", "response")]
RANGES = [("adaptive_labels", "bounded_range")]
GAMMA = [("darrm_lemma_3.4", None), ("hockey_stick", "response"), *COMPOSED]
MECHANISMS = {
    "gnmax": ("GaussianNoise", COUNTED),
    "gnmax_analytic": ("GaussianNoise", COUNTED),
    "gnmax_exact": ("GaussianNoise", COINS + MAXIMA),
    "lnmax_pure": ("PureScale", COINS[:1]),
    "exponential": ("SelectionRate", COINS + RANGES + COMPOSED),
    "permute_and_flip": ("SelectionRate", COINS + COMPOSED),
    "ladder": ("LeakyLabel", COINS + COMPOSED),
    "darrm_sub": ("NoisyMajority", GAMMA),
    "darrm_opt": ("NoisyMajority", GAMMA),
    "majority_private": ("Answers", [("hockey_stick", "response")]),
    "committee": ("Members", [("hockey_stick", "response"), *COMPOSED]),
    "confident_gnmax": ("CheckedNoise", COUNTED),
    "confident_gnmax_exact": ("CheckedNoise", COINS[1:] + MAXIMA),
}
# The teachers of these mechanisms are private themselves, and protect these kinds of shards.
BOTH = ["disjoint_shards", "shared_data"]
PRIVATE = {
    "majority_private": BOTH[:1],
    "committee": BOTH[1:],
    "darrm_sub": BOTH,
    "darrm_opt": BOTH,
}
RATE_BITS = 30
# Numbers that the package rounds may be off by ROUNDED, relative to themselves, and coins by TINY
# as well.
ROUNDED, TINY = Fraction(1, 10**9), Fraction(1, 10**60)
# A file of labels may have these columns, and at most so many bytes.
COLUMNS = ["batch", "query", "id", "label", "class_name"]
LARGEST_LABELS = 1 << 26


def parse_named_fields(record, kinds, optional=None):
    """Return the values of an object's fields, by name; see `parse_fields`."""
    optional = optional or {}
    values = parse_fields(record, kinds, optional)
    return dict(zip([*kinds, *optional], values, strict=True))


class Plan:
    """The plan of a release: an object of a closed list of fields, all of which are checked."""

    def __init__(self, terms):
        try:
            record = parse_json(terms)
        except (json.JSONDecodeError, RecursionError):
            raise ValueError("the terms are no JSON") from None
        self.name, task, noise, correct, *_ = parse_fields(record, PLAN)
        need(self.name in MECHANISMS, f"no mechanism {self.name!r} is known here")
        self.task = task = parse_named_fields(task, TASK, SELDOM)
        self.K, self.C = task["n_teachers"], task["n_classes"]
        need(self.K >= 1 and self.C >= 2, "there are a teacher and two classes")
        need(1 <= task["labels"] <= task["queries"], "labels are of queries")
        kind, self.proofs = MECHANISMS[self.name]
        of_its_kind, consistent = KINDS[kind]
        self.noise = noise = parse_named_fields(noise, NOISE | of_its_kind)
        need(noise["kind"] == kind, f"the noise of {self.name} is {kind}")
        same = noise["n_teachers"] == self.K and noise["n_classes"] == self.C
        need(same, "the noise is for other teachers or classes")
        self.labels = noise["labels"]
        need(1 <= self.labels <= task["labels"], "the noise is for labels that nobody wants")
        self.silent = kind == "CheckedNoise"
        need(0 <= correct <= self.labels * (1 + ROUNDED), "more labels are right than there are")
        self.protects()
        self.check_profile()
        consistent(self, *(noise[name] for name in of_its_kind))

    def protects(self):
        """Check that the mechanism protects what the plan says it protects."""
        task, private = self.task, PRIVATE.get(self.name)
        unit, reach, model = task["unit"], task["reach"], task["privacy_model"]
        need(unit.isprintable() and 0 < len(unit) <= 100, "unit is a word for what is protected")
        known = model in (private or ["disjoint_shards"])
        need(known, f"{self.name} does not protect {model}")
        valid = reach == 1 or (model == "disjoint_shards" and 1 < reach <= self.K)
        need(valid, "reach is from 1 to the number of teachers, and of shared data 1")
        need(not private or task["teacher_epsilon"], f"the teachers of {self.name} are private")
        absent = self.name != "majority_private" and private and task["absent"]
        need(not absent, f"the votes of {self.name} are all there")
        most = task["most_ones"]
        valid = most is None or (most >= 1 and self.C == 2 and not task["absent"])
        need(valid, "ones are votes of two classes, all there")

    def check_profile(self):
        """Check the form of the profile: how far teachers were thought to agree."""
        if self.task["profile"] is not None:
            classes, _, easy, hard, *_ = parse_fields(self.task["profile"], PROFILE)
            parse_list(easy, positive_number, 2), parse_list(hard, positive_number, 2)
            need(classes == self.C, "the profile has other classes")

    @property
    def charged_counts(self):
        """How many labels, and how many thresholds, a teacher can change."""
        labels, queries = self.labels, self.noise.get("queries")
        if self.task["most_ones"] is not None and self.name not in PRIVATE:
            labels = min(labels, 2 * self.task["most_ones"])
            queries = queries and min(queries, 2 * self.task["most_ones"])
        return labels, queries

    def teacher_cost(self):
        """Return epsilon and delta of one teacher.

        If the values of a record may differ, neighbours are two records apart.
        """
        epsilon, Delta = self.task["teacher_epsilon"], self.task["teacher_Delta"]
        if self.task["adjacency"] == "add_remove":
            return epsilon, Delta
        return 2 * epsilon, (1 + exp(epsilon)[1]) * Delta


# There is a check for each kind of noise: its fields agree with each other. It also notes in the
# plan how labels are drawn.
def note_gaussian_coin(plan, sigma):
    plan.coin = "gaussian", sigma


def check_pure_scale(plan, label_epsilon, own_scale):
    scale = own_scale or 2 / label_epsilon
    need(0 <= label_epsilon * scale - 2 <= ROUNDED, "label_epsilon is not that of own_scale")
    plan.coin = "laplace", scale


def check_selection_rate(plan, label_epsilon, rate, leak):
    plan.loss, plan.leak = (2 * rate if rate else label_epsilon), Fraction(0)
    if leak is None:
        need(label_epsilon == plan.loss, "label_epsilon is not twice the rate")
    else:
        budget = plan.task["epsilon"], plan.task["delta"]
        valid = rate and plan.labels == 1 and plan.C == 2 and (label_epsilon, leak) == budget
        need(valid, "a rate with a leak is that of one label of two classes, at its budget")
    plan.coin = plan.name, 2 / plan.loss
    if plan.C > 2:  # then the rate is rounded down to few bits, so that its multiples are floats
        mantissa, exponent = math.frexp(float(plan.loss))
        plan.loss = floor(mantissa * 2**RATE_BITS) * Fraction(2) ** (exponent - RATE_BITS)


def check_leaky_label(plan, label_epsilon, label_delta):
    need(plan.C == 2, "a ladder is of two classes")
    plan.loss, plan.leak = label_epsilon, label_delta


def check_noisy_majority(plan, m, K, delta, epsilon, Delta, _):
    need(K == plan.K and K % 2, "gamma is of other teachers, or of an even number")
    need(1 <= m <= K and plan.C == 2, "m is from 1 to K, of two classes")
    need(delta == plan.task["delta"], "gamma is for another delta")
    for stated, true in zip((epsilon, Delta), plan.teacher_cost(), strict=True):
        need(abs(stated - true) <= ROUNDED * true, "a teacher costs something else in the task")
    plan.members = m


def check_members(plan, members):
    need(1 <= members <= plan.K, "members are teachers")
    plan.members = members


def note_single_member(plan, _):
    plan.members = 1


def check_threshold_queries(plan, threshold, sigma1, sigma2, queries, _):
    need(queries == plan.task["queries"], "thresholds are for other queries")
    plan.coin = "gaussian", sigma2


KINDS = {
    "GaussianNoise": ({"sigma": positive_number}, note_gaussian_coin),
    "PureScale": (
        {"label_epsilon": positive_number, "own_scale": nullable_kind(positive_number)},
        check_pure_scale,
    ),
    "SelectionRate": (
        {
            "label_epsilon": positive_number,
            "rate": nullable_kind(positive_number),
            "leak": nullable_kind(share),
        },
        check_selection_rate,
    ),
    "LeakyLabel": ({"label_epsilon": positive_number, "label_delta": share}, check_leaky_label),
    "NoisyMajority": (
        {"m": positive_number, "K": count, "delta": share}
        | {"teacher_epsilon": positive_number, "teacher_Delta": share, "gamma": choice_kind(None)},
        check_noisy_majority,
    ),
    "Answers": ({"weaker": choice_kind(None)}, note_single_member),
    "Members": ({"members": count}, check_members),
    "CheckedNoise": (
        {"threshold": real, "sigma1": positive_number, "sigma2": positive_number}
        | {"queries": count, "score": choice_kind(None)},
        check_threshold_queries,
    ),
}


def check_release_file(record, path):
    """Yield the lines of a release's file.

    They are on its certificate, which must be of the plan that the file states, and on the labels
    beside the file.
    """
    facts, bodies = parse_fields(
        record, {"release": accept_anything, "certificates": accept_anything}
    )
    time, terms, sha256, mechanism, epsilon, delta = parse_fields(facts, FACTS)
    (body,) = parse_list(bodies, accept_anything, 1)
    need(type(body) is dict, "a certificate is an object")
    plan = Plan(terms)
    need(plan.name == mechanism, "the terms are of another mechanism")
    same = 0 <= epsilon <= plan.task["epsilon"] and plan.task["delta"] == delta
    need(same, "the terms have a smaller epsilon, or another delta")
    beside = check_labels_file(path, sha256, plan)
    cost = f"({write_upper_bound(epsilon)}, {write_upper_bound(delta)})"
    released = f"release of {time} by {mechanism!r}, stated {cost}-DP"
    word, line = check_claim(released, body, plan, (epsilon, delta))
    yield word, line
    if word == "holds" or body.get("kind") == "none":
        yield beside


def check_labels_file(path, sha256, plan):
    """Return the line on the labels beside a release's file, as many as its plan has."""
    try:
        with open(os.path.join(os.path.dirname(path), "labels.csv"), "rb") as file:
            content = file.read(LARGEST_LABELS + 1)
    except OSError:
        return "unchecked", "labels.csv: is not beside this file"
    if len(content) > LARGEST_LABELS:
        return "unchecked", f"labels.csv: has more than {LARGEST_LABELS} bytes"
    digest = hashlib.sha256(content).hexdigest()
    need(digest == sha256, "labels.csv: is another file than the one that was charged")
    number, of_session = count_labels_of_file(content, plan.C)
    text = f"labels.csv: has {number} labels, and the plan {plan.labels}"
    need(number <= plan.labels, text)
    need(number == plan.labels or plan.silent or of_session, text)
    return "holds", f"labels.csv: is the file of {number} labels that was charged, sha256 {sha256}"


def count_labels_of_file(content, classes):
    """Return how many labels a table has, one a query, and whether it has batches."""
    try:
        header, *rows = csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True)
    except (UnicodeDecodeError, csv.Error, ValueError):
        raise ValueError("labels.csv: is no table of labels") from None
    columns = [name for name in COLUMNS if name in header]
    valid = header == columns and "query" in columns and "label" in columns
    need(valid, f"labels.csv: must have the columns {', '.join(COLUMNS)}, or some of them")
    queries, names = set(), {}
    for line, cells in enumerate(rows, start=2):
        need(len(cells) == len(header), f"labels.csv: line {line} has {len(cells)} cells")
        row = dict(zip(header, cells, strict=True))
        valid = all(re.fullmatch(r"\d{1,9}", row[name], re.ASCII) for name in ("query", "label"))
        need(valid, f"labels.csv: line {line} has no label")
        queries.add((row.get("batch"), int(row["query"])))
        name = row.get("class_name")
        same = names.setdefault(int(row["label"]), name) == name
        need(same, f"labels.csv: line {line} calls a class by another name")
    need(len(queries) == len(rows), "labels.csv: a query has two labels")
    different = "class_name" not in header or len(set(names.values())) == len(names)
    need(different, "labels.csv: two classes have one name")
    first = min(1, *names) if names else 0  # classes count from 0 or from 1
    need(max(names, default=0) - first < classes, "labels.csv: a label is of no class")
    return len(rows), "batch" in header


def check_claim(claimed, body, plan, claim):
    """Return the line on a certificate of a plan.

    Args:
        claimed: the claim in words.
        body: the certificate.
        plan: of the release.
        claim: epsilon and delta of the claim.
    """
    epsilon, delta = claim
    try:
        if body.get("kind") != "none":  # that kind only says why there is no certificate
            try:
                check_against_plan(body, plan)
                times = number(body["m"]) if body["kind"] == "gamma_privacy" else 1
                smaller = epsilon < times * number(body["epsilon"]) or delta < number(body["delta"])
            except (KeyError, TypeError, AttributeError, IndexError):
                raise ValueError("the certificate has not the fields of its kind") from None
            need(not smaller, "the release states less epsilon or less delta than is proven")
        return "holds", f"{claimed}: {check(body)}"
    except NotImplementedError as reason:
        return "unchecked", f"{claimed}: {reason}"


def check_against_plan(body, plan):
    """Check that a certificate has the noise, votes, classes and labels of a plan."""
    need(plan.task["reach"] == 1, "the plan protects several ballots, and the certificate one")
    law, theorem = body.get("law"), body["theorem"]
    name = None if law is None else law["name"]
    known = (body["kind"], theorem) in THEOREMS and (theorem, name) in plan.proofs
    need(known, f"{plan.name} is not proven so")
    noise, (labels, thresholds) = plan.noise, plan.charged_counts
    if plan.name in PRIVATE:
        check_teachers(body, law, plan)
        return
    if law is not None:
        certified = body["labels"] if theorem == "loss_distribution" else 1
        if theorem == "adaptive_labels":
            certified = sum(row["times"] * row["labels"] for row in body["blocks"])
        need(certified == labels, "the certificate is of another number of labels")
        check_noise(law, plan)
    expected = []
    if thresholds:
        expected.append((thresholds, noise["sigma1"]))
    if law is None:
        expected.append((2 * labels, noise["sigma2"] if plan.silent else noise["sigma"]))
    if theorem == "discrete_counts" and len({scale for _, scale in expected}) == 1:
        expected = [(sum(times for times, _ in expected), expected[0][1])]
    counts = [(row["times"], number(row["scale"])) for row in body.get("counts", [])]
    need(sorted(counts) == sorted(expected), "the certificate is of other noisy counts")


def check_teachers(body, law, plan):
    """Check a certificate's teachers against a plan.

    It must be of as many teachers as answer, or of gamma, and each must cost at least what one
    costs in the plan.
    """
    if law is None:
        need(body["K"] == plan.K, "the certificate is of other teachers")
        need(number(body["m"]) == plan.noise["m"] and plan.labels == 1, "gamma is another one")
        cost = number(body["epsilon"]), number(body["Delta"])
    else:
        members = body.get("labels", 1)
        need(members == plan.members, "the certificate is of another number of teachers")
        only_some = plan.noise["kind"] == "NoisyMajority" and members < plan.K
        need(
            not only_some or (plan.name == "darrm_sub" and plan.labels == 1),
            "gamma is of all teachers",
        )
        cost = number(law["epsilon"]), number(law["delta"])
    epsilon, Delta = plan.teacher_cost()
    need(cost[0] >= epsilon and cost[1] >= Delta, "the certificate is of teachers that cost less")


def check_noise(law, plan):
    """Check that a law has the plan's votes, classes and noise."""
    noise = plan.noise
    if law["name"] == "gaussian_maximum":
        scale = noise["sigma2"] if plan.silent else noise["sigma"]
        same = law["teachers"] == plan.K and law["classes"] == plan.C
        same = same and number(law["scale"]) == scale and plan.C > 2
        need(same, "the certificate is of other noise")
    elif law["name"] == "bounded_range":
        need(number(law["range"]) == plan.loss, "the certificate is of other labels")
    elif law["name"] == "response":  # only the cost of these labels is known
        cost = number(law["epsilon"]), number(law["delta"])
        need(cost == (plan.loss, plan.leak), "the certificate is of other labels")
    else:
        need(len(law["rows"]) == plan.K + 1 and plan.C == 2, "the coins are of others")
        distance = number(law["apart"]) if "apart" in law else Fraction(0)
        bounds = minority_probability_bounds(plan)
        for ones, (label, p) in enumerate(law["rows"]):
            lead, p = abs(2 * ones - plan.K), number(p)
            low, high = bounds[lead]
            valid = low <= p <= high and (lead == 0 or label == (2 * ones < plan.K))
            need(valid, "a coin is not that of the plan's noise")
        if plan.silent:  # then labels have continuous noise, near the floats of their coins
            need(
                distance >= coin_total_variation(law["rows"], plan.coin[1]),
                "labels may be further from coins",
            )


def coin_total_variation(rows, sigma):
    """Return a bound on the total-variation distance of a label of Gaussian noise from its coin."""
    off, K = Fraction(0), len(rows) - 1
    for ones, (_, p) in enumerate(rows):
        low, high = minority_probability("gaussian", abs(2 * ones - K) / sigma)
        off = max(off, number(p) - low, high - number(p))
    return off


def minority_probability_bounds(plan):
    """Return bounds on the probability of the label with fewer votes, by the votes it lacks.

    The stated probability may be off by a share ROUNDED of itself; for a ladder, of what it would
    be without the leak, as digits are lost where that is subtracted. It may also be off by TINY,
    below which rungs may stay level.
    """
    K = plan.K
    steps.take(300 * K)
    leads, probabilities = range(K % 2, K + 1, 2), {}
    if plan.name == "ladder":
        bounds = [(p, p) for p in rungs(K, plan.loss, plan.leak)]
        sizes = rungs(K, plan.loss, 0)
    else:
        kind, scale = plan.coin
        bounds = [minority_probability(kind, lead / scale) for lead in leads]
        sizes = [high for _, high in bounds]
    for lead, (low, high), size in zip(leads, bounds, sizes, strict=True):
        off = size * ROUNDED + TINY
        probabilities[lead] = low - off, high + off
    return probabilities


def rungs(K, loss, leak):
    """Yield a ladder's probabilities of the label with fewer votes, from the smallest lead on."""
    below, above = exp(-loss)
    fall = (below + above) / 2
    p = Fraction(1, 2) if K % 2 == 0 else (1 - leak) * fall / (1 + fall)
    for _ in range(K // 2 + 1):
        yield p
        p = Fraction(floor(max(Fraction(0), fall * (p - leak)) * GUARD), GUARD)


def parse_json(text):
    """Return what a text of JSON holds."""
    hooks = {"parse_int": integer, "parse_constant": reject_non_number}
    return json.loads(text, object_pairs_hook=reject_duplicate_keys, **hooks)


# ---- Files ---------------------------------------------------------------------------------------
def reject_duplicate_keys(pairs):
    """Return an object of JSON; fail if a name stands twice in it."""
    record = dict(pairs)
    need(len(record) == len(pairs), "a name stands twice in one object")
    return record


def integer(text):
    """Return an integer of JSON; Python itself refuses very long ones, in other words."""
    require_decidable(
        len(text) <= MOST_DIGITS + 1, f"an integer has more than {MOST_DIGITS} digits"
    )
    return int(text)


def reject_non_number(text):
    """Refuse NaN and the infinities, which Python's reader of JSON would accept."""
    raise NotImplementedError(f"{text} is no number of JSON")


def read(path):
    """Return what a file holds; raise NotImplementedError if it is no JSON."""
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    require_decidable(len(content) <= LARGEST_FILE, f"has more than {LARGEST_FILE} bytes")
    try:
        text = content.decode("utf-8")
        return parse_json(text)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as reason:
        raise NotImplementedError(f"is no JSON: {reason}") from None


def check_file_contents(path):
    """Yield the verdict on each certificate of a file, and the line on what it is about."""
    record = read(path)
    need(type(record) is dict, "holds no object")
    if "kind" in record:
        yield "holds", check(record)
    elif "release" in record:
        yield from check_release_file(record, path)
    elif record.keys() & {"K", "gamma", "certificate", "utility"}:
        yield from check_gamma_file(record)
    else:
        raise NotImplementedError("there is no certificate")


def verdicts(path):
    """Yield the verdicts and lines of a file, whatever it holds."""
    try:
        yield from check_file_contents(path)
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
        default=100,
        help="of steps for one certificate, about a third of a second each (default 100)",
    )
    chosen = parser.parse_args(None if arguments is None else [str(x) for x in arguments])
    if not chosen.files or chosen.limit < 1:
        parser.print_usage(sys.stderr)
        return 2
    status = 0
    for path in chosen.files:
        steps.allow(chosen.limit * MILLION)
        for word, line in verdicts(path):
            print(f"{word:10} {clean_line(path)}: {clean_line(line)}", flush=True)
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
