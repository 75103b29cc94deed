"""What a certificate of adaptive labels says: a grid, few groups of pairs, and what they prove.

`verify/verify.py` repeats all of it with integers. Here it is computed in floats, a little above,
to choose the groups and to know what will be proven. The theorem is in docs/certificates.md
(adaptive_labels).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import deciding_orders
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive_composition.hockey_sticks import (
    merge_neighbouring_curves,
)
from private_ensembles.accounting.certificate_format import build_certificate, write_hexadecimal

# How pairs may be grouped: the curve of a group costs at most this share of the dearest pair's, or
# a pair that joins adds at most this much to it. A pair below a group's curve may always join.
_TOGETHER, _ALIKE, _NEARLY, _CLOSE = (1.0, 0.0), (0.9, 1e-3), (0.5, 1e-4), (0.1, 1e-5)
_APART = 0.0, 0.0


class _Attempt(NamedTuple):
    """What is tried to prove a claim.

    fineness: points of the grid for each of the account's own; or its step, once that is known.
    grouping: how pairs may be grouped. every_threshold: whether curves are evaluated at every
    threshold, because what long chords add weighs most for few labels.
    """

    fineness: float
    grouping: tuple[float, float]
    every_threshold: bool


# These are tried one after the other until the claim is proven.
_ATTEMPTS = (
    _Attempt(1.3, _TOGETHER, False),
    _Attempt(1.7, _TOGETHER, False),
    _Attempt(1.3, _TOGETHER, True),
    _Attempt(1.3, _ALIKE, False),
    _Attempt(1.3, _NEARLY, True),
    _Attempt(1.3, _CLOSE, True),
    _Attempt(2.5, _NEARLY, True),
    _Attempt(4.0, _NEARLY, True),
)
# Coins take little time, so that finer grids come first.
_ATTEMPTS_FOR_COINS = (
    _Attempt(2.0, _TOGETHER, False),
    _Attempt(2.0, _ALIKE, False),
    _Attempt(4.0, _APART, True),
    _Attempt(1.0, _APART, True),
)
# The account does not group so few pairs, and evaluates up to so many labels at every threshold.
_FEW, _MOST_AT_EVERY = 48, 20
# Thresholds are next to each other, or nearly so, up to so many standard deviations; a curve is
# followed up to the other number of them.
_NEAR, _WIDTH = 4, 8.5
# So many labels are taken one by one before a kernel stands for all of them.
BLOCK = 500
# Shares of delta: what may be lost beyond the last threshold, and by how much floats may exceed it.
_CUT, _NEAR_ENOUGH = 1e-8, 1e-5
_FURTHEST = 3000
# More pairs than this are merged with their neighbours first, at this fraction of what a pair may
# add to the cost of a group that it joins.
_MANY, _RUNS = 1000, 20
# So many values of curves may be compared: it takes about a minute, for which a release waits.
_MOST_COMPARED = 4e9
# The verifier's rounding adds at most this to all masses together.
_LOST = 2.0**-52
# The curve that stands beside the claim has so many points.
_CURVE = 25
# The cells of GNMax's labels, and the bound on the sixth derivative, are those of the verifier.
_CELLS, _SIXTH = 10, 70.0

# Hockey-stick divergences of pairs less those of two equal distributions: a function of thresholds
# t, (n,), that returns (pairs, n).
Curves = Callable[[NDArray[np.float64]], NDArray[np.float64]]
# Noisy counts: how many, the scale of their noise, and their delta as a function of epsilon.
CountsWithDelta = tuple[int, float, Callable[[NDArray[np.float64]], NDArray]]


@dataclass(frozen=True)
class Noise:
    """The noise of every label, as the verifier has it.

    Attributes:
        law: What the certificate says of it.
        hockey_stick_divergences: Those of the dominating pairs, as a function of thresholds.
        max_loss_deviation: The largest standard deviation of a label's privacy loss.
        step: The step of the account's grid.
        shape: The shape of the groups in the certificate.
        error: What the verifier may add to a divergence, for each t + 1.
    """

    law: dict
    hockey_stick_divergences: Curves
    max_loss_deviation: float
    step: float
    shape: tuple[int, int]
    error: float = 0.0


class TooLongError(Exception):
    """Pairs are so many and so unlike that grouping them would take too long."""


class VerifierGaussianMaximum(GaussianMaximum):
    """The dominating pairs of GNMax's labels with grid points where the verifier has them."""

    @property
    def has_grid_point_per_vote(self) -> bool:
        """Whether each lead, in votes, is a grid point."""
        return self.scale <= _CELLS or self.teachers == 1

    def _grid_points(self) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        half_move = 1 / self.scale
        half = min((self.teachers - 1) / self.scale, 13 + half_move)
        stride, leads = 1, math.ceil(half * _CELLS * (1 - 1e-15))
        if self.has_grid_point_per_vote:
            stride = math.ceil(half_move * _CELLS * (1 - 1e-15))
            leads = math.ceil(half / half_move * (1 - 1e-15))
        cell = half_move / stride if self.has_grid_point_per_vote else half / leads
        widest = leads * stride * cell + half_move
        lowest = math.floor(-6.5 / cell) * cell
        middles = math.ceil((8.5 + widest / 2 - lowest) / cell * (1 - 1e-15)) + 1
        steps = np.arange(-leads, leads + 1, dtype=np.float64) * (stride * cell)
        return (
            half_move + steps,
            lowest + np.arange(middles, dtype=np.float64) * cell,
            not self.has_grid_point_per_vote,
        )


def panel_error(panels: int, middles: int) -> float:
    """Return what Boole's rule may be off by over all panels of all cells.

    Args:
        panels: How many panels a cell has.
        middles: How many cells there are.
    """
    unit = 1 / (4 * panels * _CELLS)
    return 8 * _SIXTH / 945 * unit**7 * panels * middles


def perturbed_hockey_stick_divergences(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    total_variation: float,
    t: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return bounds on the hockey-stick divergences of labels that are near two distributions.

    Args:
        first: Distributions of two labels, (pairs, 2).
        second: The same on the neighbour.
        total_variation: How far the labels that are drawn may be from them.
        t: Thresholds, (n,).

    Returns:
        Divergences less those of two equal distributions, (pairs, n).
    """
    gains = np.where(t < 1, t * second[..., None] - first[..., None], 0.0)
    gains = np.where(t < 1, gains, first[..., None] - t * second[..., None])
    return np.maximum(gains.max(axis=1) + total_variation * (1 + t), 0.0)


def certify_adaptive_labels(
    noise: Noise,
    labels: int,
    delta: float,
    epsilon: float,
    counts: Sequence[CountsWithDelta] = (),
) -> Iterator[tuple[dict, list[tuple[float, float]]]]:
    """Yield certificates that so many labels keep (epsilon, delta), ever longer to check.

    If floats do not nearly prove it on a grid, the next grid is finer. No certificate follows one
    whose groups would take too long.

    Args:
        noise: The noise of every label.
        labels: How many labels there are, each chosen after seeing those before.
        delta: The delta of the claim.
        epsilon: Its epsilon.
        counts: Noisy counts that are released beside the labels.

    Yields:
        The certificate, and points of the whole curve: an epsilon and what delta is at most there.
    """
    total_loss_deviation = noise.max_loss_deviation * math.sqrt(labels)
    for times, scale, _ in counts:
        total_loss_deviation = math.hypot(total_loss_deviation, math.sqrt(times) / scale)
    attempts: Sequence[_Attempt]
    if labels == 1 and not counts:
        attempts = [_Attempt(epsilon, (math.inf, 0.0), True)]  # only delta at epsilon is needed
    else:
        attempts = _ATTEMPTS_FOR_COINS if noise.law["name"] == "coins" else _ATTEMPTS
        if 2 * noise.shape[1] <= _FEW and noise.shape[0] == 2:
            attempts = [
                attempt._replace(grouping=_APART, every_threshold=True)
                for attempt in attempts
                if attempt.grouping is not _TOGETHER
            ]
        # Steps divide the deviation, so that equal and opposite losses fall on the grid.
        deviation = noise.max_loss_deviation
        attempts = [
            attempt._replace(
                fineness=deviation / math.ceil(attempt.fineness * deviation / noise.step)
            )
            for attempt in attempts
        ]
    few_labels = labels <= _MOST_AT_EVERY
    for step, grouping, every_threshold in dict.fromkeys(
        attempt._replace(every_threshold=attempt.every_threshold and few_labels)
        for attempt in attempts
    ):
        try:
            certificate = _certify_on_grid(
                noise,
                labels,
                delta,
                epsilon,
                counts,
                step,
                grouping,
                total_loss_deviation,
                every_threshold=every_threshold,
            )
        except TooLongError:
            return
        if certificate:
            yield certificate


class _Losses(NamedTuple):
    """How a privacy loss is distributed over a grid.

    masses: (n,) of finite losses. first: the first one, in steps. infinite: the infinite loss's.
    """

    masses: NDArray[np.float64]
    first: int
    infinite: float


def _certify_on_grid(
    noise: Noise,
    labels: int,
    delta: float,
    epsilon: float,
    counts: Sequence[CountsWithDelta],
    step: float,
    grouping: tuple[float, float],
    total_loss_deviation: float,
    *,
    every_threshold: bool,
) -> tuple[dict, list[tuple[float, float]]] | None:
    """Return the certificate on a grid and its curve; None if it proves less than is claimed.

    grouping: how pairs may be grouped. total_loss_deviation: standard deviation of all losses.
    every_threshold: whether curves are evaluated at every threshold.
    """
    thresholds = _choose_thresholds(noise, step, delta / labels, every_threshold=every_threshold)
    total = _Losses(np.ones(1), 0, 0.0)
    far = max(1, round(_WIDTH * noise.max_loss_deviation / step))
    blocks = _blocks(labels)
    orders = deciding_orders(epsilon, total_loss_deviation)
    hockey_sticks, groups = _group_pairs(noise, thresholds, step, orders, *grouping)
    kernels, infinite = _kernels(hockey_sticks, thresholds, step)
    sizes = {size for _, size in blocks}
    curves = _induction((kernels, infinite + _LOST), sizes, step, thresholds[-1], far)
    for times, size in blocks:
        reach, curve = curves[size]
        block = _losses_of(curve, reach, step)
        for _ in range(times):
            total = _convolve_losses(total, block)
    noisy = []
    for times, scale, deltas in counts:
        mu = math.sqrt(times) / scale
        reach = math.ceil((mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / (_CUT * delta)))) / step)
        curve = np.asarray(deltas(step * np.arange(-reach, reach + 1, dtype=np.float64)))
        total = _convolve_losses(total, _losses_of(curve, reach, step))
        noisy.append({"times": times, "scale": write_hexadecimal(scale), "reach": reach})
    losses = step * (total.first + np.arange(total.masses.size))

    def delta_at(eps: float) -> float:
        finite = total.masses @ np.maximum(0.0, -np.expm1(np.minimum(eps - losses, 0.0)))
        return float(finite + total.infinite)

    if delta_at(epsilon) > delta * (1 + _NEAR_ENOUGH):
        return None
    body = build_certificate(
        "total",
        "adaptive_labels",
        law=noise.law,
        groups=groups.reshape(noise.shape).tolist(),
        blocks=[{"times": times, "labels": size} for times, size in blocks],
        counts=noisy,
        step=write_hexadecimal(step),
        places=list(thresholds),
        width=far,
        epsilon=write_hexadecimal(epsilon),
        delta=write_hexadecimal(delta),
    )
    return body, [(float(eps), delta_at(float(eps))) for eps in np.linspace(0.0, epsilon, _CURVE)]


def _blocks(labels: int) -> list[tuple[int, int]]:
    """Return the blocks of nearly one size that labels are cut into: (blocks, labels in each)."""
    number = -(-labels // BLOCK)
    small, n_large = divmod(labels, number)
    sizes = ((number - n_large, small), (n_large, small + 1))
    return [(times, size) for times, size in sizes if times]


def _choose_thresholds(
    noise: Noise, step: float, cut: float, *, every_threshold: bool
) -> list[int]:
    """Return thresholds in steps: all near ones, then ever fewer, until hardly any mass is beyond.

    cut: the delta of one label. every_threshold: whether none is left out. The curve of one label
    is evaluated at each.
    """
    if noise.max_loss_deviation < step:
        return [0, 1]
    deviation, thresholds = noise.max_loss_deviation / step, [0]
    while thresholds[-1] < _FURTHEST:
        last = thresholds[-1]
        if last > _NEAR * deviation:
            t = math.exp(min(last * step, 600.0))
            beyond = noise.hockey_stick_divergences(np.array([t])).max()
            if beyond <= max(_CUT * cut, 1e-15) or t > 1e200:
                break
        # Chords may be longer where a normal law has less mass.
        gap = math.floor(min(math.exp(min((last / deviation) ** 2 / 8, 9.0)), last / 5))
        thresholds.append(last + (1 if every_threshold else max(1, gap)))
    return thresholds


def _group_pairs(
    noise: Noise,
    thresholds: Sequence[int],
    step: float,
    orders: NDArray,
    max_cost_share: float,
    max_cost_rise: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the curves of few groups, (groups, thresholds), and the group of each pair, (pairs,).

    max_cost_share: what a group may cost at each order, as a share of the dearest pair's cost.
    max_cost_rise: how much a pair that joins may add to a group that costs more. Raises
    TooLongError if it would take too long.
    """
    ks = np.array([*(-k for k in thresholds[:0:-1]), *thresholds])
    t = np.exp(step * ks)
    divergences = _enforce_monotone(noise.hockey_stick_divergences(t) + noise.error * (1 + t), t)
    gaps = np.gradient(step * ks)
    weights = np.exp(np.minimum(np.log(t)[:, None] * orders, 100.0)) * gaps[:, None]
    weights = weights / (divergences @ weights).max(axis=0)
    own_costs = divergences @ weights
    rows = np.argsort(own_costs.max(axis=1), kind="stable")
    groups = np.zeros(len(divergences), dtype=np.int64)
    # The cheapest pairs, as many as together cost no more than the dearest, are one group.
    maxima = np.maximum.accumulate(divergences[rows], axis=0)
    cheap = int(((maxima @ weights).max(axis=1) <= max_cost_share).sum())
    hockey_sticks = maxima[cheap - 1 : cheap] if cheap else divergences[:0]
    # If many others are left, neighbours are merged before they are grouped, as they are alike.
    others, members = rows[cheap:], np.arange(rows.size - cheap)
    if others.size > _MANY:
        others = np.sort(others)
        divergences, _, members = merge_neighbouring_curves(
            divergences[others],
            own_costs[others],
            weights,
            max(max_cost_rise, _ALIKE[1]) / _RUNS,
            max_cost_share / 2,
        )
        own_costs = divergences @ weights
    else:
        divergences, own_costs = divergences[others], own_costs[others]
    group_of = np.zeros(len(divergences), dtype=np.int64)
    costs, compared = hockey_sticks @ weights, 0
    for row in np.argsort(own_costs.max(axis=1), kind="stable")[::-1]:
        compared += hockey_sticks.size
        if compared > _MOST_COMPARED:
            raise TooLongError
        joint = np.maximum(hockey_sticks, divergences[row])
        cost = joint @ weights
        rise = (cost - costs).max(axis=1)
        below = (joint == hockey_sticks).all(axis=1)
        fits = np.flatnonzero(below | (cost.max(axis=1) <= max_cost_share) | (rise < max_cost_rise))
        if fits.size:
            group = fits[rise[fits].argmin()]
            hockey_sticks[group], costs[group] = joint[group], cost[group]
        else:
            group = len(hockey_sticks)
            hockey_sticks = np.concatenate([hockey_sticks, divergences[row : row + 1]])
            costs = np.concatenate([costs, own_costs[row : row + 1]])
        group_of[row] = group
    groups[others] = group_of[members]
    return np.minimum(hockey_sticks + np.maximum(1 - t, 0.0), 1.0), groups


def _enforce_monotone(
    divergences: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Let no curve rise from t = 1 on, nor those of the reflected pairs, at 1 / t; in place."""
    low = np.flatnonzero(t < 1)[::-1]
    high = np.flatnonzero(t >= 1)
    divergences[:, high] = np.minimum.accumulate(divergences[:, high], axis=1)
    divergences[:, low] = np.minimum.accumulate(divergences[:, low] / t[low], axis=1) * t[low]
    return divergences


def _kernels(
    hockey_sticks: NDArray[np.float64], thresholds: Sequence[int], step: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return masses at losses of -reach to reach steps, (kernels, 2 reach + 1), and at infinity.

    hockey_sticks: their curves, (kernels, thresholds). thresholds: those >= 1, in steps.
    """
    ks = np.array([*(-k for k in thresholds[:0:-1]), *thresholds])
    t = np.exp(step * ks)
    slopes = np.diff(hockey_sticks, axis=1, prepend=1.0) / np.diff(t, prepend=0.0)
    after = np.concatenate([slopes[:, 1:], np.zeros((len(hockey_sticks), 1))], axis=1)
    masses = np.zeros((len(hockey_sticks), 2 * thresholds[-1] + 1))
    masses[:, ks + thresholds[-1]] = np.maximum(after - slopes, 0.0) * t
    return masses, hockey_sticks[:, -1] + 1e-29


def _losses_of(curve: NDArray[np.float64], reach: int, step: float) -> _Losses:
    """Return the losses with a curve of divergences at -reach to reach steps, (2 reach + 1,)."""
    masses, infinite = _kernels(curve[None], range(reach + 1), step)
    return _Losses(masses[0], -reach, infinite[0])


def _induction(
    kernels: tuple[NDArray[np.float64], NDArray[np.float64]],
    sizes: set[int],
    step: float,
    reach: int,
    width: int,
) -> dict[int, tuple[int, NDArray[np.float64]]]:
    """Return, by number of labels, how far its curve is known and the curve, as the verifier does.

    It is computed from threshold 0 on, and reflected, because pairs come in both orders.
    kernels: masses and infinite masses, as `_kernels` returns them. sizes: the numbers of labels.
    """
    masses, infinite = kernels
    used = np.flatnonzero(masses.any(axis=0))

    def far(labels: int) -> int:
        return reach + math.isqrt(width * width * labels)

    down = np.exp(-step * np.arange(1, far(max(sizes)) + 1))

    def reflected(values: NDArray, steps: int) -> NDArray:
        below = 1 - down[:steps] * (1 - values[1 : steps + 1])
        return np.concatenate([below[::-1], values])

    values, curves = np.zeros(reach + 1), {}
    for labels in range(1, max(sizes) + 1):
        length = far(labels)
        wide = np.append(values, np.full(length + reach + 1 - values.size, values[-1]))
        shifted = np.lib.stride_tricks.sliding_window_view(reflected(wide, reach), 2 * reach + 1)
        # A loss of k steps leads k thresholds down, so that the last column is the least loss.
        means = shifted[:, 2 * reach - used] @ masses[:, used].T + infinite
        values = np.minimum(np.maximum(wide[: length + 1], means.max(axis=1)), 1.0)
        if labels in sizes:
            curves[labels] = length, reflected(values, length)
    return curves


def _convolve_losses(left: _Losses, right: _Losses) -> _Losses:
    """Return how the sum of two independent losses is distributed."""
    masses = np.convolve(left.masses, right.masses)
    infinite = left.infinite * (right.masses.sum() + right.infinite)
    infinite += right.infinite * left.masses.sum()
    return _Losses(masses, left.first + right.first, float(infinite))
