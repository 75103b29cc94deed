"""PATE's data-dependent bound with personalisation: equations 1-3 of DPBag's supplement.

A conjecture of its authors, which they do not prove; no label of this workflow rests on it.
`compare_with_exact_moments` compares it with the exact moments of the label on small ensembles.
"""

from itertools import product

import numpy as np

from private_ensembles.papers.dpbag.mathematics.label_loss import ones_probability

# Excesses that differ by less, relative to the moments, differ by rounding.
_SAME = 1e-12


def wrong_probability(gaps, noise):
    """Return q = sum over the other classes of (2 + lambda |g|) / (4 exp(lambda |g|)).

    It is exact for two classes, else a bound on the probability that the label is not the one with
    most votes.

    Args:
        gaps: (..., classes - 1), the lead over each other class.
        noise: lambda.

    References:
        DPBag's supplement, equation 2.
    """
    y = noise * np.abs(np.asarray(gaps, np.float64))
    return ((2 + y) / (4 * np.exp(y))).sum(axis=-1)


def conjectured_moment(q, noise, m, l):
    """Return log((1 - q) ((1 - q) / (1 - e^(2 lambda m) q))^l + q e^(2 lambda m l)).

    NaN if e^(2 lambda m) q >= 1, for which the formula has no value. All arguments broadcast.

    References:
        DPBag's supplement, equation 3; equation 1 is m = 1.
    """
    q, shift = np.asarray(q, np.float64), 2 * noise * np.asarray(m, np.float64)
    defined = np.exp(shift) * q < 1
    rest = np.where(defined, 1 - np.exp(shift) * q, 1)
    first = np.log1p(-q) + l * (np.log1p(-q) - np.log(rest))
    return np.where(defined, np.logaddexp(first, np.log(q) + shift * l), np.nan)


def is_bound_applicable(q, noise, m):
    """Tell whether q < (e^(2 lambda m) - 1) / (e^(4 lambda m) - 1) = 1 / (e^(2 lambda m) + 1).

    PATE's theorem demands this with m = 1; the supplement does not mention it.
    """
    return np.asarray(q) < 1 / (np.exp(2 * noise * np.asarray(m, np.float64)) + 1)


def charged_moment(q, noise, m, l):
    """Return what an accountant that trusts equation 3 would charge one label; arguments broadcast.

    It is the smaller of 2 lambda^2 m^2 l (l + 1) and equation 3 if `is_bound_applicable`, else the
    former. Equation 3 is not proven, and is exceeded from the data without the record
    (`compare_with_exact_moments`), so sums of it bound nothing.
    """
    l = np.asarray(l)
    plain = 2 * noise**2 * np.square(m) * l * (l + 1)
    trusted = np.where(is_bound_applicable(q, noise, m), conjectured_moment(q, noise, m, l), np.inf)
    return np.minimum(plain, trusted)


def exact_moment(p, p_other, l):
    """Return the exact l-th moment of a label, log E_{o ~ p}[(p(o) / p_other(o))^l].

    p and p_other are Pr[label = 1] of two data sets.
    """
    ones = (l + 1) * np.log(p) - l * np.log(p_other)
    zeros = (l + 1) * np.log1p(-p) - l * np.log1p(-p_other)
    return np.logaddexp(ones, zeros)


def compare_with_exact_moments(noises, teachers, partitions, orders):
    """Compare the conjecture with the exact moments at every vote of small two-class ensembles.

    A case is a number of votes for 1 of the other teachers, a number `own` of a record's k teachers
    that vote 1, and a number that vote 1 without the record, with m = max(own, k - own) / k. The
    moment is taken from the data set with the record to the one without (`direction` forward) and
    back.

    Args:
        noises: values of lambda.
        teachers: n, per partition.
        partitions: k.
        orders: values of l.

    Returns:
        Rows (dicts), one per noise, l, direction and whether `is_bound_applicable` (`condition`):
        cases, undefined (cases for which the formula has no value), violations (exact moment >
        conjectured by more than 1e-9 of it), and the worst case: excess (exact - conjectured), its
        m, gap (n_1 - n_0 with the record) and gap_without. Both classes are alike, so two cases are
        worst up to rounding; the first one counts.
    """
    rows = []
    n, k = teachers, partitions
    others, own, without = np.indices((k * (n - 1) + 1, k + 1, k + 1)).reshape(3, -1)
    gap = 2 * (others + own) / k - n
    gap_without = 2 * (others + without) / k - n
    m = np.maximum(own, k - own) / k
    for noise, l in product(noises, orders):
        p = ones_probability(gap, noise)
        p_without = ones_probability(gap_without, noise)
        q = wrong_probability(gap[:, None], noise)
        bound = conjectured_moment(q, noise, m, l)
        for direction, exact in (
            ("forward", exact_moment(p, p_without, l)),
            ("backward", exact_moment(p_without, p, l)),
        ):
            for is_applicable in (True, False):
                chosen = np.flatnonzero(is_bound_applicable(q, noise, m) == is_applicable)
                excess = exact[chosen] - bound[chosen]
                undefined = ~np.isfinite(bound[chosen])
                row = {"n": n, "k": k, "noise": noise, "l": l, "direction": direction}
                row |= {
                    "condition": is_applicable,
                    "cases": len(chosen),
                    "undefined": int(undefined.sum()),
                }
                row["violations"] = int((excess > 1e-9 * np.abs(exact[chosen])).sum())
                row |= {"excess": np.nan, "m": np.nan, "gap": np.nan, "gap_without": np.nan}
                if not undefined.all():
                    near = np.nanmax(excess) - _SAME * np.abs(exact[chosen]).max()
                    worst = chosen[np.argmax(excess >= near)]
                    row["excess"] = float(exact[worst] - bound[worst])
                    row["m"], row["gap"] = float(m[worst]), float(gap[worst])
                    row["gap_without"] = float(gap_without[worst])
                rows.append(row)
    return rows
