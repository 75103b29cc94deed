#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints a line for each certificate and ends with 1 at the first that does not hold, with 2 where one
could not be checked. It shares no code with private_ensembles. Theorems: docs/certificates.md. All
arithmetic is on integers (fixed point: x stands for x / ONE) and fractions. Where a real number has
no finite form, two fractions enclose it, and each place says which of them is safe.
"""

import json
import re
import sys
from bisect import bisect
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise
from math import ceil, comb, floor, inf
from operator import mul

BITS = 128
ONE = 1 << BITS
GUARD = 1 << 256  # working precision of the elementary functions
ROOT_OF_PI = Fraction(1772453850905516027298167483341145182797549456122387128213807789, 10**63)


def need(condition, text):
    """What is not proven is a ValueError; what this program cannot tell a NotImplementedError."""
    if not condition:
        raise ValueError(text)


# ---- Numbers -------------------------------------------------------------------------------------
def number(text):
    """An exact number: an integer, "p/q", or a hexadecimal float such as "0x1.8p-3"."""
    if type(text) is int or re.fullmatch(r"-?\d{1,600}/[1-9]\d{0,600}", str(text)):
        return Fraction(text)
    found = re.fullmatch(r"(-?)0x([01])(?:\.([0-9a-f]{1,40}))?p([+-]\d{1,4})", str(text))
    need(found, f"{text!r} is no exact number")
    sign, whole, digits, power = found.groups(default="")
    value = int(whole + digits, 16) * Fraction(16) ** -len(digits) * Fraction(2) ** int(power)
    return -value if sign else value


def count(value, most=9999):
    need(type(value) is int and 0 <= value <= most, f"{value!r}: not an integer in 0..{most}")
    return value


def several(values, kind, length=None):
    need(isinstance(values, list) and length in (None, len(values)), f"not a list of {length}")
    return [kind(value) for value in values]


def fields(record, spec):
    """The values of exactly these fields: name a number, name# a count, name* all else. What nobody
    checks must not stand in a certificate."""
    kinds = {"#": count, "*": lambda value: value}
    names = {name.rstrip("#*"): kinds.get(name[-1], number) for name in spec.split()}
    need(record.keys() == names.keys(), f"the fields must be {spec}")
    return [kind(record[name]) for name, kind in names.items()]


def exp(x):
    """Fractions below and above e^x."""
    need(abs(x) <= 2000, "an exponent is out of range")
    if x < 0:
        return tuple(1 / bound for bound in reversed(exp(-x)))
    y = x / 2**20  # below 2^-9; the result is squared 20 times
    low = high = below = above = GUARD
    for n in range(1, 40):
        below, above = floor(below * y / n), ceil(above * y / n)
        low, high = low + below, high + above
    high += above  # all further terms together are less than the last one
    for _ in range(20):
        low, high = low * low // GUARD, -(-high * high // GUARD)
    return Fraction(low, GUARD), Fraction(high, GUARD)


def erfc(y):
    """Fractions below and above erfc(y) = 1 - erf(y), y >= 0, where erf(y) is
    2 y / sqrt(pi) e^(-y^2) times the sum over n of 2^n y^(2n) / (1 * 3 * ... * (2n + 1))."""
    if y > 12:  # erfc(y) <= e^(-y^2), which falls
        return Fraction(0), exp(Fraction(-144))[1]
    low = high = below = above = GUARD
    for n in range(1, 1000):  # in the end each term is less than half of the one before
        share = 2 * y * y / (2 * n + 1)
        below, above = floor(below * share), ceil(above * share)
        low, high = low + below, high + above
    least, most = (2 * y * bound / GUARD for bound in exp(-y * y))
    low, high = low * least / (ROOT_OF_PI + Fraction(1, 10**63)), (high + above) * most / ROOT_OF_PI
    return max(1 - high, Fraction(0)), 1 - low


# ---- DaRRM's noise function: privacy -------------------------------------------------------------
# K teachers, each (epsilon, Delta)-DP; g(l) = sign(l - K/2) gamma(l); G(p) = E g(L), L the number
# of ones. With C = e^(m epsilon), DaRRM is (m epsilon, delta)-DP if and only if
#     f = G(p) - C G(p') <= C - 1 + 2 delta
# for all teachers at corners (p, p') of the feasible region: (0,0), (1,1), (0,D), (D,0), (1-D,1),
# (1,1-D), (h,1-h), (1-h,h), h = (e^epsilon + D) / (e^epsilon + 1). [DaRRM, Lemmas 3.4 and 5.1] A
# smaller C is safe: the condition reads G(p) + 1 - 2 delta <= C (1 + G(p')). Larger h and D, too:
# they enlarge the region, and f is linear in each teacher's (p, p').
def setting(body, further):
    K, m, epsilon, Delta, delta, *rest = fields(body, "K# m epsilon Delta delta " + further)
    right = K % 2 and 1 <= m <= K and epsilon > 0 and 0 <= 2 * Delta < 1 and 0 <= delta < 1
    need(right, "K must be odd, 1 <= m <= K, epsilon > 0, Delta in [0, 1/2), delta in [0, 1)")
    return K, m, epsilon, Delta, delta, *rest


def gamma_privacy(body):
    K, m, epsilon, Delta, delta, gamma = setting(body, "gamma*")
    gamma = several(gamma, number, K + 1)
    need(gamma == gamma[::-1], "gamma is not symmetric around K/2")
    need(min(gamma) >= 0 and max(gamma) <= 1, "gamma must lie in [0, 1]")
    g = [floor(ONE * value) * (1 if 2 * l > K else -1) for l, value in enumerate(gamma)]
    D, C, growth = ceil(ONE * Delta), floor(ONE * exp(m * epsilon)[0]), exp(epsilon)[1]
    h = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    weights, lost = binomials(K, D)
    limit = (C - ONE) * ONE + floor(2 * delta * ONE * ONE)
    # Rounding moves G by at most one for gamma and one for each teacher; see also `binomials`.
    limit -= (ONE + C) * (K + 1 + 2 * lost + 2)
    spare = Fraction(limit - eight_corners(K, g, h, C, D, limit, weights), ONE**2)
    claim = f"({float(m)} * {float(epsilon)}, {float(delta)})-DP"
    return f"K = {K}: a label is {claim}, {float(spare):.1e} to spare"


def binomials(K, D):
    """Pr[Bin(a, D) = r], a = 0..K, for the first r, rounded down; and the most that a row lacks: a
    sum of weights times numbers in [-1, 1] is off by no more."""
    rows, terms = [[ONE]], 1
    while D and terms <= K and comb(K, terms) * D**terms >> (BITS * terms - 75):
        terms += 1
    for a in range(1, K + 1):
        last, size = [*rows[-1], 0], range(min(a + 1, terms))
        rows.append([(last[r] * (ONE - D) + (last[r - 1] * D if r else 0)) >> BITS for r in size])
    return rows, max(ONE - sum(row) for row in rows)


def eight_corners(K, g, h, C, D, limit, weights):
    """The largest f over all corners, or a bound on it, which must not exceed the limit.
    V[i][b] is G with i of t teachers at h, t - i at 1 - h, b at 1 and a = n - b at 0; p' has t - i.
    To first order in D each of the a + b others makes the better of its moves. The further orders
    are bounded (`beyond`), roughly and then closely; where that is too much all moves are tried."""
    worst, V = -inf, [g]
    for t in range(K + 1):
        n, sizes = K - t, shares(K - t, Fraction(D, ONE))
        for i in range(t + 1):
            L, R = V[i], V[t - i]
            rough = beyond(L, R, 0, sizes, C, 1)
            for b in range(n + 1):
                a, f = n - b, L[b] * ONE - C * R[b]
                zeros = max(0, (L[b + 1] - L[b]) * ONE, C * (R[b] - R[b + 1])) if a else 0
                ones = max(0, (L[b - 1] - L[b]) * ONE, C * (R[b] - R[b - 1])) if b else 0
                f -= -(a * zeros + b * ones) * D >> BITS
                f += rough if f + rough <= limit else beyond(L, R, b, sizes, C, 5)
                if f > limit:
                    f = all_moves(L, R, b, a, C, weights)
                    need(f <= limit, f"not private: {i} teachers at H, {t - i} opposite, {b} at 1")
                worst = max(worst, f)
        V = [mean(V[0], ONE - h)] + [mean(v, h) for v in V]
    return worst


def mean(line, h):
    """G with one more teacher who says 1 with probability h / ONE, rounded down."""
    return [((ONE - h) * x + h * y) >> BITS for x, y in pairwise(line)]


def shares(n, D):
    """For r = 0..5: binom(n, r) D^r, and the sum over s > r of binom(n, s) D^s 2^(s - r - 1)."""
    rest, found = (1 + 2 * D) ** n, []
    for r in range(6):
        rest -= comb(n, r) * (2 * D) ** r
        found.append((ceil(ONE * comb(n, r) * D**r), ceil(ONE * rest / 2 ** (r + 1))))
    return found


def beyond(L, R, b, sizes, C, last):
    """A bound on what the orders of D from 2 on add to f [docs/method.md, section 4].
    That of order r is at most binom(n, r) D^r times the largest difference of order r near b, with
    its sign; a difference of order s is at most 2^(s - r) times the largest of order r."""
    bound = 0
    for r in range(1, last + 1):
        L, R = ([y - x for x, y in pairwise(line)] for line in (L, R))
        if r > 1:
            near = [(b - k, 1 - k % 2 * 2) for k in range(r + 1) if 0 <= b - k < len(L)]
            best = max((max(s * L[x] * ONE, -s * R[x] * C) for x, s in near), default=0)
            bound -= -max(0, best) * sizes[r][0] >> BITS
    ours, theirs = (max((abs(y - x) for x, y in pairwise(v)), default=0) for v in (L, R))
    return bound - (-max(ours * ONE, theirs * C) * sizes[last][1] >> BITS)


def all_moves(L, R, b, a, C, weights):
    """The largest f = P(x, y) - C Q(x', y') if x of a zeros and y of b ones move on the side of p,
    x' and y' on that of p', x + x' <= a and y + y' <= b."""
    starts = [b - s for s in range(min(b + 1, len(weights[-1])))]

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
    D, C, growth = floor(ONE * Delta), exp(m * epsilon)[1], exp(epsilon)[0]  # a larger C is implied
    h = floor(ONE * (growth + Fraction(D, ONE)) / (growth + 1))  # inside of the region, as is D
    p, q = [0, ONE, 0, D, ONE - D, ONE, h, ONE - h], [0, ONE, D, 0, ONE, ONE - D, ONE - h, h]
    left, total = [value * ONE for value in objective(K, prior)], Fraction(0)
    for counts, y in several(rows, lambda row: fields(row, "teachers* multiplier")):
        counts = several(counts, count, 8)
        need(sum(counts) == K and y >= 0, "a row places K teachers, with a multiplier >= 0")
        P, Q = pmf(counts, p), pmf(counts, q)
        for k, l in enumerate(range(K // 2 + 1, K + 1)):
            left[k] -= y * (P[l] - P[K - l] - C * (Q[l] - Q[K - l]))
        total += y
    # Rounding takes at most K off a probability, so that a row may be K (1 + C) too large.
    bound = total * (C - 1 + 2 * delta)
    bound += sum(max(Fraction(0), value + total * K * (1 + C)) for value in left) / ONE
    need(bound <= claim, f"the multipliers prove no less than {float(bound):.17g}")
    return f"K = {K}: no private gamma has a utility above {float(claim)}"


def pmf(counts, chances):
    """Pr[l teachers say 1], l = 0..K, rounded down by at most one for each teacher."""
    row = [ONE]
    for size, p in zip(counts, chances, strict=True):
        for _ in range(size):
            row = mean([0, *row, 0], ONE - p)
    return row


def objective(K, prior):
    """E[Pr[l say 1] - Pr[K - l say 1]], l = (K+1)/2..K, over teachers' p in [low, high]."""
    kind, low, high = fields(prior, "kind* low high")
    need(0 <= low < high <= 1, "a prior's probabilities are 0 <= low < high <= 1")

    def binomial(n, p):
        return [comb(n, l) * p**l * (1 - p) ** (n - l) for l in range(n + 1)]

    if kind == "uniform":  # independent teachers: only the mean counts
        chance = binomial(K, (low + high) / 2)
    elif kind == "common":  # one p for all, by the incomplete beta integral
        tails = [list(accumulate(binomial(K + 1, p))) for p in (low, high)]
        chance = [(x - y) / ((K + 1) * (high - low)) for x, y in zip(*tails, strict=True)]
    else:
        raise NotImplementedError(f"the utility of prior {kind!r} has no closed form")
    return [chance[l] - chance[K - l] for l in range(K // 2 + 1, K + 1)]


# ---- One label -----------------------------------------------------------------------------------
def label(body, holds=True):
    """(epsilon, delta)-DP is: the sum over labels of max(0, P - e^epsilon P') <= delta for all
    neighbouring inputs. holds: that it is so; else that it is not so."""
    law, epsilon, delta = fields(body, "law* epsilon delta")
    up, down = int(holds), int(not holds)  # bounds that make the sum larger, or smaller
    pairs, growth = neighbours(law), exp(epsilon)[down]
    found = max(sum(max(0, p[up] - growth * q[down]) for p, q in pair) for pair in pairs)
    need(epsilon >= 0 and (found <= delta) is holds, f"delta is about {float(found):.17g}")
    return f"{law['name']}: it is{' not' * down} ({float(epsilon)}, {float(delta)})-DP"


def neighbours(law):
    """Neighbouring inputs in both orders: for each label the bounds on its two probabilities."""
    name = law.get("name") if isinstance(law, dict) else None
    if name == "table":
        _, rows, pairs = fields(law, "name* rows* pairs*")
        rows = several(rows, lambda row: several(row, lambda x: several(x, number, 2)))
        for row in rows:
            low, high = map(sum, zip(*row, strict=True))
            right = low <= 1 <= high and all(0 <= x <= y for x, y in row)
            need(right and len(row) == len(rows[0]), "a row is no distribution")
        pairs = several(pairs, lambda x: several(x, lambda y: count(y, len(rows) - 1), 2))
    else:  # two classes, K teachers; one vote moves
        _, K, scale = fields(law, "name* teachers# scale")
        need(K >= 1 and scale > 0, "teachers and scale must be positive")
        few = (minority(name, abs(2 * l - K) / scale) for l in range(K + 1))
        rows = [[x, (1 - x[1], 1 - x[0])][:: 1 if 2 * l > K else -1] for l, x in enumerate(few)]
        pairs = [(l, l + 1) for l in range(K)]
    return [list(zip(rows[i], rows[j], strict=True)) for x in pairs for i, j in (x, x[::-1])]


def minority(name, x):
    """Bounds on the chance of the label that lacks `scale` times x votes."""
    if name == "gaussian":  # normal noise on both counts; scale: its standard deviation
        return [bound / 2 for bound in erfc(x / 2)]
    if name == "laplace":  # noise of density e^(-|z| / scale) / (2 scale) on both counts
        return [bound * (1 + x / 2) / 2 for bound in exp(-x)]
    if name == "exponential":  # a class of n votes weighs e^(n / scale)
        return [1 / (1 + bound) for bound in reversed(exp(x))]
    if name == "permute_and_flip":
        return [bound / 2 for bound in exp(-x)]
    raise NotImplementedError(f"no law {name!r} is known here")


# ---- Many labels with fresh noise, whose inputs an adversary chooses as the labels come ----------
def homogeneous(body):
    """Kairouz, Oh and Viswanath 2017, Theorem 3.3, of Q labels known to be (each, leak)-DP."""
    Q, each, leak, epsilon, delta = fields(body, "labels# label_epsilon label_delta epsilon delta")
    need(Q >= 1 and each >= 0 and epsilon >= 0 and 0 <= leak <= 1, "a number is out of range")
    often, rare = ([floor(ONE / (1 + y)), ceil(ONE / (1 + x))] for x, y in map(exp, (-each, each)))
    growth, found = exp(epsilon)[0], Fraction(0)
    for l in range(Q + 1):
        less = growth * often[0] ** (Q - l) * rare[0] ** l
        found += comb(Q, l) * max(0, often[1] ** l * rare[1] ** (Q - l) - less)
    found = 1 - (1 - leak) ** Q * (1 - min(1, found / ONE**Q))
    need(found <= delta, f"delta is {float(found):.17g}")
    return f"{Q} labels are ({float(epsilon)}, {float(delta)})-DP"


def induction(body):
    """V_0(x) = max(0, 1 - e^epsilon x), V_q+1(x) = max over pairs of sum P V_q(x P' / P); V_Q(1) is
    delta [docs/many-labels.md]. V falls and is convex, V(0) = 1: its chords lie above it."""
    law, *given = fields(body, "law* labels# epsilon delta step below# above#")
    Q, epsilon, delta, step, below, above = given
    need(Q >= 1 and step > 0 and epsilon >= 0, "labels >= 1, step > 0 and epsilon >= 0 are wanted")
    ratio, growth = floor(ONE * exp(step)[0]), exp(epsilon)[0]
    down = list(accumulate(range(below), lambda x, _: x * ONE // ratio, initial=ONE))
    up = accumulate(range(above), lambda x, _: x * ratio >> BITS, initial=ONE)
    grid = [0, *down[:0:-1], *up]
    V = [max(0, ceil(ONE - growth * x)) for x in grid]

    def place(x, p, ratio):  # P, a piece of the grid, and where in it x P' / P is
        y = x * ratio >> BITS
        k = min(bisect(grid, y), len(grid) - 1)
        return p, k, min(ONE, (y - grid[k - 1]) * ONE // (grid[k] - grid[k - 1]))

    pairs = [[(p, q) for (_, p), (q, _) in pair if p] for pair in neighbours(law)]  # up, down
    pairs = [[(ceil(ONE * p), floor(ONE * q / p)) for p, q in pair] for pair in pairs]
    plans = [[[place(x, *pq) for pq in pair] for pair in pairs] for x in grid[1:]]
    for _ in range(Q):
        falls, after = [v - w for v, w in pairwise(V)], [ONE]
        for plan in plans:
            sums = (sum(p * (V[k - 1] - (falls[k - 1] * z >> BITS)) for p, k, z in x) for x in plan)
            after.append(min(ONE, -(-max(sums) >> BITS)))
        V = list(accumulate(reversed(after), max))[::-1]
    need(V[below + 1] <= delta * ONE, f"delta is about {V[below + 1] / ONE:.17g}")
    return f"{Q} labels by {law['name']} are ({float(epsilon)}, {float(delta)})-DP"


# ---- Files ---------------------------------------------------------------------------------------
THEOREMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): gamma_privacy,
    ("gamma_utility", "weak_duality"): gamma_utility,
    ("label", "hockey_stick"): label,
    ("label", "counterexample"): partial(label, holds=False),
    ("total", "optimal_homogeneous"): homogeneous,
    ("total", "backward_induction"): induction,
}


def certificates(path):
    """The certificates of a file, which must be about the numbers that stand beside them."""
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    bodies = record.get("certificates", [record])
    for body in bodies if bodies[0] is not record else []:
        for name in {"K", "m", "epsilon", "Delta", "delta", "gamma"} & body.keys() & record.keys():
            pair = (x if isinstance(x, list) else [x] for x in (body[name], record[name]))
            ours, theirs = map(number, next(pair)), map(Fraction, next(pair))
            need(list(ours) == list(theirs), f"{name} is not that of the file")
    return bodies


def check(body):
    """One line on what is proven; ValueError, or any other error, where it is not."""
    rest = dict(body)
    name = rest.pop("kind", None), rest.pop("theorem", None)
    if name not in THEOREMS:
        raise NotImplementedError(f"no proof of {name[0]!r} by {name[1]!r} is known here")
    return f"{name[0]}: {THEOREMS[name](rest)}"


def main(paths):
    status = 0
    for path in paths:
        try:
            for body in certificates(path):
                print(f"holds      {path}: {check(body)}", flush=True)
        except NotImplementedError as reason:
            print(f"unchecked  {path}: {reason}")
            status = 2
        except Exception as reason:  # what cannot be read proves nothing
            print(f"FAILS      {path}: {reason}")
            return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
