#!/usr/bin/env python3
"""Check certificates of privacy with Python's standard library alone.

    python verify/verify.py results/darrm/gamma/*.json

prints one line for each certificate and exits with 1 at the first that does not hold, or with 2
where something could not be checked. It shares no code with private_ensembles. What is proven, and
by which theorem: docs/certificates.md. All arithmetic is on integers and fractions. Where a real
number has no finite form (an exponential, say), two numbers enclose it, and each place says which
of them is safe. Fixed point means integers that stand for multiples of 1 / ONE.
"""

import json
import re
import sys
from fractions import Fraction
from math import ceil, comb, floor, isqrt

BITS = 128
ONE = 1 << BITS
GUARD = 1 << 256  # working precision of the elementary functions
PATIENCE = 60_000_000  # steps of a few microseconds; --patient lifts the limit


class Fails(Exception):
    """The claim is not proven; the text says where."""


class Unchecked(Exception):
    """This program cannot tell; the text says why."""


# ---- Numbers and files ---------------------------------------------------------------------------


def number(text):
    """An exact number: an integer, "p/q", or a hexadecimal float such as "0x1.8p-3"."""
    if isinstance(text, int) and not isinstance(text, bool):
        return Fraction(text)
    text = str(text)
    if re.fullmatch(r"-?\d{1,600}/[1-9]\d{0,600}", text):
        return Fraction(text)
    found = re.fullmatch(r"(-?)0x([01])(?:\.([0-9a-f]{1,40}))?p([+-]?\d{1,4})", text)
    if not found:
        raise Fails(f"{text!r} is no exact number")
    sign, whole, digits, power = found.groups()
    value = Fraction(int(whole + (digits or ""), 16), 16 ** len(digits or ""))
    return (-value if sign else value) * Fraction(2) ** int(power)


def numbers(texts, length):
    if not isinstance(texts, list) or len(texts) != length:
        raise Fails(f"a list of {length} numbers is wanted")
    return [number(text) for text in texts]


def whole(value, least, most=10**6):
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Fails(f"{value!r} must be an integer in {least}..{most}")
    return value


def fields(record, *names):
    """The values of exactly these fields: what nobody checks must not stand in a certificate."""
    if not isinstance(record, dict) or set(record) != set(names):
        raise Fails(f"the fields must be {', '.join(names)}")
    return [record[name] for name in names]


def once(pairs):
    if len({name for name, _ in pairs}) < len(pairs):
        raise Fails("a field is given twice")
    return dict(pairs)


# ---- Elementary functions between two fractions --------------------------------------------------


def exp(x):
    """Fractions below and above e^x, relative distance below 2^-200 for |x| <= 2000."""
    x = Fraction(x)
    if abs(x) > 2000:
        raise Fails(f"an exponent of {float(x):.6g} is out of range")
    if x < 0:
        low, high = exp(-x)
        return 1 / high, 1 / low
    y = x / 2**20  # below 2^-9; the result is squared 20 times
    low = high = term_low = term_high = GUARD
    for n in range(1, 40):
        term_low = floor(term_low * y / n)
        term_high = ceil(term_high * y / n)
        low, high = low + term_low, high + term_high
    high += term_high  # all further terms together are less than the last one
    for _ in range(20):
        low, high = low * low // GUARD, -(-high * high // GUARD)
    return Fraction(low, GUARD), Fraction(high, GUARD)


def arctan_of_inverse(n):
    """Fractions below and above arctan(1 / n): the series alternates, its terms shrink."""
    value, k = Fraction(0), 0
    while n ** (2 * k + 1) < GUARD:
        value += Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1))
        k += 1
    other = value + Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1))
    return min(value, other), max(value, other)


def root_of_pi():
    """Fractions below and above sqrt(pi), by Machin's formula."""
    five, large = arctan_of_inverse(5), arctan_of_inverse(239)
    low, high = 16 * five[0] - 4 * large[1], 16 * five[1] - 4 * large[0]
    return (
        Fraction(isqrt(floor(low * GUARD * GUARD)), GUARD),
        Fraction(isqrt(ceil(high * GUARD * GUARD)) + 1, GUARD),
    )


def erfc(y):
    """Fractions below and above erfc(y), y >= 0, absolute distance below 2^-100.

    erf(y) = 2 / sqrt(pi) e^(-y^2) sum of 2^n y^(2n+1) / (1 * 3 * ... * (2n+1)), all terms positive.
    """
    if y > 12:
        return Fraction(0), exp(-min(y * y, 2000))[1]
    low = high = term_low = term_high = 0
    n, share = 0, Fraction(1)
    while share > Fraction(1, 2) or term_high > 1 or n == 0:
        share = 2 * y * y / (2 * n + 1) if n else y
        term_low = floor(term_low * share) if n else floor(GUARD * y)
        term_high = ceil(term_high * share) if n else ceil(GUARD * y)
        share = share if n else Fraction(1)
        low, high, n = low + term_low, high + term_high, n + 1
    high += term_high  # from here on each term is at most half of the one before
    decay, root = exp(-y * y), root_of_pi()
    erf = 2 * decay[0] * low / GUARD / root[1], 2 * decay[1] * high / GUARD / root[0]
    return max(1 - erf[1], Fraction(0)), min(1 - erf[0], Fraction(1))


# ---- DaRRM's noise function: privacy -------------------------------------------------------------
#
# K teachers, each (epsilon, Delta)-DP; g(l) = sign(l - K/2) gamma(l); G(p) = E g(L), L the number of
# ones. With C = e^(m epsilon), DaRRM is (m epsilon, delta)-DP if and only if
#     f = G(p) - C G(p') <= C - 1 + 2 delta
# for all teachers at corners (p, p') of the feasible region: (0,0), (1,1), (0,D), (D,0), (1-D,1),
# (1,1-D), (h,1-h), (1-h,h), h = (e^epsilon + D) / (e^epsilon + 1). [DaRRM, Lemmas 3.4 and 5.1]
# A smaller C is safe, since the condition reads G(p) + 1 - 2 delta <= C (1 + G(p')). Larger h and D
# are safe, since they enlarge the region, in each point of which f is linear.


def setting(K, m, epsilon, Delta, delta):
    K = whole(K, 1, 10**4)
    m, epsilon, Delta, delta = (number(value) for value in (m, epsilon, Delta, delta))
    if K % 2 == 0 or not (1 <= m <= K and 0 < epsilon and 0 <= Delta < Fraction(1, 2)):
        raise Fails("K must be odd, 1 <= m <= K, epsilon > 0, 0 <= Delta < 1/2")
    if not 0 <= delta < 1 or m * epsilon > 690:
        raise Fails("delta must be in [0, 1) and m epsilon at most 690")
    return K, m, epsilon, Delta, delta


def gamma_privacy(body):
    names = "teachers", "m", "epsilon", "Delta", "delta", "gamma"
    *given, gamma = fields(body, "kind", "theorem", *names)[2:]
    K, m, epsilon, Delta, delta = setting(*given)
    gamma = numbers(gamma, K + 1)
    if gamma != gamma[::-1] or not all(0 <= value <= 1 for value in gamma):
        raise Fails("gamma must be symmetric around K/2, with values in [0, 1]")
    half = gamma[(K + 1) // 2 :]
    g = [-floor(ONE * value) for value in half[::-1]] + [floor(ONE * value) for value in half]
    D = ceil(ONE * Delta)
    growth = exp(epsilon)[1]
    h = ceil(ONE * (growth + Fraction(D, ONE)) / (growth + 1))
    C = floor(ONE * exp(m * epsilon)[0])
    # Rounding gamma and every mean down makes G too small by at most K + 1, and 1 - h > 0.
    limit = (C - ONE) * ONE + floor(2 * delta * ONE * ONE) - (K + 1) * ONE
    weights, lost = binomials(K, D)
    limit -= (ONE + C) * (2 * lost + 2)  # of every weighted sum below
    if body["theorem"] == "three_corners":
        if half != sorted(half):
            raise Fails("three corners suffice for gamma that never falls with |l - K/2| only")
        worst = three_corners(K, g, h, C, limit, weights)
    elif body["theorem"] == "eight_corners":
        worst = eight_corners(K, g, h, C, D, limit, weights)
    else:
        raise Fails(f"unknown theorem {body['theorem']!r}")
    spare = Fraction(limit - worst, ONE * ONE)
    return (
        f"K = {K}, m = {float(m):g}: ({float(m * epsilon):.6g}, {float(delta):.6g})-DP with teachers "
        f"of ({float(epsilon):.6g}, {float(Delta):.6g}), {float(spare):.2e} to spare"
    )


def binomials(K, D):
    """Rows a = 0..K of Pr[Bin(a, D) = r] for the first r, rounded down, and the most that a row lacks.

    A sum of weights times numbers in [-1, 1] is off by at most what the weights lack.
    """
    rows, terms = [[ONE]], 1
    while D and terms <= K and comb(K, terms) * D**terms >> (BITS * terms - 75):
        terms += 1
    for a in range(1, K + 1):
        last = rows[-1] + [0]
        size = range(min(a + 1, terms))
        rows.append([(last[r] * (ONE - D) + (last[r - 1] * D if r else 0)) >> BITS for r in size])
    return rows, max(ONE - sum(row) for row in rows)


def mean(line, h):
    """One more teacher who says 1 with probability h / ONE, rounded down."""
    rest = ONE - h
    return [(rest * x + h * y) >> BITS for x, y in zip(line, line[1:])]


def three_corners(K, g, h, C, limit, weights):
    """The largest f with all teachers at (D,0), (h,1-h) and (1,1-D), up to what `limit` allows for."""
    worst, up, down = -ONE * ONE * ONE, g, g
    for i in range(K + 1):
        for b in range(K - i + 1):
            left = sum(w * x for w, x in zip(weights[K - i - b], up[b:]))
            right = sum(w * x for w, x in zip(weights[b], reversed(down[: b + 1])))
            f = left - C * (right >> BITS)
            if f > worst:
                worst, place = f, (i, b)
        up, down = mean(up, h), mean(down, ONE - h)
    if worst > limit:
        raise Fails(f"not private: {place[0]} teachers at H, {place[1]} at (1, 1-Delta)")
    return worst


def eight_corners(K, g, h, C, D, limit, weights):
    """The largest f over all corners, up to what `limit` allows for.

    V[i][b] is G with i of t teachers at h, t - i at 1 - h, b at 1 and a = n - b at 0; p' has V[t - i].
    To first order in D each of the a + b others makes the best of its two moves. The term of order
    r >= 2 is at most C(n, r) D^r C 2^(r-2) M, M the largest second difference: in sum, with C M as
    `bend`, bend ((1 + 2D)^n - 1 - 2nD) / 4. Only where that exceeds the limit all moves are tried.
    """
    worst, spent, V = -ONE * ONE * ONE, 0, [g]
    powers = [ONE]
    for _ in range(K):
        powers.append(-(-powers[-1] * (ONE + 2 * D) >> BITS))
    for t in range(K + 1):
        n = K - t
        beyond = powers[n] - ONE - 2 * n * D if n > 1 else 0
        bends = [max((abs(x - 2 * y + z) for x, y, z in zip(v, v[1:], v[2:])), default=0) for v in V]
        for i in range(t + 1):
            L, R = V[i], V[t - i]
            higher = (max(ONE * bends[i], C * bends[t - i]) * beyond >> (BITS + 2)) + 1
            for b in range(n + 1):
                a = n - b
                f = L[b] * ONE - C * R[b]
                if D:
                    first = 0
                    if a:
                        first += a * max(0, (L[b + 1] - L[b]) * ONE, C * (R[b] - R[b + 1]))
                    if b:
                        first += b * max(0, (L[b - 1] - L[b]) * ONE, C * (R[b] - R[b - 1]))
                    bound = f + (first * D >> BITS) + 1 + higher
                    if bound > limit:
                        spent += (a + 1) * (b + 1) * len(weights[-1])
                        if spent > PATIENCE:
                            raise Unchecked("takes long: too many moves by Delta; use --patient")
                        f = all_moves(L, R, b, a, C, weights)
                    else:
                        f = bound
                if f > worst:
                    worst = f
                    if f > limit:
                        raise Fails(f"not private: {i} teachers at H, {t - i} opposite, {b} at 1")
        V = [mean(V[0], ONE - h)] + [mean(v, h) for v in V]
    return worst


def all_moves(L, R, b, a, C, weights):
    """The largest f = P(x, y) - C Q(x', y'): x of a zeros and y of b ones move on the side of p,
    x' and y' on that of p', x + x' <= a, y + y' <= b."""

    def moved(line):
        table = []
        for x in range(a + 1):
            few = weights[x]
            near = [
                sum(w * v for w, v in zip(few, line[b - s :])) >> BITS
                for s in range(min(b + 1, len(weights[-1])))
            ]
            table.append([sum(w * v for w, v in zip(row, near)) for row in weights[: b + 1]])
        return table

    P, Q = moved(L), [[-C * (v >> BITS) for v in row] for row in moved(R)]
    for x in range(a + 1):  # the largest for at most x and at most y
        for y in range(b + 1):
            if y:
                Q[x][y] = max(Q[x][y], Q[x][y - 1])
            if x:
                Q[x][y] = max(Q[x][y], Q[x - 1][y])
    return max(p + q for row, other in zip(P, Q[::-1]) for p, q in zip(row, other[::-1]))


# ---- DaRRM's noise function: no private one is better --------------------------------------------


def gamma_utility(body):
    """Weak duality: every private gamma keeps row . gamma <= C - 1 + 2 delta at any teachers inside
    of the region, so its utility is at most y . right + sum over l of max(0, c - y . rows)."""
    names = "teachers", "m", "epsilon", "Delta", "delta"
    *given, prior, rows, utility = fields(
        body, "kind", "theorem", *names, "prior", "rows", "utility_upper_bound"
    )[2:]
    K, m, epsilon, Delta, delta = setting(*given)
    if body["theorem"] != "weak_duality":
        raise Fails(f"unknown theorem {body['theorem']!r}")
    D, growth = floor(ONE * Delta), exp(epsilon)[0]
    h = floor(ONE * (growth + Fraction(D, ONE)) / (growth + 1))  # inside of the region
    C = exp(m * epsilon)[1]  # a larger C is implied
    corners = [(0, 0), (ONE, ONE), (0, D), (D, 0), (ONE - D, ONE), (ONE, ONE - D)]
    corners += [(h, ONE - h), (ONE - h, h)]
    left = [value * ONE for value in objective(K, prior)]
    bound, weight = Fraction(0), Fraction(0)
    if not isinstance(rows, list):
        raise Fails("rows must be a list")
    for row in rows:
        counts, y = fields(row, "teachers", "multiplier")
        y, counts = number(y), [whole(count, 0, K) for count in counts]
        if y < 0 or len(counts) != 8 or sum(counts) != K:
            raise Fails("a row has eight numbers of teachers, K in sum, and a multiplier >= 0")
        P, Q = (pmf(counts, [corner[side] for corner in corners]) for side in (0, 1))
        for k in range(len(left)):
            l = (K + 1) // 2 + k
            left[k] -= y * (P[l] - P[K - l] - C * (Q[l] - Q[K - l]))
        bound += y * (C - 1 + 2 * delta)
        weight += y
    # A probability is too small by at most K: rounding takes so much off a row, for each l.
    bound += sum(max(0, value + weight * K * (1 + C)) for value in left) / ONE
    if bound > number(utility):
        raise Fails(f"the multipliers prove {float(bound):.17g}, which is more")
    return f"K = {K}, m = {float(m):g}: no private gamma has utility above {float(bound):.12g}"


def pmf(counts, chances):
    """Pr[l teachers say 1], l = 0..K, rounded down by at most one for each teacher."""
    row = [ONE]
    for count, p in zip(counts, chances):
        for _ in range(count):
            row = [((ONE - p) * x + p * y) >> BITS for x, y in zip(row + [0], [0] + row)]
    return row


def objective(K, prior):
    """E[Pr[l of K] - Pr[K - l of K]], l = (K+1)/2..K: exact."""
    kind = prior.get("kind") if isinstance(prior, dict) else None
    if kind == "uniform":
        p = number(fields(prior, "kind", "mean")[1])
        chance = [comb(K, l) * p**l * (1 - p) ** (K - l) for l in range(K + 1)]
        inside = 0 <= p <= 1
    elif kind == "common":  # the mean over p in [low, high], by the beta integral
        low, high = (number(value) for value in fields(prior, "kind", "low", "high")[1:])
        inside, chance = 0 <= low < high <= 1, [Fraction(0)] * (K + 1)
        for p, sign in ((low, 1), (high, -1)):
            tail = Fraction(0)
            for l in range(K + 1):
                tail += comb(K + 1, l) * p**l * (1 - p) ** (K + 1 - l)
                chance[l] += sign * tail / ((K + 1) * (high - low))
    else:
        raise Unchecked(f"the objective of prior {kind!r} is sampled")
    if not inside:
        raise Fails("the prior's probabilities must lie in [0, 1]")
    return [chance[l] - chance[K - l] for l in range((K + 1) // 2, K + 1)]


# ---- Files ---------------------------------------------------------------------------------------

KINDS = {"gamma_privacy": gamma_privacy, "gamma_utility": gamma_utility}


def certificates(path):
    """The certificates of a file, which must be about the numbers that stand beside them."""
    with open(path, encoding="utf-8") as file:
        record = json.load(file, object_pairs_hook=once)
    if not isinstance(record, dict):
        raise Fails("no JSON object")
    if "kind" in record:
        return [record]
    found = record.get("certificates")
    if not isinstance(found, list) or not found:
        raise Unchecked("no certificates in it")
    beside = {"teachers": "K"} | {name: name for name in ("m", "epsilon", "Delta", "delta", "gamma")}
    for body in found:
        for name, other in beside.items():
            if isinstance(body, dict) and name in body and other in record:
                ours, theirs = body[name], record[other]
                ours, theirs = ([x] if name != "gamma" else x for x in (ours, theirs))
                if [number(x) for x in ours] != [Fraction(x) for x in theirs]:
                    raise Fails(f"{name} is not that of the file")
    return found


def check(body):
    """One line on what is proven. Raises Fails or Unchecked."""
    kind = body.get("kind") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise Unchecked(f"no kind of certificate that is known here: {kind!r}")
    return f"{kind}: {KINDS[kind](body)}"


def main(arguments):
    global PATIENCE
    if "--patient" in arguments:
        PATIENCE = float("inf")
    status = 0
    for path in (word for word in arguments if word != "--patient"):
        try:
            for body in certificates(path):
                print(f"holds      {path}: {check(body)}")
        except Unchecked as reason:
            print(f"unchecked  {path}: {reason}")
            status = 2
        except (Fails, OSError, ValueError, TypeError, KeyError, OverflowError) as reason:
            print(f"FAILS      {path}: {reason}")
            return 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
