"""What a gamma is worth: DaRRM's linear utility, and the one with the absolute value of Eq. 196."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from private_ensembles.papers.darrm.mathematics import prior as priors
from private_ensembles.papers.darrm.mathematics.privacy_cost import UNIT_ROUNDOFF


class LinearObjective:
    """sum c_l gamma_l (DaRRM Eq. 201 without the factor -1/2), for x = gamma at l = (K+1)/2..K.

    size : of x; total : the utility of gamma = 1, the largest there is; rounding : bound on how
    much larger the utility of an x may be in exact arithmetic, with exact c_l.
    """

    def __init__(self, coefficients: NDArray) -> None:
        self.coefficients = coefficients
        self.size = len(coefficients)
        # Each c_l is the difference of two probabilities good to 5 K round-offs of their size.
        self.rounding = 16 * (self.size + 1) * UNIT_ROUNDOFF
        self.total = float(coefficients.sum())

    def value(self, x: NDArray) -> float:
        return float(self.coefficients @ x)

    def gradient(self, x: NDArray) -> NDArray:
        return self.coefficients


class AbsoluteObjective:
    """E|sum lead_l| - E|sum lead_l (1 - gamma_l)| over sampled leads: twice the error avoided.

    Eq. 196's true expected error, with its absolute value, is concave in gamma as a utility; if
    the lead never changes sign, it equals `LinearObjective`.
    """

    def __init__(self, leads: NDArray) -> None:
        self.leads = leads
        self.size = leads.shape[1]
        self.total = float(np.abs(leads.sum(axis=1)).mean())
        # Of `value`, and of a tangent's slope and height: sums over the samples, then over l.
        self.rounding = 4 * sum(leads.shape) * UNIT_ROUNDOFF * float(np.abs(leads).mean(0).sum())

    def value(self, x: NDArray) -> float:
        return self.total - float(np.abs(self.leads @ (1 - x)).mean())

    def gradient(self, x: NDArray) -> NDArray:
        return np.sign(self.leads @ (1 - x)) @ self.leads / len(self.leads)


def objective(K: int, prior: priors.Prior) -> LinearObjective | AbsoluteObjective:
    """The objective that a prior gives (see `prior`)."""
    if prior.kind == "absolute-uniform":
        return AbsoluteObjective(priors.sampled_leads(K, prior.low, prior.high))
    return LinearObjective(priors.objective(K, prior))
