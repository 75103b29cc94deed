"""GNMax with sigma by Rényi DP and the classic conversion, as PATE does it."""

from private_ensembles.mechanisms.gaussian import GNMax

MECHANISM = GNMax("gnmax", "classic")
