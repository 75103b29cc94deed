"""autodp: what a hundred labels of GNMax cost, and Renyi bounds for one histogram of votes."""

import json
from importlib.metadata import version

import numpy as np
from autodp.autodp_core import Mechanism
from autodp.rdp_bank import RDP_depend_pate_gaussian, RDP_inde_pate_gaussian

LABELS, SIGMA, DELTA = 100, 40.0, 1e-5
labels = Mechanism()
labels.propagate_updates(
    lambda order: LABELS * RDP_inde_pate_gaussian({"sigma": SIGMA}, order), "RDP"
)
# This is an upper bound on the probability of another label than the first, by Proposition 7 of the
# paper, for sigma = 4 and the votes 40, 5, 5.
LOG_Q, ORDERS = -21.2, [2.0, 5.0, 10.0]
bounds = []
for order in ORDERS:
    given = {"sigma": 4.0, "logq": LOG_Q}
    bounds.append(float(np.ravel(RDP_depend_pate_gaussian(given, np.array([order])))[0]))
try:  # few votes lead: the bound that depends on them does not apply
    RDP_depend_pate_gaussian({"sigma": 40.0, "logq": -0.5}, np.array([10.0]))
    undecided = "a number"
except ValueError as error:
    undecided = f"ValueError: {error}"
print(
    json.dumps(
        {
            "version": version("autodp"),
            "labels": LABELS,
            "sigma": SIGMA,
            "delta": DELTA,
            "claimed": float(labels.get_approxDP(DELTA)),
            "log_q": LOG_Q,
            "orders": ORDERS,
            "bounds": bounds,
            "undecided": undecided,
        }
    )
)
