"""What a certificate of adaptive labels says: a grid, few groups of pairs, and what they prove.

`verify/verify.py` repeats all of it with integers. Here it is worked out in floats, a little above,
to choose the groups and to know what will be proven. Theorem: docs/certificates.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.adaptive_composition.account import deciding_orders
from private_ensembles.accounting.adaptive_composition.gaussian_maximum import GaussianMaximum
from private_ensembles.accounting.adaptive_composition.hockey_sticks import (
    merge_neighbouring_curves,
)
from private_ensembles.accounting.certificate_format import build_certificate, write_hexadecimal

# How pairs may be grouped: together they cost at most a share of the dearest, or so much more of it
# than they did; who lies below a group's stick may always join it.
_TOGETHER, _ALIKE, _NEARLY, _CLOSE = (1.0, 0.0), (0.9, 1e-3), (0.5, 1e-4), (0.1, 1e-5)
_APART = 0.0, 0.0
# What is tried, one after the other, until the claim is proven: points of the grid for each of the
# account's own, the groups, and whether few labels are asked at every threshold: what long chords
# add weighs most where labels are few.
_TRIES = ((1.3, _TOGETHER, False), (1.7, _TOGETHER, False), (1.3, _TOGETHER, True))
_TRIES += ((1.3, _ALIKE, False), (1.3, _NEARLY, True), (1.3, _CLOSE, True))
_TRIES += ((2.5, _NEARLY, True), (4.0, _NEARLY, True))
# Coins take little time.
_TRIES_OF_COINS = ((2.0, _TOGETHER, False), (2.0, _ALIKE, False))
_TRIES_OF_COINS += ((4.0, _APART, True), (1.0, _APART, True))
# So few pairs are not grouped by the account, and up to so many labels it asks at every threshold.
_FEW, _MOST_AT_EVERY = 48, 20
# Up to how many standard deviations thresholds are next to each other or nearly so, and how far a
# curve is followed.
_NEAR, _WIDTH = 4, 8.5
# Labels that are taken one by one before a kernel stands for all of them.
BLOCK = 500
# Of delta: what may be lost beyond the last threshold, and by what floats may find too much.
_CUT, _NEAR_ENOUGH = 1e-8, 1e-5
_FURTHEST = 3000
# More pairs than so many are joined with their neighbours first, at this share of what a pair that
# joins a group may cost it more.
_MANY, _RUNS = 1000, 20
# Thresholds at which pairs are compared with groups: about a minute, for which a release waits.
_MOST_COMPARED = 4e9
# What the verifier's rounding adds to all masses together.
_LOST = 2.0**-52
# Points of the curve that is told beside the claim.
_CURVE = 25
# The cells of GNMax's labels, and the sixth derivative, as the verifier has them.
_CELLS, _SIXTH = 10, 70.0


@dataclass(frozen=True)
class Noise:
    """The noise of every label, as the verifier has it.

    curves: excesses of pairs at thresholds, a function of t. law: what the certificate says of it.
    spread: standard deviation of a label's loss. step: of the account's grid. shape: of the groups
    in the certificate. apart: how far a label that is drawn may be from the law, in total
    variation. error: what the verifier may add to an excess, for each t + 1.
    """

    law: dict
    hockey_stick_divergences: object
    max_loss_deviation: float
    step: float
    shape: tuple[int, int]
    total_variation: float = 0.0
    error: float = 0.0


class TooLongError(Exception):
    """Pairs are so many and so unlike that their groups would be looked for too long."""


class VerifierGaussianMaximum(GaussianMaximum):
    """The family of GNMax's labels with nodes where the verifier has them."""

    @property
    def has_grid_point_per_vote(self) -> bool:
        """Whether each lead, in votes, is a node."""
        return self.scale <= _CELLS or self.teachers == 1

    def _grid_points(self):
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
        steps = np.arange(-leads, leads + 1) * (stride * cell)
        return (
            half_move + steps,
            lowest + np.arange(middles) * cell,
            not self.has_grid_point_per_vote,
        )


def panel_error(panels: int, middles: int) -> float:
    """What Boole's rule may be off by over all panels of all cells."""
    unit = 1 / (4 * panels * _CELLS)
    return 8 * _SIXTH / 945 * unit**7 * panels * middles


def perturbed_hockey_stick_divergences(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    total_variation: float,
    t: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the excesses of pairs of two labels, drawn so far from them in total variation."""
    gains = np.where(t < 1, t * second[..., None] - first[..., None], 0.0)
    gains = np.where(t < 1, gains, first[..., None] - t * second[..., None])
    return np.maximum(gains.max(axis=1) + total_variation * (1 + t), 0.0)


def certify_adaptive_labels(
    noise: Noise,
    labels: int,
    delta: float,
    epsilon: float,
    counts: Sequence[tuple[int, float, object]] = (),
) -> Iterator[tuple[dict, list[tuple[float, float]]]]:
    """Yield certificates that so many labels keep (epsilon, delta), ever longer to check.

    Each with points of the whole curve, an epsilon and what delta is at most there. Where floats
    do not nearly find it proven on a grid, the next one is finer; none follows one whose groups
    would take too long.

    noise: of the labels. counts: noisy counts beside them, each how many, the scale, and its delta
    at an epsilon.
    """
    width = noise.max_loss_deviation * math.sqrt(labels)
    for times, scale, _ in counts:
        width = math.hypot(width, math.sqrt(times) / scale)
    if labels == 1 and not counts:
        tries = [(epsilon, (math.inf, 0.0), True)]  # nothing but the curve at epsilon is asked for
    else:
        tries = _TRIES_OF_COINS if noise.law["name"] == "coins" else _TRIES
        if 2 * noise.shape[1] <= _FEW and noise.shape[0] == 2:
            tries = [(more, _APART, True) for more, groups, _ in tries if groups is not _TOGETHER]
        # A whole number of steps, so that two equal and opposite losses fall on the grid.
        tries = [
            (
                noise.max_loss_deviation / math.ceil(more * noise.max_loss_deviation / noise.step),
                groups,
                every,
            )
            for more, groups, every in tries
        ]
    few = labels <= _MOST_AT_EVERY
    for step, grouped, every in dict.fromkeys((*each, every and few) for *each, every in tries):
        try:
            found = _certify_on_grid(
                noise, labels, delta, epsilon, counts, step, grouped, every, width
            )
        except TooLongError:
            return
        if found:
            yield found


def _certify_on_grid(
    noise: Noise,
    labels: int,
    delta: float,
    epsilon: float,
    counts: Sequence[tuple[int, float, object]],
    step: float,
    grouping: tuple[float, float],
    every_threshold: bool,
    total_loss_deviation: float,
) -> tuple[dict, list[tuple[float, float]]] | None:
    """Return the certificate on a grid and its curve; None if it proves less than is claimed.

    grouped: how pairs may be grouped. every: whether every threshold is asked at. width: standard
    deviation of all losses.
    """
    places = _choose_thresholds(noise, step, delta / labels, every_threshold=every_threshold)
    total = np.ones(1), 0, 0.0  # masses, the first one's place, the infinite loss's mass
    far = max(1, round(_WIDTH * noise.max_loss_deviation / step))
    blocks = _blocks(labels)
    orders = deciding_orders(epsilon, total_loss_deviation)
    sticks, groups = _group_pairs(noise, places, step, orders, *grouping)
    masses, lost = _kernels(sticks, places, step)
    sizes = {size for _, size in blocks}
    curves = _induction((masses, lost + _LOST), sizes, step, places[-1], far)
    for times, size in blocks:
        reach, curve = curves[size]
        one = _kernels(curve[None], range(reach + 1), step)
        for _ in range(times):
            total = _convolve_losses(total, (one[0][0], -reach, one[1][0]))
    noisy = []
    for times, scale, deltas in counts:
        mu = math.sqrt(times) / scale
        reach = math.ceil((mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / (_CUT * delta)))) / step)
        sticks = deltas(step * np.arange(-reach, reach + 1))
        one = _kernels(np.asarray(sticks)[None], range(reach + 1), step)
        total = _convolve_losses(total, (one[0][0], -reach, one[1][0]))
        noisy.append({"times": times, "scale": write_hexadecimal(scale), "reach": reach})
    masses, first, lost = total
    losses = step * (first + np.arange(masses.size))

    def delta_at(at: float) -> float:
        spent = masses @ np.maximum(0.0, -np.expm1(np.minimum(at - losses, 0.0)))
        return float(spent + lost)

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
        places=list(places),
        width=far,
        epsilon=write_hexadecimal(epsilon),
        delta=write_hexadecimal(delta),
    )
    return body, [(float(at), delta_at(float(at))) for at in np.linspace(0.0, epsilon, _CURVE)]


def _blocks(labels: int) -> list[tuple[int, int]]:
    """As many blocks of nearly one size as there must be: each how many, and of how many labels."""
    number = -(-labels // BLOCK)
    size, more = divmod(labels, number)
    return [(times, each) for times, each in ((number - more, size), (more, size + 1)) if times]


def _choose_thresholds(
    noise: Noise, step: float, cut: float, *, every_threshold: bool
) -> list[int]:
    """Thresholds in steps: all that are near, then ever fewer, until next to nothing is beyond.

    every: all of them. The curve of one label is asked for at each.
    """
    if noise.max_loss_deviation < step:
        return [0, 1]
    most, places = noise.max_loss_deviation / step, [0]
    while places[-1] < _FURTHEST:
        last = places[-1]
        if last > _NEAR * most:
            t = math.exp(min(last * step, 600.0))
            beyond = noise.hockey_stick_divergences(np.array([t])).max()
            if beyond <= max(_CUT * cut, 1e-15) or t > 1e200:
                break
        # Chords may be longer where there is less of a normal law.
        gap = math.floor(min(math.exp(min((last / most) ** 2 / 8, 9.0)), last / 5))
        places.append(last + (1 if every_threshold else max(1, gap)))
    return places


def _group_pairs(
    noise: Noise,
    places: Sequence[int],
    step: float,
    orders: NDArray,
    max_cost_share: float,
    max_cost_rise: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The sticks of few groups, (groups, thresholds), and the group of each pair.

    most, more: what a group may cost at each order, as a share of the dearest pair, and how much
    more a pair that joins may cost it if it costs more. Raises TooLongError.
    """
    ks = np.array([*(-k for k in places[:0:-1]), *places])
    t = np.exp(step * ks)
    excess = _enforce_monotone(
        noise.hockey_stick_divergences(t) + (noise.error + noise.total_variation) * (1 + t), t
    )
    gaps = np.gradient(step * ks)
    weights = np.exp(np.minimum(np.log(t)[:, None] * orders, 100.0)) * gaps[:, None]
    weights = weights / (excess @ weights).max(axis=0)
    own = excess @ weights
    rows = np.argsort(own.max(axis=1), kind="stable")
    groups = np.zeros(len(excess), dtype=np.int64)
    # As many of the cheapest as together cost no more than the dearest are one group.
    together = np.maximum.accumulate(excess[rows], axis=0)
    cheap = int(((together @ weights).max(axis=1) <= max_cost_share).sum())
    sticks = together[cheap - 1 : cheap] if cheap else excess[:0]
    # Of many others neighbours, which are alike, are joined before groups are looked for.
    others, members = rows[cheap:], np.arange(rows.size - cheap)
    if others.size > _MANY:
        others = np.sort(others)
        nearly, some = max(max_cost_rise, _ALIKE[1]) / _RUNS, max_cost_share / 2
        excess, _, members = merge_neighbouring_curves(
            excess[others], own[others], weights, nearly, some
        )
        own = excess @ weights
    else:
        excess, own = excess[others], own[others]
    group_of = np.zeros(len(excess), dtype=np.int64)
    costs, compared = sticks @ weights, 0
    for row in np.argsort(own.max(axis=1), kind="stable")[::-1]:
        compared += sticks.size
        if compared > _MOST_COMPARED:
            raise TooLongError
        joint = np.maximum(sticks, excess[row])
        cost = joint @ weights
        rise = (cost - costs).max(axis=1)
        below = (joint == sticks).all(axis=1)
        fits = np.flatnonzero(below | (cost.max(axis=1) <= max_cost_share) | (rise < max_cost_rise))
        if fits.size:
            group = fits[rise[fits].argmin()]
            sticks[group], costs[group] = joint[group], cost[group]
        else:
            group = len(sticks)
            sticks = np.concatenate([sticks, excess[row : row + 1]])
            costs = np.concatenate([costs, own[row : row + 1]])
        group_of[row] = group
    groups[others] = group_of[members]
    return np.minimum(sticks + np.maximum(1 - t, 0.0), 1.0), groups


def _enforce_monotone(excess: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
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
    """By number of labels: how far its curve is known, and the curve, as the verifier has it.

    Worked out from place 0 on, and reflected, as the family has its pairs in both orders.
    """
    masses, lost = kernels
    used = np.flatnonzero(masses.any(axis=0))

    def far(labels: int) -> int:
        return reach + math.isqrt(width * width * labels)

    down = np.exp(-step * np.arange(1, far(max(wanted)) + 1))

    def reflected(values: NDArray, places: int) -> NDArray:
        left = 1 - down[:places] * (1 - values[1 : places + 1])
        return np.concatenate([left[::-1], values])

    values, curves = np.zeros(reach + 1), {}
    for labels in range(1, max(wanted) + 1):
        here = far(labels)
        wide = np.append(values, np.full(here + reach + 1 - values.size, values[-1]))
        shifted = np.lib.stride_tricks.sliding_window_view(reflected(wide, reach), 2 * reach + 1)
        # A loss of k steps leads k places down, so that the last column is the least loss.
        means = shifted[:, 2 * reach - used] @ masses[:, used].T + lost
        values = np.minimum(np.maximum(wide[: here + 1], means.max(axis=1)), 1.0)
        if labels in wanted:
            curves[labels] = here, reflected(values, here)
    return curves


def _convolve_losses(left: tuple, right: tuple) -> tuple:
    """The kernel of two independent losses: masses, the first one's place, the infinite's mass."""
    masses = np.convolve(left[0], right[0])
    lost = left[2] * (right[0].sum() + right[2]) + right[2] * left[0].sum()
    return masses, left[1] + right[1], float(lost)
