"""PATE's Table 2 taken at its word: what each row's printed parameters imply.

Nothing here looks at votes: these are functions of the printed order, beta, SS and sigma_SS, so
that each printed result can be compared with what the printed formula, and the exact one, make of
the row's own numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from private_ensembles.papers.pate.mathematics.sanitize import SEARCHED_BETAS, gnss_rdp, tune_sigma


@dataclass(frozen=True)
class Sanitisation:
    """Printed parameters of one GNSS: beta, smooth sensitivity and sigma_SS at a Rényi order."""

    order: float
    beta: float
    smooth_sensitivity: float
    sigma_ss: float

    @property
    def searched_beta(self) -> float:
        """The beta next to the printed one of those that the authors' public code tries."""
        return min(
            (product / self.order for product in SEARCHED_BETAS),
            key=lambda beta: abs(beta - self.beta),
        )

    def cost(self, formula: str) -> float:
        """Return its Rényi cost by `gnss_rdp`."""
        return gnss_rdp(self.order, self.beta, self.sigma_ss, formula=formula)


@dataclass(frozen=True)
class PrintedRow:
    """A row of Table 2: expected epsilon, delta, and its GNSS's parameters (two for two rounds)."""

    epsilon: float
    delta: float
    gnss: tuple[Sanitisation, ...]


def recompute_row(row: PrintedRow) -> dict[str, float]:
    """Return what a row's printed parameters imply, by name.

    Args:
        row: a row of Table 2.

    Returns:
        gnss_cost_printed_formula (Theorem 23) and gnss_cost_exact; sanitized_fixed_part = epsilon +
        the former, as printed, and sanitized_fixed_part_exact with the latter; sanitized_sd = SS
        sigma_SS (root of the sum of squares for two rounds); tuned_sigma_ss, the sigma_SS that
        minimises the printed cost plus two standard deviations at the printed SS (the last round's
        for two).
    """
    printed = sum(part.cost("paper") for part in row.gnss)
    exact = sum(part.cost("exact") for part in row.gnss)
    last = row.gnss[-1]
    return {
        "gnss_cost_printed_formula": printed,
        "gnss_cost_exact": exact,
        "sanitized_fixed_part": row.epsilon + printed,
        "sanitized_fixed_part_exact": row.epsilon + exact,
        "sanitized_sd": math.hypot(*(part.smooth_sensitivity * part.sigma_ss for part in row.gnss)),
        "tuned_sigma_ss": tune_sigma(
            last.order, last.beta, last.smooth_sensitivity, formula="paper"
        ),
    }
