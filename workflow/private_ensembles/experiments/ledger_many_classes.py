"""Rows of the ledger for one query of many classes: bounds from both sides (`audit.bounds`)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.audit.bounds import epsilon_bounds
from private_ensembles.experiments.ledger_row import LedgerRow, ledger_row
from private_ensembles.mechanisms.catalogue.entry import normal_error
from private_ensembles.pate.data_independent import exact_data_independent_epsilon
from private_ensembles.pate.gnmax import analytic_epsilon
from private_ensembles.pate.gnmax_quadrature import gnmax_distribution
from private_ensembles.pate.lnmax_quadrature import lnmax_distribution

# What the quadratures grant (`gnmax_distribution`: 1e-10, `lnmax_distribution`), and what the tails
# of the threshold's noise are good to, as far out as floats hold them.
_GAUSSIAN = {"relative_error": 1e-10 + normal_error(math.inf), "absolute_error": 1e-300}
_LAPLACE = {"absolute_error": 1e-12}
_ORDERS = 1 + 0.5 * np.arange(1, 2000)


def many_classes(name: str, task: Mapping) -> Iterator[LedgerRow]:
    """LNMax, GNMax and Confident-GNMax at the noise of one of PATE's tasks.

    task: K, delta, n_classes, lnmax, confident. Claimed: 2 / scale, or PATE's Renyi costs with the
    classic conversion. Proven: of the noisy counts. exact or lower: the audit's, by whether all
    histograms could be looked at. The bound of one query is the same for all votes.
    """
    K, C, delta = task["K"], task["n_classes"], task["delta"]
    scale, noise = task["lnmax"]["scale"], task["confident"]
    sigma1, sigma2 = noise["sigma1"], noise["sigma2"]

    def checked(counts: NDArray) -> NDArray:
        lead = (counts.max(axis=1, keepdims=True) - noise["threshold"]) / sigma1
        return np.hstack([ndtr(-lead), ndtr(lead) * gnmax_distribution(counts, sigma2)])

    rho = 1 / (2 * sigma1**2) + 1 / sigma2**2
    gaussian = {"lnmax": None, "gnmax": 1 / sigma2**2, "confident_gnmax": rho}
    proven = {
        "lnmax": 2 / scale * (1 + 2.0**-52),
        "gnmax": analytic_epsilon(sigma2, delta),
        "confident_gnmax": exact_data_independent_epsilon(rho, delta),
    }
    distributions = {
        "lnmax": lambda counts: lnmax_distribution(counts, scale),
        "gnmax": lambda counts: gnmax_distribution(counts, sigma2),
        "confident_gnmax": checked,
    }
    for mechanism, distribution in distributions.items():
        errors = _LAPLACE if mechanism == "lnmax" else _GAUSSIAN
        found = epsilon_bounds(distribution, K, C, delta, upper=proven[mechanism], **errors)
        cost = gaussian[mechanism]
        claimed = 2 / scale
        if cost is not None:
            claimed = rdp_to_dp(_ORDERS, cost * _ORDERS, delta, "classic")[0]
        row = ledger_row(
            mechanism,
            f"{name}: one query, {C} classes, K = {K}",
            delta=delta,
            privacy_model="disjoint_shards",
            adjacency="replace_one",
            claimed_epsilon=claimed,
            proven_epsilon=max(proven[mechanism], found.upper),
            exact_epsilon=found.upper if found.exact else None,
            lower_epsilon=None if found.exact else found.lower,
        )
        yield replace(row, data_dependent=False)
