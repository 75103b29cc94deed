"""What one NZC label costs at each lead of the plurality, whatever the data: no votes are read."""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from private_ensembles.papers.nzc.mathematics.claims_and_truth import delta_by_lead
from private_ensembles.papers.nzc.mathematics.mechanism import TIES


def lead_losses(settings: Mapping, mechanism: Mapping) -> pd.DataFrame:
    """Return delta of one NZC label by lead and rule for ties, over all histograms.

    Args:
        settings: teachers and classes (lists), and epsilon.
        mechanism: constant, noise, and gamma, which as printed is a scale.

    Returns:
        A frame with teachers, classes, ties, lead, histograms, delta_least, delta_most and epsilon,
        the same columns for both kinds of noise. No data are needed.
    """
    noise = {"constant": mechanism["constant"], "noise": mechanism["noise"]}
    noise["noise_scale"] = mechanism["gamma"]  # what is printed as gamma is a scale
    rows = []
    for classes, teachers, ties in product(settings["classes"], settings["teachers"], TIES):
        for loss in delta_by_lead(teachers, classes, settings["epsilon"], ties=ties, **noise):
            row = {"teachers": teachers, "classes": classes, "ties": ties, "lead": loss.lead}
            row["histograms"] = loss.histograms
            row["delta_least"], row["delta_most"] = loss.least, loss.most
            rows.append(row | {"epsilon": loss.epsilon})
    return pd.DataFrame(rows)
