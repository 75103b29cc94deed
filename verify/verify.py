#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints a line for each certificate and ends with 1 at the first that does not hold, with 2 where one
could not be checked. Theorems: docs/certificates.md. Integers are fixed point: x is x / ONE.
"""

import json
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


def need(condition, text):
    """What is not proven is a ValueError; what this program cannot tell a NotImplementedError."""
    if not condition:
        raise ValueError(text)


# ---- Numbers -------------------------------------------------------------------------------------
def number(text):
    """An exact number: an integer, "p/q", or a float in hexadecimal such as "0x1.8p-3"."""
    if type(text) is int or re.fullmatch(r"-?\d{1,600}/[1-9]\d{0,600}", str(text)):
        return Fraction(text)
    found = re.fullmatch(r"-?0x[01]\.[0-9a-f]{1,13}p[+-](\d{1,3}|10[01]\d|102[0-2])", str(text))
    need(found, f"{text!r} is no exact number")
    return Fraction(float.fromhex(text))


def count(value, most=99999):
    need(type(value) is int and 0 <= value <= most, f"{value!r}: not an integer in 0..{most}")
    return value


def several(values, kind, length=None):
    need(isinstance(values, list) and length in (None, len(values)), f"not a list of {length}")
    return [kind(value) for value in values]


def fields(record, spec):
    """The values of exactly these fields: name a number, name# a count, name* all else."""
    kinds = {"#": count, "*": lambda value: value}
    names = {name.rstrip("#*"): kinds.get(name[-1], number) for name in spec.split()}
    need(record.keys() == names.keys(), f"the fields must be {spec}")
    return [kind(record[name]) for name, kind in names.items()]


@lru_cache(1 << 14)
def exp(x):
    """Fractions below and above e^x."""
    if x < -2000:
        return Fraction(0), exp(Fraction(-2000))[1]
    if x < 0:
        return tuple(1 / bound for bound in reversed(exp(-x)))
    need(x <= 2000, "an exponent is out of range")
    y = x / 2**20  # below 2^-9; the result is squared 20 times
    low = high = below = above = GUARD
    for n in range(1, 40):
        below, above = floor(below * y / n), ceil(above * y / n)
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
    low = high = below = above = GUARD
    for n in range(1, 1000):  # in the end each term is less than half of the one before
        share = 2 * y * y / (2 * n + 1)
        below, above = floor(below * share), ceil(above * share)
        low, high = low + below, high + above
    least, most = (2 * y * bound / GUARD for bound in exp(-y * y))
    low, high = low * least / (ROOT_OF_PI + Fraction(1, 10**63)), (high + above) * most / ROOT_OF_PI
    return max(1 - high, Fraction(0)), 1 - low


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


def gamma_privacy(body):
    """V[i][b] is G with i of t teachers at h, t - i at 1 - h, b at 1, a = n - b at 0; p' has t - i.
    To first order in D each of the a + b others makes the better of its moves. Second differences
    bound the further orders; where that is too much all moves are tried."""
    K, m, epsilon, Delta, delta, gamma = setting(body, "gamma*")
    gamma = several(gamma, number, K + 1)
    right = gamma == gamma[::-1] and min(gamma) >= 0 and max(gamma) <= 1
    need(right, "gamma must be symmetric around K/2, and lie in [0, 1]")
    V = [[floor(ONE * value) * (1 if 2 * l > K else -1) for l, value in enumerate(gamma)]]
    D, C, growth = ceil(ONE * Delta), floor(ONE * exp(m * epsilon)[0]), exp(epsilon)[1]
    h, weights = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1)), [[ONE]]
    for _ in range(K):  # Pr[Bin(a, D) = r], rounded down, without what is 0 then
        row = mean([0, *weights[-1], 0], ONE - D)
        weights.append(row if row[-1] else row[:-1])
    lost = max(ONE - sum(row) for row in weights)  # rounding moves G by one for each teacher, too
    limit = (C - ONE) * ONE + floor(2 * delta * ONE**2) - (ONE + C) * (K + 1 + 2 * lost + 2)
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
                if f - (-(a * zeros + b * ones) * D - bent * further >> BITS) > limit:
                    right = all_moves(L, R, b, a, C, weights) <= limit
                    need(right, f"not private: {i} teachers at H, {t - i} opposite, {b} at 1")
        V = [mean(V[0], ONE - h)] + [mean(v, h) for v in V]
    return f"K = {K}: a label is ({float(m)} * {float(epsilon)}, {float(delta)})-DP"


def mean(line, h):
    """G with one more teacher who says 1 with probability h / ONE, rounded down."""
    return [((ONE - h) * x + h * y) >> BITS for x, y in pairwise(line)]


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
    chance, total = objective(K, prior), Fraction(0)
    left = [ONE * (chance[l] - chance[K - l]) for l in range(K // 2 + 1, K + 1)]
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
    """E[Pr[l say 1]], l = 0..K, over teachers' p in [low, high]."""
    kind, low, high = fields(prior, "kind* low high")
    need(0 <= low < high <= 1, "a prior's probabilities are 0 <= low < high <= 1")

    def binomial(n, p):
        return [comb(n, l) * p**l * (1 - p) ** (n - l) for l in range(n + 1)]

    if kind == "uniform":  # independent teachers: only the mean counts
        return binomial(K, (low + high) / 2)
    if kind == "common":  # one p for all, by the incomplete beta integral
        tails = [accumulate(binomial(K + 1, p)) for p in (low, high)]
        return [(x - y) / ((K + 1) * (high - low)) for x, y in zip(*tails, strict=True)]
    raise NotImplementedError(f"the utility of prior {kind!r} has no closed form")


# ---- One label -----------------------------------------------------------------------------------
def label(body, epsilon, up):
    """What must not exceed delta, from above (up = 1) or from below (0)."""
    (law,) = fields(body, "law*")
    return f"{law['name']}: a label", Fraction(stick(neighbours(law), epsilon, up), GUARD**2)


def stick(pairs, x, up=1):
    """The largest sum of max(0, P - e^x P') over the labels."""
    growth = floor(exp(x)[0] * GUARD) if up else ceil(exp(x)[1] * GUARD)
    return max(sum(max(0, GUARD * p[up] - growth * q[1 - up]) for p, q in pair) for pair in pairs)


def neighbours(law):
    """Neighbouring inputs in both orders: bounds on both probabilities of each label, in GUARD."""
    name, pairs = law.get("name"), [(0, 1)]
    if name == "table":
        _, rows, pairs = fields(law, "name* rows* pairs*")
        rows = several(rows, lambda row: several(row, lambda x: several(x, number, 2)))
        pairs = several(pairs, lambda x: several(x, lambda y: count(y, len(rows) - 1), 2))
    elif name == "response":  # whatever is (epsilon, delta)-DP loses no more
        _, epsilon, delta = fields(law, "name* epsilon delta")
        true, false = ([(1 - delta) / (1 + y) for y in exp(x)[::-1]] for x in (-epsilon, epsilon))
        rows = [[true, false, (delta, delta), (0, 0)], [false, true, (0, 0), (delta, delta)]]
    else:  # two classes, K teachers, of whom `moved` vote alike and change their votes
        _, K, moved, scale = fields(law, "name* teachers# moved# scale")
        need(1 <= moved <= K and scale > 0, "moved must be 1 to teachers, and scale positive")
        few = [minority(name, abs(2 * l - K) / scale) for l in range(K + 1)]
        rows = [[x, [1 - y for y in x[::-1]]][:: 1 if 2 * l > K else -1] for l, x in enumerate(few)]
        pairs = [(l, l + moved) for l in range(K + 1 - moved)]
    rows = [[(floor(low * GUARD), ceil(high * GUARD)) for low, high in row] for row in rows]
    for row in rows:
        low, high = map(sum, zip(*row, strict=True))
        right = low <= GUARD <= high and all(0 <= x <= y for x, y in row)
        need(right and len(row) == len(rows[0]), "a row is no distribution")
    both = ((rows[i], rows[j]) for x in pairs for i, j in (x, x[::-1]))
    return sorted({tuple(sorted(zip(*pair, strict=True))) for pair in both})


def minority(name, x):
    """Bounds on the chance of the label that lacks `scale` times x votes."""
    if name == "gaussian":  # normal noise on both counts; scale: its standard deviation
        return [bound / 2 for bound in erfc(x / 2)]
    if name == "exponential":  # a class of n votes weighs e^(n / scale)
        return [1 / (1 + bound) for bound in exp(x)[::-1]]
    if name not in ("laplace", "permute_and_flip"):  # noise of density e^(-|z| / scale) / (2 scale)
        raise NotImplementedError(f"no law {name!r} is known here")
    return [bound * (1 + x / 2 if name == "laplace" else 1) / 2 for bound in exp(-x)]


# ---- Many labels with fresh noise, whose inputs an adversary chooses as the labels come ----------
def noisy(body, epsilon, theorem):
    """Noise on counts, each so many `times`, that a neighbour moves by the root of `squared`."""
    rows, *order = fields(body, "releases* order" if theorem == "renyi" else "releases*")
    rows = several(rows, lambda row: fields(row, "noise* times# squared scale"))
    noises = ("gaussian", "laplace") if theorem == "renyi" else (theorem,)
    for noise, _, squared, scale in rows:
        need(noise in noises and squared > 0 and scale > 0, f"wanted is noise of {noises}, above 0")
    costs = [(times, squared / scale**2) for _, times, squared, scale in rows]
    rho = sum(times * cost for times, cost in costs) / 2
    if theorem == "renyi":
        found = exp((order[0] - 1) * (order[0] * rho - epsilon))[1] if order[0] > 1 else 1
    elif theorem == "gaussian":
        root = Fraction(isqrt(ceil(rho * GUARD)) + 1, ONE)
        near, far = ((epsilon + sign * root**2) / (2 * root) for sign in (-1, 1))
        found = (erfc(near)[1] - exp(epsilon)[0] * erfc(far)[0]) / 2
    else:  # n releases of cost c^2 each lose n c
        found = Fraction(len(rows) > 1 or any(n**2 * cost > epsilon**2 for n, cost in costs))
    return f"noise on counts, {sum(times for times, _ in costs)} times", found


def kernel(pairs, step, reach):
    """(first, masses, lost): masses in ONE of the losses first, first + 1, ... steps, and of an
    infinite one. Their stick, lost + the sum of m (1 - e^(x - loss)) over losses above x, is no
    less than that of the pairs at -reach, ..., reach steps, and 1 far below."""
    fall = ceil(ONE * exp(-step)[1])
    dots = [-(-stick(pairs, k * step) >> 384) for k in range(reach, -reach - 1, -1)]
    lost, masses, finite, other = dots[0], [], 0, 0  # other: the sum of m e^(x - loss)
    for dot in dots[1:]:
        other = -(-other * fall >> BITS)
        short = dot - lost - finite + other
        masses.append(-(-short * ONE // (ONE - fall)) if short > SLACK else 0)
        finite, other = finite + masses[-1], other - (-masses[-1] * fall >> BITS)
    return -reach, [max(0, ONE - lost - finite), *masses[::-1]], lost + 2 * SLACK


def added(one, other, below, above):
    """The kernel of both: a product of polynomials, which is one of two long numbers. A loss beyond
    the ends counts as the next larger one."""
    (i, x, lost), (j, y, gone) = one, other
    need(max(sum(x) + lost, sum(y) + gone) < 9 * ONE, "there is too much mass")
    packed = (b"".join(mass.to_bytes(WIDE, "little") for mass in part) for part in (x, y))
    size = WIDE * (len(x) + len(y))
    text = prod(int.from_bytes(part, "little") for part in packed).to_bytes(size, "little")
    z = [-(-int.from_bytes(text[k : k + WIDE], "little") >> BITS) for k in range(0, size, WIDE)]
    low = max(0, -below - i - j)
    z[: low + 1] = [sum(z[: low + 1])]
    first, keep = i + j + low, max(0, above - i - j - low + 1)
    return first, z[:keep], sum(z[keep:]) - (-lost * (sum(y) + gone) - gone * sum(x) >> BITS)


def many(body, epsilon, adaptive):
    """V_0(x) = max(0, 1 - e^epsilon x), V_q+1(x) = max over kernels of the mean of V_q(x e^-loss);
    V_Q(1) is delta. If not adaptive, one kernel above all pairs is composed: that of one label."""
    law, Q, step, reach, below, above = fields(body, "law* labels# step reach# below# above#")
    need(Q >= 1 and step > 0 and reach >= 1, "labels, step and reach must be positive")
    pairs, growth = neighbours(law), ONE * exp(epsilon)[0]
    kernels = [kernel(x, step, reach) for x in ([[x] for x in pairs] if adaptive else [pairs])]
    if not adaptive:
        one = whole = kernels[0]
        for bit in f"{Q:b}"[1:]:
            whole = added(whole, whole, below, above)
            whole = added(whole, one, below, above) if bit == "1" else whole
        kernels, reach = [whole], max(-whole[0], whole[0] + len(whole[1]))
    sparse = [([(k + i, m) for k, m in enumerate(x) if m], lost << BITS) for i, x, lost in kernels]
    V = [max(0, ceil(ONE - growth * exp(k * step)[0])) for k in range(-below, above + 1)]
    for left in range(Q if adaptive else 1, 0, -1):
        V = [ONE] * reach + V + V[-1:] * reach
        places = range(reach, len(V) - reach) if left > 1 else [below + reach]
        sums = (max(sum((m * V[i - k] for k, m in x), lost) for x, lost in sparse) for i in places)
        V = [-(-s >> BITS) for s in sums]
    return f"{Q} labels by {law['name']}", Fraction(V[0], ONE)


# ---- Files ---------------------------------------------------------------------------------------
THEOREMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): (gamma_privacy,),
    ("gamma_utility", "weak_duality"): (gamma_utility,),
    ("label", "hockey_stick"): (label, 1),
    ("label", "counterexample"): (label, 0),
    ("total", "laplace_noise"): (noisy, "laplace"),
    ("total", "gaussian_noise"): (noisy, "gaussian"),
    ("total", "renyi"): (noisy, "renyi"),
    ("total", "loss_distribution"): (many, False),
    ("total", "backward_induction"): (many, True),
}


def certificates(path):
    """The certificates of a file, which must be about the numbers that are beside them."""
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    for body in record.get("certificates", []):
        for name in {"K", "m", "epsilon", "Delta", "delta", "gamma"} & body.keys() & record.keys():
            pair = (x if isinstance(x, list) else [x] for x in (body[name], record[name]))
            ours, theirs = map(number, next(pair)), map(Fraction, next(pair))
            need([*ours] == [*theirs], f"{name} is not that of the file")
    return record.get("certificates") or [record]


def check(body):
    """One line on what is proven; ValueError, or any other error, where it is not."""
    rest = dict(body)
    kind, theorem, page = (rest.pop(name, None) for name in ("kind", "theorem", "proof"))
    if (kind, theorem) not in THEOREMS:
        raise NotImplementedError(rest.get("why", f"no proof of {kind!r} by {theorem!r} is known"))
    need(page == f"docs/certificates.md#{theorem.replace('.', '')}", "its proof is elsewhere")
    prove, *given = THEOREMS[kind, theorem]
    if not given:
        return f"{kind}, {theorem}: {prove(rest)}"
    epsilon, delta = number(rest.pop("epsilon")), number(rest.pop("delta"))
    subject, found = prove(rest, epsilon, *given)
    holds, claim = theorem != "counterexample", f"({float(epsilon)}, {float(delta)})-DP"
    need(epsilon >= 0 and (found <= delta) is holds, f"delta is about {float(found):.17g}")
    return f"{kind}, {theorem}: {subject}: {'' if holds else 'not '}{claim}"


def main(paths):
    status = 0
    for path in paths:
        try:
            for body in certificates(path):
                try:
                    word, line = "holds", check(body)
                except NotImplementedError as reason:
                    word, line, status = "unchecked", reason, 2
                print(f"{word:10} {path}: {line}", flush=True)
        except Exception as reason:  # what cannot be read proves nothing
            print(f"FAILS      {path}: {reason}")
            return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
