"""GNMax with sigma by the exact condition for Gaussian noise (Balle and Wang 2018)."""

from private_ensembles.mechanisms.gaussian import GNMax

MECHANISM = GNMax("gnmax_analytic", "exact")
