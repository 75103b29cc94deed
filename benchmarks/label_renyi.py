"""What labels cost by the worst Rényi divergence of one of them, composed and converted.

This was the strongest account of labels before the one of this package: an auditor's of private
prediction (Chadha, Jagielski, Papernot, Choquette-Choo and Nasr, ICML 2024) charges each label the
largest Rényi divergence that neighbouring votes can cause, and adds up. It adds up the worst of
each order, which no adversary has at once, so `accounting.adaptive_composition.account` charges
less for the same labels.

Theorem. Let a >= 0 be a power, and let t_j, j = -n, ..., n, be thresholds of the grid of
docs/many-labels.md. For every row of the family let e_j be its bounds on E(t_j) less (1 - t_j)+,
with e_n its last, and

    M = 1 + sum over j < n of (e_j - e_n)+ w_j,  w_j = g_{j+1} - g_j,
    g_{-n} = t_{-n}^a,  g_j = (t_j^{a+1} - t_{j-1}^{a+1}) / (t_j - t_{j-1}).

Let R be the largest M of all rows and m the largest e_n. Then for every epsilon

    delta(epsilon) <= R^Q e^(-a epsilon) (1/(a + 1)) (a/(a + 1))^a + Q m.

Proof. Put the lower convex hull of the points (t_j, e_j + (1 - t_j)+) in place of the row: every
pair's curve is convex and lies below the points, so it lies below the hull, which has the same
last point. By theorem 4 of docs/many-labels.md the hull is the curve of a kernel, with masses m_j
at ratios 1/t_j that add up to 1 - e_n, and m_inf = e_n. Its moment, the sum of m_j t_j^a, is by
summation by parts 1 + sum of (e_j - e_n) w_j - e_n g_{-n} with the hull's values for e_j, and w_j
>= 0, since g_j, a mean of (a + 1) t^a over a cell, rises. So it is at most M. Let V_q be the
bounds of theorem 1 there with these kernels. Then V_q(y) <= c y^-a R^q + q m with c = (1/(a + 1))
(a/(a + 1))^a: for q = 0, (1 - y) y^a is at most c; and if it holds for q, the sum of m_j
V_q(y/t_j), plus m_inf, is at most c y^-a R^q times the sum of m_j t_j^a, plus q m times that of
m_j, plus m, and the m_j add up to at most 1. Now y = e^epsilon.

Without the grid this is the adaptive composition of Rényi divergences of order a + 1 and the
conversion of Canonne, Kamath and Steinke (2020, Proposition 12).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import (
    check_labels,
    curves_on,
    deciding_orders,
)
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    DominatingPairs,
    max_loss_deviation,
)
from private_ensembles.base.root_search import least_scale
from private_ensembles.base.rounding import UNIT_ROUNDOFF
from private_ensembles.labels.accounts.gaussian_counts import label_noise_share
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.task import Task

# A standard deviation of a label's loss has so many thresholds: moments are at most 1e-4 too large.
_FINENESS = 24
# Few labels have high orders, and up to this many times as many thresholds, divided by the square
# root of their number.
_FINER = 2
# Losses beyond the thresholds may hold this share of delta, over all labels.
_CUT = 1e-4
# These powers are tried, as multiples of the one that would be best if losses were normal.
_POWERS = np.geomspace(0.2, 200, 241)
# No power of a threshold is larger than e to this.
_HIGHEST = 600.0
# Exponentials of up to 600, logarithms and a few products are off by this.
_ROUNDING = 2048 * UNIT_ROUNDOFF
# Sigma is found to this share of itself.
_TOLERANCE = 2e-4
# An epsilon as large tells the search as much as an infinite one.
_MOST = 1e6


def renyi_sigma(task: Task) -> float:
    """Return GNMax's sigma, near the least with which this account proves the task's budget."""
    law, labels = load_mechanism("gnmax_exact").law, task.wanted.labels
    base_noise = load_mechanism("gnmax_exact").account.start.find_noise(law, task, labels)

    def height(share: float) -> float:
        noise = law.scale_noise(base_noise, share)
        spent = renyi_epsilon(law.dominating_pairs(task, noise), labels, task.budget.delta)
        return math.log(min(spent, _MOST) / task.budget.epsilon)

    share = least_scale(height, label_noise_share(labels), _TOLERANCE)
    return law.scale_noise(base_noise, share).sigma


def renyi_epsilon(dominating_pairs: DominatingPairs, labels: int, delta: float) -> float:
    """Return an upper bound on the epsilon of `labels` labels at `delta`, by Rényi divergences.

    The bound holds in floating point; it is infinite if losses without bound use delta up.

    Args:
        dominating_pairs: those of one label.
        labels: >= 1, chosen adaptively.
        delta: in (0, 1).

    Raises:
        ValueError: a number is out of range.

    References:
        The theorem above; the conversion is Canonne, Kamath and Steinke's (2020), Proposition 12.

    >>> from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    ...     two_class_dominating_pairs,
    ... )
    >>> label = two_class_dominating_pairs([0.25, 0.75])  # optimal composition is 10.968
    >>> round(renyi_epsilon(label, 10, 1e-3), 2)
    10.97
    """
    check_labels(labels, delta)
    spread = max_loss_deviation(dominating_pairs)
    width = spread * math.sqrt(labels)
    # There is a whole number of steps, so that two equal and opposite losses fall on thresholds.
    step = spread / math.ceil(_FINENESS * max(1.0, _FINER / math.sqrt(labels)))
    rows = curves_on(dominating_pairs, step, _CUT * delta / labels, spread)
    radius = rows.shape[1] // 2
    log_delta = math.log(1 / delta)
    likely_loss = math.sqrt(2 * log_delta) * width + width**2 / 2
    powers = float(np.median(deciding_orders(likely_loss, width))) * _POWERS
    powers = powers[(powers + 1) * step * (radius + 1) <= _HIGHEST]
    # Losses without bound are charged to delta, in every label.
    unbounded_loss = float(rows[:, -1].max())
    remaining_delta = (delta - labels * unbounded_loss * (1 + _ROUNDING)) * (1 - _ROUNDING)
    if remaining_delta <= 0 or not powers.size:
        return math.inf
    moments = np.log1p(_moments_less_one(rows, step, powers))
    converted = powers * np.log1p(-1 / (powers + 1)) - np.log1p(powers)
    costs = labels * moments + converted - math.log(remaining_delta)
    costs += _ROUNDING * (labels * (moments + UNIT_ROUNDOFF) + np.abs(converted) + log_delta + 1)
    return max(0.0, float((costs / powers).min()) * (1 + _ROUNDING))


def _moments_less_one(
    rows: NDArray[np.float64], step: float, powers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return upper bounds on E_P[(P / P')^power] - 1 of all rows, without losses beyond the grid.

    rows: (rows, n) curves at thresholds t_j. Each is replaced by its chords, whose moment is the
    sum of (row_j - row_n) w_j, w_j >= 0 (the theorem above).
    """
    radius = rows.shape[1] // 2
    logs = step * np.arange(-radius, radius)[:, None]
    slopes = np.expm1(-(powers + 1) * step) / np.expm1(-step)
    weights = np.exp(logs * powers) * slopes * np.expm1(powers * step)
    weights[0] = np.exp(logs[0] * powers) * (np.exp(powers * step) * slopes - 1)
    above = np.maximum(rows[:, :-1] - rows[:, -1:], 0.0)
    sums = (above @ weights).max(axis=0)
    return sums * (1 + 2 * rows.shape[1] * UNIT_ROUNDOFF + _ROUNDING)
