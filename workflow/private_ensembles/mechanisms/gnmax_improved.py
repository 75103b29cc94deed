"""GNMax with sigma by Rényi DP and the conversion of Canonne, Kamath and Steinke 2020."""

from private_ensembles.mechanisms.gaussian import GNMax

MECHANISM = GNMax("gnmax_improved", "improved")
