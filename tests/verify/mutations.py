"""Certificates that claim all that is true, to the last place, and changes to them."""

import copy
import math
import random

import mpmath
from mpmath import mp

from . import truth

PLACES = 90  # claims are multiples of 2^-90, far finer than a float's


def dyadic(x, up):
    """x as a fraction over 2^90, rounded up or down."""
    scaled = x * mpmath.mpf(2) ** PLACES
    return f"{int(mpmath.ceil(scaled) if up else mpmath.floor(scaled))}/{2**PLACES}"


def build_certificate(kind, theorem, proof=None, **fields):
    page = f"docs/certificates.md#{theorem.replace('.', '')}"
    return {"kind": kind, "theorem": theorem, "proof": page, **fields}


def setting(rng, K):
    Delta = rng.choice([0.0, 0.0, 0.01, 1e-5])
    m = rng.choice([1.0, 1.5, float(min(K, 2))]) if K > 1 else 1.0
    numbers = {"m": m, "epsilon": rng.uniform(0.1, 1.0), "Delta": Delta, "delta": m * Delta}
    return {"K": K, **{name: x.hex() for name, x in numbers.items()}}


def tight_gamma(rng):
    """A random gamma, scaled until the worst assignment costs what is allowed."""
    given = setting(rng, rng.choice([1, 3, 3]))
    with mp.workdps(truth.DIGITS):
        K, table, allowed = truth._setting(given)
        half = [mpmath.mpf(rng.random()) for _ in range((K + 1) // 2)]
        worst = max(sum(a * x for a, x in zip(row, half, strict=True)) for row in table)
        # Where delta = 0, any gamma(l) = 1 costs exactly what is allowed: no rounding can tell.
        factor = min(allowed / worst if worst > 0 else 1, 0.999 / max(half))
        while True:
            values = [dyadic(x * factor, up=False) for x in half]
            body = build_certificate("gamma_privacy", "darrm_lemma_3.4", **given)
            body["gamma"] = values[::-1] + values
            if truth.gamma_privacy(body) < 0:
                return body
            factor *= 1 - mpmath.mpf(2) ** -PLACES  # a coefficient is negative: less may cost more


def tight_utility(rng):
    """Three teachers: the vertex by hand, its multipliers by Cramer's rule."""
    given = setting(rng, 3)
    kind = rng.choice(["uniform", "common"])
    prior = {"kind": kind, "low": (0.5).hex(), "high": (1.0).hex()}
    body = build_certificate("gamma_utility", "weak_duality", **given, prior=prior)
    with mp.workdps(truth.DIGITS):
        K, table, allowed = truth._setting(given)
        cost = truth.coefficients(K, prior)
        best, used = None, None
        counts = list(truth.multisets(K, truth.value(given["Delta"])))
        # One row alone and a bound on gamma(2) or gamma(3), or two rows: the least dual bound.
        for i, row in enumerate(table):
            for bounded in (0, 1):
                other = 1 - bounded
                if row[other] <= 0:
                    continue
                y = cost[other] / row[other]
                value = y * allowed + max(0, cost[bounded] - y * row[bounded])
                if y >= 0 and (best is None or value < best):
                    best, used = value, [(counts[i], y)]
        # Multipliers a little off prove nearly as much; the claim is what these prove.
        used = [(place, dyadic(y, up=True)) for place, y in used]
        total = sum(truth.value(y) for _, y in used)
        left = list(cost)
        for place, y in used:
            row = table[counts.index(place)]
            left = [x - truth.value(y) * a for x, a in zip(left, row, strict=True)]
        proven = total * allowed + sum(max(0, x) for x in left)
        body["rows"] = [{"teachers": list(place), "multiplier": y} for place, y in used]
        body["utility"] = dyadic(proven + mpmath.mpf(2) ** -PLACES, up=True)
    return body


def law(rng, K, least=0.05):
    """Coins of K teachers whose chances rise with the ones, and are the same for both labels."""
    half = sorted(rng.uniform(least, 0.5) for _ in range((K + 1) // 2))
    rows = [[1, p.hex()] for p in half] + [[1, (0.5).hex()]] * (K % 2 == 0)
    rows += [[0, p.hex()] for p in half[::-1]]
    return {"name": "coins", "rows": rows}


def tight_label(rng):
    """The true delta of a law, rounded up; of some coins the chances do not rise."""
    coins = law(rng, rng.choice([1, 2, 3]))
    if rng.random() < 0.3:
        rng.shuffle(coins["rows"])
    body = build_certificate(
        "label", "hockey_stick", law=coins, epsilon=rng.uniform(0, 0.3).hex(), delta=0
    )
    with mp.workdps(truth.DIGITS):
        delta = truth.label(body)
        if delta <= mpmath.mpf(2) ** -80:  # pure privacy, which needs no last place
            return body | {"epsilon": (10.0).hex()}
        return body | {"delta": dyadic(delta, up=True)}


def tight_response(rng):
    """Labels of which only the cost is known: the grid has their losses, and nothing is lost."""
    each, labels = rng.uniform(0.05, 1).hex(), rng.randrange(1, 8)
    response = {"name": "response", "epsilon": each, "delta": (1e-6).hex()}
    grid = {"step": each, "reach": 1}
    body = build_certificate("total", "loss_distribution", law=response, labels=labels, **grid)
    body |= {"epsilon": rng.uniform(0, 0.5).hex(), "delta": 0}
    with mp.workdps(truth.DIGITS):
        # What leaks at one label is a float, of which no rounding can tell whether it is enough.
        body["delta"] = dyadic(truth.together(body) + mpmath.mpf(2) ** -PLACES, up=True)
    return body


def coarse_total(rng):
    """Two labels at most, on a grid so coarse that the claim is a little above the truth.

    One pair above all pairs costs somewhat more than any adversary gets.
    """
    grid = {"step": "1/100", "reach": 200}
    body = build_certificate(
        "total", "loss_distribution", law=law(rng, rng.choice([1, 2]), 0.25), **grid
    )
    body |= {"labels": rng.choice([1, 2]), "epsilon": rng.uniform(0, 0.3).hex(), "delta": 0}
    with mp.workdps(truth.DIGITS):
        body["delta"] = dyadic(truth.together(body) * 1.3 + mpmath.mpf(1) / 250, up=True)
    return body


MAKERS = (
    tight_gamma,
    tight_gamma,
    tight_utility,
    tight_label,
    tight_response,
    coarse_total,
)
THEOREMS = sorted(truth.CLAIMS)


def mutated(body, rng):
    """A copy with one change: a last place, the theorem, or the order or length of a list."""
    body = copy.deepcopy(body)
    kind = rng.random()
    if kind < 0.08:
        fields = body | dict(zip(("kind", "theorem"), rng.choice(THEOREMS), strict=True))
        return build_certificate(**fields) if rng.random() < 0.8 else fields
    leaves, lists = [], []
    _walk(body, leaves, lists)
    if kind < 0.25 and lists:
        items = rng.choice(lists)
        _reorder(items, rng)
        return body
    holder, key = rng.choice(leaves)
    holder[key] = _moved(holder[key], rng.choice([-1, 1]))
    return body


def _walk(node, leaves, lists):
    if isinstance(node, list):
        lists.append(node)
    for key, item in enumerate(node) if isinstance(node, list) else node.items():
        if isinstance(item, (list, dict)):
            _walk(item, leaves, lists)
        elif key == "proof":
            continue
        elif isinstance(item, int) or "0x" in item or "/" in item:
            leaves.append((node, key))


def _reorder(items, rng):
    change = rng.random()
    if change < 0.35 and items:
        del items[rng.randrange(len(items))]
    elif change < 0.5 and items:
        items.append(copy.deepcopy(rng.choice(items)))
    elif change < 0.6:
        items.reverse()
    else:
        rng.shuffle(items)


def _moved(leaf, step):
    """The number one unit in its last place further."""
    if isinstance(leaf, int):
        return leaf + step
    if "/" in leaf:
        above, below = leaf.split("/")
        return f"{int(above) + step}/{below}"
    return math.nextafter(float.fromhex(leaf), step * math.inf).hex()


def fresh(seed):
    """A certificate whose claim is true to the last place."""
    rng = random.Random(seed)
    return rng.choice(MAKERS)(rng), rng
