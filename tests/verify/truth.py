"""Whether a certificate's claim is true, in 60 digits and with nothing of the verifier's.

Each claim is worked out the slow way: every multiset of corners, every strategy of the adversary.
Small numbers of teachers only. A statement that no certificate can make (gamma outside of [0, 1],
a list too short) counts as false: accepting it would be as wrong.
"""

import functools
from itertools import combinations, pairwise

import mpmath
from mpmath import mp

DIGITS = 60
# Claims are true or false by more than this, or nobody can tell.
TIE = mpmath.mpf(10) ** -45


def is_true(body):
    """Whether the claim holds; None where it is a tie up to the last digits."""
    with mp.workdps(DIGITS):
        try:
            excess = CLAIMS[body["kind"], body["theorem"]](body)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, ZeroDivisionError):
            return False
        return None if abs(excess) < TIE else bool(excess < 0)


def value(text):
    """A number of a certificate, to all digits."""
    if isinstance(text, int):
        return mpmath.mpf(text)
    if "/" in text:
        above, below = text.split("/")
        return mpmath.mpf(int(above)) / int(below)
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    digits, power = text.removeprefix("0x").split("p")
    front, _, behind = digits.partition(".")
    return (
        sign * mpmath.mpf(int(front + behind, 16)) * mpmath.mpf(2) ** (int(power) - 4 * len(behind))
    )


def _require(condition):
    if not condition:
        raise ValueError("no certificate can say so")


# ---- gamma -------------------------------------------------------------------------------------


def multisets(K, Delta):
    """Teachers at each of the eight corners, some of which coincide where Delta is 0."""
    for bars in combinations(range(K + 7), 7):
        counts = tuple(b - a - 1 for a, b in pairwise((-1, *bars, K + 7)))
        if Delta > 0 or not any(counts[2:6]):
            yield counts


@functools.lru_cache(maxsize=4096)
def rows(K, c, epsilon, Delta):
    """Coefficients of gamma(l), l > K/2, in G(p) - c G(p') at every multiset of corners."""
    e, D = mpmath.exp(epsilon), Delta
    high, low = (e + D) / (e + 1), (1 - D) / (e + 1)
    corners = [(0, 0), (1, 1), (0, D), (D, 0), (1 - D, 1), (1, 1 - D), (high, low), (low, high)]
    found = []
    for counts in multisets(K, Delta):
        P, Q = (_pmf(counts, [corner[side] for corner in corners]) for side in (0, 1))
        upper = range(K // 2 + 1, K + 1)
        found.append([P[l] - P[K - l] - c * (Q[l] - Q[K - l]) for l in upper])
    return found


def _pmf(counts, chances):
    out = [mpmath.mpf(1)]
    for size, p in zip(counts, chances, strict=True):
        for _ in range(size):
            longer = [mpmath.mpf(0)] * (len(out) + 1)
            for l, mass in enumerate(out):
                longer[l] += mass * (1 - p)
                longer[l + 1] += mass * p
            out = longer
    return out


def _setting(body):
    K, numbers = body["K"], [value(body[x]) for x in ("m", "epsilon", "Delta", "delta")]
    m, epsilon, Delta, delta = numbers
    _require(isinstance(K, int) and K % 2 == 1 and 1 <= m <= K)
    _require(epsilon > 0 and 0 <= Delta < 0.5 and 0 <= delta < 1)
    c = mpmath.exp(m * epsilon)
    return K, rows(K, c, epsilon, Delta), c - 1 + 2 * delta


def gamma_privacy(body):
    """By how much the largest f exceeds what is allowed."""
    K, table, allowed = _setting(body)
    gamma = [value(x) for x in body["gamma"]]
    _require(len(gamma) == K + 1 and gamma == gamma[::-1] and 0 <= min(gamma) <= max(gamma) <= 1)
    half = gamma[K // 2 + 1 :]
    return max(sum(a * x for a, x in zip(row, half, strict=True)) for row in table) - allowed


def coefficients(K, prior):
    """Integrals of the lead's coefficients over the prior, the mean over p by quadrature."""
    low, high = value(prior["low"]), value(prior["high"])
    _require(0 <= low < high <= 1)

    def lead(l, p):
        return mpmath.binomial(K, l) * (p**l * (1 - p) ** (K - l) - p ** (K - l) * (1 - p) ** l)

    upper = range(K // 2 + 1, K + 1)
    if prior["kind"] == "uniform":
        return [lead(l, (low + high) / 2) for l in upper]
    _require(prior["kind"] == "common" and K <= 3)  # Simpson's rule is exact for cubics
    middle = (low + high) / 2
    return [(lead(l, low) + 4 * lead(l, middle) + lead(l, high)) / 6 for l in upper]


def gamma_utility(body):
    """By how much the best private gamma exceeds the claim: of all vertices, K = 3."""
    K, table, allowed = _setting(body)
    _require(K == 3)
    cost = coefficients(K, body["prior"])
    one, zero = mpmath.mpf(1), mpmath.mpf(0)
    lines = [(row, allowed) for row in table]
    lines += [([one, zero], one), ([zero, one], one), ([-one, zero], zero), ([zero, -one], zero)]
    best = zero
    # Seen from the first coordinate: for each x the largest y; a concave function, by its vertices.
    for first, second in combinations(_candidates(lines, cost), 2):
        (a, b), r = first
        (c, d), s = second
        det = a * d - b * c
        if abs(det) < mpmath.mpf(10) ** -30:
            continue
        x, y = (r * d - b * s) / det, (a * s - r * c) / det
        if all(p * x + q * y <= t + mpmath.mpf(10) ** -50 for (p, q), t in lines):
            best = max(best, cost[0] * x + cost[1] * y)
    return best - value(body["utility"])


def _candidates(lines, cost):
    """The lines near the optimum of the same program in floats: the vertex lies on two of them."""
    from scipy.optimize import linprog

    A = [[float(x) for x in row] for row, _ in lines]
    found = linprog([-float(x) for x in cost], A, [float(t) for _, t in lines], bounds=(None, None))
    return [
        line
        for line in lines
        if abs(sum(float(a) * x for a, x in zip(line[0], found.x, strict=True)) - float(line[1]))
        < 1e-9
    ]


# ---- labels --------------------------------------------------------------------------------------


def pairs_of(law):
    """(P, P') over the labels, of all neighbours in both orders."""
    if law["name"] == "response":
        epsilon, leak, zero = value(law["epsilon"]), value(law["delta"]), mpmath.mpf(0)
        _require(epsilon >= 0 and 0 <= leak <= 1)
        true = (1 - leak) / (1 + mpmath.exp(-epsilon))
        rows = [(true, 1 - leak - true, leak, zero), (1 - leak - true, true, zero, leak)]
        return [tuple(rows), tuple(rows[::-1])]
    ones = []
    for less_likely, p in law["rows"]:
        p = value(p)
        _require(less_likely in (0, 1) and 0 <= 2 * p <= 1)
        ones.append(p if less_likely else 1 - p)
    _require(len(ones) > 1)
    found = [((1 - x, x), (1 - y, y)) for x, y in pairwise(ones)]
    return found + [(Q, P) for P, Q in found]


def label(body):
    """By how much the largest hockey-stick exceeds delta."""
    epsilon, delta, law = value(body["epsilon"]), value(body["delta"]), body["law"]
    _require(epsilon >= 0)
    return max(_stick(P, Q, mpmath.exp(epsilon)) for P, Q in pairs_of(law)) - delta


def _stick(P, Q, factor):
    return sum(max(0, p - factor * q) for p, q in zip(P, Q, strict=True))


def homogeneous(Q, law, epsilon):
    """Kairouz, Oh and Viswanath's optimum, as their Theorem 3.3 prints it."""
    each, leak = value(law["epsilon"]), value(law["delta"])
    _require(isinstance(Q, int) and Q >= 1 and each >= 0 and 0 <= leak <= 1)
    total = mpmath.mpf(0)
    for l in range(Q + 1):
        gap = mpmath.exp(l * each) - mpmath.exp(epsilon + (Q - l) * each)
        total += mpmath.binomial(Q, l) * max(0, gap)
    total /= (1 + mpmath.exp(each)) ** Q
    return 1 - (1 - leak) ** Q * (1 - total)


def together(body):
    """The adversary's best, over all her strategies; exact. Three labels at most, but for those of
    which only the cost is known, where their own optimum is."""
    Q, law, epsilon = body["labels"], body["law"], value(body["epsilon"])
    _require(epsilon >= 0 and value(body["step"]) > 0)
    _require(isinstance(body["reach"], int) and body["reach"] >= 0)
    if law["name"] == "response":
        return homogeneous(Q, law, epsilon) - value(body["delta"])
    _require(Q in (1, 2, 3))
    growth, pairs = mpmath.exp(epsilon), pairs_of(law)

    def after(q, x):
        if q == 0:
            return max(mpmath.mpf(0), 1 - growth * x)
        return max(
            sum(p * after(q - 1, x * r / p) for p, r in zip(P, R, strict=True) if p > 0)
            for P, R in pairs
        )

    return after(Q, mpmath.mpf(1)) - value(body["delta"])


CLAIMS = {
    ("gamma_privacy", "darrm_lemma_3.4"): gamma_privacy,
    ("gamma_utility", "weak_duality"): gamma_utility,
    ("label", "hockey_stick"): label,
    ("total", "loss_distribution"): together,
}
