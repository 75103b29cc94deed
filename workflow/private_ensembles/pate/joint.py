"""Rényi cost of a whole confident step, threshold and label together, and its smooth sensitivity.

One query's step fails with P0 = Phi(-t), or passes with P1 = Phi(t), t = (lead - threshold) /
sigma1, and releases a label of Rényi cost rho at most. At a neighbour whose lead is s votes larger
these are Q0 = Phi(-t - h s), Q1 = Phi(t + h s), h = 1 / sigma1, so that the step costs at most

    J(lead, rho) = max over s = -1, 1 of
                   ln(P0^lambda Q0^(1-lambda) + P1^lambda Q1^(1-lambda) e^((lambda-1) rho)) /
                   (lambda - 1)

(Phi is log-concave, hence the sum convex in s, and -1 and 1 are its worst values among all
|s| <= 1). J bounds the divergence from these votes to a neighbour's. J at the neighbour bounds the
divergence back, so a guarantee charges

    sym = max over s = -1, 0, 1 of J(lead + s, the largest rho within one vote)

to every query of a pool fixed beforehand. docs/gnss.md has the proofs, also of the sensitivity
below. Not for release.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d
from scipy.special import expit

from private_ensembles.accounting.rounding import UNIT_ROUNDOFF
from private_ensembles.pate.rdp import check_orders, gnmax_log_q, nearby_log_q
from private_ensembles.pate.rounds import Round
from private_ensembles.pate.smooth_sensitivity import (
    NOTHING,
    LabelWalk,
    Profile,
    Votes,
    merge_equal,
    together,
)
from private_ensembles.pate.tails import tails_of

# Added to every query's sensitivity, as a part of the largest cost of a step: next to it, what
# floating point loses in a sum of sensitivities (1e-15 of that cost each) is below BETA_SLACK.
_SLACK = 1e-7
# Two smooth sensitivities with that slack are worked out to within 1e-8, relatively, each.
BETA_SLACK = 2e-8


@dataclass(frozen=True)
class StepCost:
    """J of one (sigma1, order), as a function of margin = lead - threshold (votes) and rho.

    noise: as in :mod:`.tails`; with `secure` noise margins are whole. Raises ValueError for sigma1
    <= 0, order <= 1 or another noise.
    """

    sigma1: float
    order: float
    noise: str = "reproducible"

    def __post_init__(self) -> None:
        tails_of(self.noise, self.sigma1)  # checks both
        check_orders(self.order)

    def logs(self, margin: ArrayLike) -> tuple[NDArray[np.float64], ...]:
        """ln(P0^l Q0^(1-l)), ln(P1^l Q1^(1-l)) for s = -1 and 1, and the size of their terms.

        Each (2, ...).
        """
        margin = np.asarray(margin, dtype=np.float64)
        moved = np.stack([margin - 1, margin + 1])
        tails, less = tails_of(self.noise, self.sigma1), self.order - 1
        fails, passes = (self.order * log(margin) for log in (tails.log_fails, tails.log_passes))
        moved_fails = tails.log_fails(moved, side="lower")
        moved_passes = tails.log_passes(moved, side="lower")
        return (
            fails - less * moved_fails,
            passes - less * moved_passes,
            -fails - less * moved_fails,
            -passes - less * moved_passes,
        )

    def cost(self, margin: ArrayLike, rho: ArrayLike) -> NDArray[np.float64]:
        """J(margin, rho), rounded up; any equal shapes, or numbers."""
        fails, passes, size_fails, size_passes = self.logs(margin)
        less = self.order - 1
        passes = passes + less * np.asarray(rho)
        total = np.logaddexp(fails, passes)
        # A logarithm is off by a few round-offs of its terms' size, the sum by the weighted mean.
        size = np.exp(fails - total) * size_fails + np.exp(passes - total) * size_passes
        error = 64 * UNIT_ROUNDOFF * (1 + size + less * np.asarray(rho))
        return ((np.maximum(total, 0.0) + error) / less * (1 + 1e-15)).max(axis=0)


class JointProfile(Profile):
    """S(d) of the total cost, in both directions, of one round's steps: sum over queries of sym.

    Raises ValueError for a round without a threshold or with leads that are not whole votes, and
    if condition C5 or C6 fails at this order.
    """

    def __init__(self, single_round: Round, order: float) -> None:
        if single_round.leads is None:
            raise ValueError("threshold: a round without one has no joint cost")
        leads = np.rint(single_round.leads).astype(np.int64)
        if (leads != single_round.leads).any():
            raise ValueError("leads: must be whole votes; round K times the student's scores")
        violated = single_round.conditions_violated(order)
        if violated:
            raise ValueError(f"order = {order}: condition {violated[0]} fails there")
        self.step = StepCost(single_round.sigma1, float(order), single_round.noise)
        self.teachers = single_round.teachers
        self._round = single_round
        self._curve = single_round.curve(order)
        # The label's cost if it is constant: no second class, or no votes that use Theorem 6.
        self._constant = (
            0.0 if single_round.counts.shape[1] == 1 else float(order) / single_round.sigma2**2
        )
        rows, self._weights, self._leads = merge_equal(
            single_round.counts, np.ones(len(leads)), leads
        )
        self._walk = LabelWalk(Votes(rows, self._curve.tails), self._curve) if self._curve else None
        self.together = together(rows)
        if self._walk:
            self._walk.drop_below(NOTHING * self.at(0)[0] / len(leads))

    @functools.cached_property
    def largest(self) -> float:
        """The data-independent cost of one step, lambda / (2 sigma1^2) + lambda / sigma2^2."""
        return self.step.order / (2 * self._round.sigma1**2) + self._constant

    def total_rdp(self) -> float:
        """sum over queries of sym: a guarantee at these votes, rounded up."""
        single_round = self._round
        rho = np.full(len(single_round.counts), self._constant)
        if self._curve:

            def log_q(votes: NDArray[np.int64]) -> NDArray[np.float64]:
                return gnmax_log_q(votes, single_round.sigma2, noise=single_round.noise)

            rho = self._curve.beta(nearby_log_q(single_round.counts, log_q))
        nearby = np.clip(
            single_round.leads + np.array([[-1], [0], [1]]), -self.teachers, self.teachers
        )
        costs = self.step.cost(nearby - single_round.threshold, rho).max(axis=0)
        return float(costs.sum() * (1 + 1e-12))

    @functools.cached_property
    def _tables(self) -> tuple[NDArray[np.float64], ...]:
        """For every lead -K..K: largest slope in rho, move of J at rho = 0, move of the slope.

        A move is to either neighbouring lead; slopes are at rho up to the constant cost.
        """
        margins = np.arange(-self.teachers, self.teachers + 1) - self._round.threshold
        fails, passes, *_ = self.step.logs(margins)
        less = self.step.order - 1
        # The slope of J in rho is the logistic function of the label's log odds + less rho.
        odds, most = passes - fails, less * self._constant
        slope = expit(odds + most).max(axis=0)
        move = _neighbours(np.abs(np.diff(np.logaddexp(fails, passes) / less, axis=1)))
        # |expit(a + o) - expit(b + o)| over o in [0, most] is largest where a + o and b + o lie
        # evenly about 0, or as near to that as the interval allows.
        a, b = odds[:, :-1], odds[:, 1:]
        at = np.clip(-(a + b) / 2, 0.0, most)
        return slope, move, _neighbours(np.abs(expit(a + at) - expit(b + at)))

    def _sums(self, distances: NDArray[np.int64]) -> NDArray[np.float64]:
        # sym looks one vote further than J does.
        distances = distances + 1
        slope, move, turn = self._tables
        where = self._leads + self.teachers

        def window(table: NDArray[np.float64], radii: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.array(
                [maximum_filter1d(table, size=2 * r + 1, mode="nearest")[where] for r in radii]
            )

        sensitivity, rho = 0.0, self._constant
        if self._walk:
            sensitivity, rho = self._walk.local(distances)
        each = (
            window(slope, distances + 1) * sensitivity
            + window(move, distances)
            + window(turn, distances) * rho
            + _SLACK * self.largest
        )
        return each @ self._weights


def _neighbours(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """The larger of the steps to either side of each point, over both rows: (2, n-1) -> (n,)."""
    steps = steps.max(axis=0)
    return np.maximum(np.r_[steps, 0.0], np.r_[0.0, steps])
