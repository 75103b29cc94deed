"""All entries of the catalogue in one setting."""

from __future__ import annotations

from private_ensembles.mechanisms.catalogue import bagging, counts, pate, private_teachers
from private_ensembles.mechanisms.catalogue.entry import (
    BaggingNoise,
    ConfidentNoise,
    Entry,
    Setting,
)
from private_ensembles.mechanisms.one_label import SCALES
from private_ensembles.mechanisms.selection import (
    exponential_distribution,
    exponential_release,
    permute_and_flip_distribution,
    permute_and_flip_release,
)

_SIGMAS = {
    "gnmax": "rdp",
    "gnmax_improved": "improved_rdp",
    "gnmax_analytic": "analytic",
    "gnmax_exact": "exact",
}
_SELECTIONS = {
    "exponential": (exponential_distribution, exponential_release),
    "permute_and_flip": (permute_and_flip_distribution, permute_and_flip_release),
}


_AT_GIVEN_NOISE = (pate.laplacian, pate.confident, pate.interactive)


def entries(setting: Setting) -> dict[str, Entry]:
    """Every mechanism whose noise is found for a budget, or that has none to choose.

    Raises ValueError where no noise serves the budget.
    """
    found = [counts.gaussian(name, setting, method) for name, method in _SIGMAS.items()]
    found += [counts.laplacian(name, setting, method) for name, method in SCALES.items()]
    found += [counts.selection(name, setting, *which) for name, which in _SELECTIONS.items()]
    found += [counts.optimal(setting), counts.immutable(setting)]
    found += [private_teachers.noise_function(name, setting) for name in setting.gamma]
    found.append(private_teachers.majority(setting))
    return {entry.name: entry for entry in found}


def entries_at_noise(n_teachers: int, delta: float, noise: ConfidentNoise) -> dict[str, Entry]:
    """PATE's aggregators, whose noise is given and whose claims are at delta."""
    found = [build(n_teachers, delta, noise) for build in _AT_GIVEN_NOISE]
    return {entry.name: entry for entry in found}


def entries_of_bagging(delta: float, noise: BaggingNoise) -> dict[str, Entry]:
    """DPBag's noisy vote (SAA's with one partition), whose claim is at delta."""
    return {"dpbag": bagging.vote(delta, noise)}
