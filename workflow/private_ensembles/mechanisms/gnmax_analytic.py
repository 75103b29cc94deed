"""GNMax with sigma by the exact condition for Gaussian noise (Balle and Wang 2018)."""

from private_ensembles.mechanisms.families.gaussian import GaussianMaximum


class AnalyticGNMax(GaussianMaximum):
    """The least sigma that is proven of the noisy counts."""

    name = "gnmax_analytic"
    label = "GNMax, σ by the analytic Gaussian mechanism"
    source = "PATE section 4.1; σ by Balle and Wang 2018, Theorem 8"
    order = 11
    analysis = "analytic"
    method, conversion = "analytic", "exact"


MECHANISM = AnalyticGNMax()
