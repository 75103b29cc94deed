"""What a certificate of adaptive labels says: a grid, few groups of pairs, and what they prove.

`verify/verify.py` repeats all of it with integers. Here it is worked out in floats, a little above,
to choose the groups and to know what will be proven. Theorem: docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive.account import deciding_orders
from private_ensembles.accounting.adaptive.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.root import bisect
from private_ensembles.darrm.certificate_file import exactly, stated

# Up to so many labels there are so many points of the grid per standard deviation of a label's
# loss, or without labels of an eighth of all: a grid costs what its chords do, in each label.
_POINTS = ((0, 8), (1, 64), (10, 16), (50, 10), (125, 6), (math.inf, 4))
# Of so many labels of coins.
_FEW = 50
# To how many standard deviations all thresholds are used, and how far a curve is followed.
_NEAR, _WIDTH = 4, 7.5
# Labels that are taken one by one before a kernel stands for all of them.
BLOCK = 250
# What a group may cost at each deciding order, as a share of the dearest pair.
_DEAR = 1.001
# Of delta: what may be lost beyond the last threshold, and by what the claim is raised beyond what
# floats find, so that the verifier's integers prove it.
_CUT, _ROOM = 1e-3, 1e-6
_FURTHEST = 3000
# No larger epsilon is looked for.
_HIGHEST = 500.0
# Points of the curve that is told beside the claim.
_CURVE = 25
# The cells of GNMax's labels, and the sixth derivative, as the verifier has them.
_CELLS, _SIXTH = 10, 70.0


@dataclass(frozen=True)
class Noise:
    """The noise of every label, as the verifier has it.

    curves: excesses of pairs at thresholds, a function of t. law: what the certificate says of it.
    spread: standard deviation of a label's loss. shape: of the groups in the certificate. apart:
    how far a label that is drawn may be from the law, in total variation. error: what the verifier
    may add to an excess, for each t + 1.
    """

    law: dict
    curves: object
    spread: float
    shape: tuple[int, int]
    apart: float = 0.0
    error: float = 1e-15


class OnCells(GaussianMaximum):
    """The family of GNMax's labels with nodes where the verifier has them."""

    def _nodes(self):
        half_move = 1 / self.scale
        half = min((self.teachers - 1) / self.scale, 13 + half_move)
        leads = math.ceil(half * _CELLS * (1 - 1e-15))
        widest = leads / _CELLS + half_move
        middles = math.ceil((8.5 + widest / 2 + 6.5) * _CELLS * (1 - 1e-15)) + 1
        steps = np.arange(-leads, leads + 1) / _CELLS
        return half_move + steps, -6.5 + np.arange(middles) / _CELLS, True


def panel_error(panels: int, middles: int) -> float:
    """What Boole's rule may be off by over all panels of all cells."""
    unit = 1 / (4 * panels * _CELLS)
    return 8 * _SIXTH / 945 * unit**7 * panels * middles


def adaptive(
    noise: Noise | None,
    labels: int,
    delta: float,
    epsilon: float,
    counts: Sequence[tuple[int, float, object]] = (),
) -> tuple[dict, float, list[tuple[float, float]]]:
    """Return a certificate that so many labels keep delta, and the epsilon it proves.

    And points of the whole curve, each an epsilon and what delta is at most there. An infinite
    epsilon, and nothing else, if nothing is proven.

    noise: of the labels; None, and 0 labels, for counts alone. epsilon: about what is proven, which
    only chooses the grid. counts: noisy counts beside the labels, each how many, the scale, and its
    delta at an epsilon.
    """
    width = 0.0 if noise is None else noise.spread * math.sqrt(labels)
    for times, scale, _ in counts:
        width = math.hypot(width, math.sqrt(times) / scale)
    points = next(points for most, points in _POINTS if labels <= most)
    if labels <= _FEW and (noise is None or noise.law["name"] == "coins"):
        points *= 4  # a few hundred pairs are quickly worked out at many thresholds
    step = (width / 8 if noise is None else noise.spread) / points
    places = _places(noise, step, delta / max(labels, 1))
    total = np.ones(1), 0, 0.0  # masses, the first one's place, the infinite loss's mass
    far = round(_WIDTH * (1.0 if noise is None else noise.spread / step))
    blocks, curves, groups = _blocks(labels), {}, []
    if noise is not None:
        orders = deciding_orders(epsilon, width)
        sticks, groups = _grouped(noise, places, step, orders, 1.0 if labels > 1 else math.inf)
        groups = groups.reshape(noise.shape).tolist()
        kernels, sizes = _kernels(sticks, places, step), {size for _, size in blocks}
        curves = _induction(kernels, sizes, step, places[-1], far)
    for times, size in blocks:
        reach, curve = curves[size]
        one = _kernels(curve[None], range(reach + 1), step)
        for _ in range(times):
            total = _both(total, (one[0][0], -reach, one[1][0]))
    noisy = []
    for times, scale, deltas in counts:
        mu = math.sqrt(times) / scale
        reach = math.ceil((mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / (_CUT * delta)))) / step)
        sticks = deltas(step * np.arange(-reach, reach + 1))
        one = _kernels(np.asarray(sticks)[None], range(reach + 1), step)
        total = _both(total, (one[0][0], -reach, one[1][0]))
        noisy.append({"times": times, "scale": exactly(scale), "reach": reach})
    masses, first, lost = total
    losses = step * (first + np.arange(masses.size))

    def delta_at(at: float) -> float:
        spent = masses @ np.maximum(0.0, -np.expm1(np.minimum(at - losses, 0.0)))
        return float((spent + lost) * (1 + _ROOM) + 1e-16)

    def holds(at: float) -> bool:
        return delta_at(at) <= delta

    high = epsilon
    while not holds(high):
        high = 1.01 * high + 1e-6
        if high > _HIGHEST:
            return {}, math.inf, []
    proven = epsilon if holds(epsilon) else bisect(holds, epsilon, high, relative=1e-6)
    body = stated(
        "total",
        "adaptive_labels",
        **({} if noise is None else {"law": noise.law, "groups": groups}),
        blocks=[{"times": times, "labels": size} for times, size in blocks],
        counts=noisy,
        step=exactly(step),
        places=list(places),
        width=far,
        epsilon=exactly(proven),
        delta=exactly(delta),
    )
    curve = [(float(at), delta_at(float(at))) for at in np.linspace(0.0, proven, _CURVE)]
    return body, proven, curve


def _blocks(labels: int) -> list[tuple[int, int]]:
    """As many blocks of nearly one size as there must be: each how many, and of how many labels."""
    if not labels:
        return []
    number = -(-labels // BLOCK)
    size, more = divmod(labels, number)
    return [(times, each) for times, each in ((number - more, size), (more, size + 1)) if times]


def _places(noise: Noise | None, step: float, cut: float) -> list[int]:
    """Thresholds in steps: all that are near, then ever fewer, until next to nothing is beyond."""
    most = 4.0 if noise is None else noise.spread / step
    places = list(range(math.ceil(_NEAR * most) + 1))
    while places[-1] < _FURTHEST:
        t = math.exp(min(places[-1] * step, 600.0))
        beyond = 0.0 if noise is None else noise.curves(np.array([t])).max()
        if beyond <= _CUT * cut or t > 1e200 or (len(places) > 3 and beyond < 1e-15):
            break
        places.append(math.ceil(1.2 * places[-1]))
    return places


def _grouped(
    noise: Noise, places: Sequence[int], step: float, orders: NDArray, cheapest: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The sticks of few groups, (groups, thresholds), and the group of each pair."""
    ks = np.array([*(-k for k in places[:0:-1]), *places])
    t = np.exp(step * ks)
    excess = _falling(noise.curves(t) + (noise.error + noise.apart) * (1 + t), t)
    gaps = np.gradient(step * ks)
    weights = np.exp(np.minimum(np.log(t)[:, None] * orders, 100.0)) * gaps[:, None]
    costs = excess @ weights
    weights = weights / costs.max(axis=0)
    rows = np.argsort((excess @ weights).max(axis=1), kind="stable")
    groups = np.zeros(len(excess), dtype=np.int64)
    # As many of the cheapest as together cost no more than the dearest are one group.
    together = np.maximum.accumulate(excess[rows], axis=0)
    cheap = int(((together @ weights).max(axis=1) <= cheapest).sum())
    sticks = together[cheap - 1 : cheap] if cheap else excess[:0]
    for row in rows[cheap:][::-1]:
        joint = np.maximum(sticks, excess[row])
        cost = (joint @ weights).max(axis=1)
        fits = int(cost.argmin()) if cost.size else -1
        if fits >= 0 and cost[fits] <= _DEAR:
            sticks[fits] = joint[fits]
        else:
            fits = len(sticks)
            sticks = np.concatenate([sticks, excess[row : row + 1]])
        groups[row] = fits
    return np.minimum(sticks + np.maximum(1 - t, 0.0), 1.0), groups


def _falling(excess: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let no curve rise: on from 1, and likewise those of the reflected pairs, at 1 / t."""
    low = np.flatnonzero(t < 1)[::-1]
    high = np.flatnonzero(t >= 1)
    excess[:, high] = np.minimum.accumulate(excess[:, high], axis=1)
    excess[:, low] = np.minimum.accumulate(excess[:, low] / t[low], axis=1) * t[low]
    return excess


def _kernels(
    sticks: NDArray[np.float64], places: Sequence[int], step: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Masses at losses of -reach, ..., reach steps, (kernels, 2 reach + 1), and the infinite's."""
    ks = np.array([*(-k for k in places[:0:-1]), *places])
    t = np.exp(step * ks)
    slopes = np.diff(sticks, axis=1, prepend=1.0) / np.diff(t, prepend=0.0)
    after = np.concatenate([slopes[:, 1:], np.zeros((len(sticks), 1))], axis=1)
    masses = np.zeros((len(sticks), 2 * places[-1] + 1))
    masses[:, ks + places[-1]] = np.maximum(after - slopes, 0.0) * t
    return masses, sticks[:, -1] + 1e-29


def _induction(kernels, wanted, step: float, reach: int, width: int) -> dict:
    """By number of labels: how far its curve is known, and the curve, as the verifier has it."""
    masses, lost = kernels
    used = np.flatnonzero(masses.any(axis=0))

    def far(labels: int) -> int:
        return reach + math.isqrt(width * width * labels)

    def widened(labels: int, places: int) -> NDArray:
        known, values = curves[labels]
        beyond = places - known
        down = np.exp(-step * np.arange(beyond, 0, -1))
        return np.concatenate([1 - (1 - values[0]) * down, values, np.full(beyond, values[-1])])

    curves = {0: (reach, np.maximum(0.0, -np.expm1(step * np.arange(-reach, reach + 1))))}
    for labels in range(1, max(wanted) + 1):
        here = far(labels)
        wide = widened(labels - 1, here + reach)
        shifted = np.lib.stride_tricks.sliding_window_view(wide, 2 * reach + 1)
        # A loss of k steps leads k places down, so that the last column is the least loss.
        means = shifted[:, 2 * reach - used] @ masses[:, used].T + lost
        best = np.maximum(widened(labels - 1, here), means.max(axis=1))
        curves[labels] = here, np.minimum(best, 1.0)
        if labels - 1 not in wanted:
            del curves[labels - 1]
    return {labels: curves[labels] for labels in wanted}


def _both(left: tuple, right: tuple) -> tuple:
    """The kernel of two independent losses: masses, the first one's place, the infinite's mass."""
    masses = np.convolve(left[0], right[0])
    lost = left[2] * (right[0].sum() + right[2]) + right[2] * left[0].sum()
    return masses, left[1] + right[1], float(lost)
