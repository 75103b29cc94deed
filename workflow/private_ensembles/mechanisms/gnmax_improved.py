"""GNMax with sigma by Rényi DP and the conversion of Canonne, Kamath and Steinke 2020."""

from private_ensembles.mechanisms.families.gaussian import GaussianMaximum


class ImprovedGNMax(GaussianMaximum):
    """The published analysis, converted better."""

    name = "gnmax_improved"
    label = "GNMax, σ by the improved RDP conversion"
    source = "PATE section 4.1; Canonne, Kamath and Steinke 2020, Proposition 12"
    order = 12
    analysis = "improved"
    method, conversion = "improved_rdp", "improved"


MECHANISM = ImprovedGNMax()
