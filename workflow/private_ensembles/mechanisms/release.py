"""The two-class label mechanisms by name: their samplers and exact output distributions.

A mechanism here turns the number of teachers that say 1 into a label. `registry` says under which
privacy model and adjacency each one's claim holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.darrm import release as darrm
from private_ensembles.mechanisms import ladder_steps as ladder
from private_ensembles.mechanisms import laplace
from private_ensembles.mechanisms import selection as exponential
from private_ensembles.noise import secure as secure
from private_ensembles.pate import gnmax


@dataclass(frozen=True)
class TwoClassMechanism:
    """probability(K, **parameters) -> (K + 1,); sample(counts, K, generator, **parameters).

    The same with noise that nobody can repeat: secure_probability, secure_sample(counts, K, ...).
    """

    probability: Callable[..., NDArray[np.float64]]
    sample: Callable[..., NDArray[np.uint8]]
    secure_probability: Callable[..., NDArray[np.float64]]
    secure_sample: Callable[..., NDArray[np.uint8]]


def _majority_probability(K: int) -> NDArray[np.float64]:
    return (2 * np.arange(K + 1) > K).astype(np.float64)


def _majority(counts: ArrayLike, K: int, generator=None) -> NDArray[np.uint8]:
    return (2 * np.asarray(counts) > K).astype(np.uint8)


_GNMAX = TwoClassMechanism(
    probability=lambda K, sigma: gnmax.label_probability(K, sigma),
    sample=lambda counts, K, generator, sigma: gnmax.release(counts, K, sigma, generator),
    secure_probability=secure.gnmax_label_probability,
    secure_sample=secure.gnmax_release,
)
_DARRM = TwoClassMechanism(
    probability=lambda K, gamma: darrm.label_probability(gamma),
    sample=lambda counts, K, generator, gamma: darrm.release(counts, gamma, generator),
    secure_probability=lambda K, gamma: darrm.label_probability(gamma),
    secure_sample=lambda counts, K, gamma: secure.darrm_release(counts, gamma),
)


def _from_table(matrix: Callable, sample: Callable) -> TwoClassMechanism:
    """A mechanism given by matrix(K, **parameters) (K + 1, 2), Pr[label | count of ones].

    Secure labels are the majority's, flipped by an exact coin: both probabilities of the table keep
    their relative error, which the audit behind the noise's scale has granted.
    """

    def probability(K: int, **parameters) -> NDArray[np.float64]:
        return matrix(K, **parameters)[:, 1]

    def secure_sample(counts: ArrayLike, K: int, **parameters) -> NDArray[np.uint8]:
        table = matrix(K, **parameters)[np.asarray(counts)]
        flip = secure.coins(table.min(axis=-1))
        return (np.argmax(table, axis=-1) ^ flip).astype(np.uint8)

    return TwoClassMechanism(probability, sample, probability, secure_sample)


def _selection(distribution: Callable, choose: Callable) -> TwoClassMechanism:
    """One that weighs classes by their counts, as `mechanisms.selection` does."""

    def both(counts: ArrayLike, K: int) -> NDArray:
        return np.stack([K - np.asarray(counts), np.asarray(counts)], axis=-1)

    def sample(counts: ArrayLike, K: int, generator, rate: float) -> NDArray[np.uint8]:
        return choose(both(counts, K), generator, rate=rate).astype(np.uint8)

    return _from_table(lambda K, rate: distribution(both(np.arange(K + 1), K), rate), sample)


# Its sigma is exact for continuous noise, which a table of the label's distribution can stand for.
_GNMAX_EXACT = _from_table(
    lambda K, sigma: np.stack([(p := gnmax.label_probability(K, sigma))[::-1], p], axis=1),
    _GNMAX.sample,
)
_LNMAX = _from_table(
    laplace.lnmax_matrix,
    lambda counts, K, generator, scale: laplace.release(counts, K, generator, scale=scale),
)
MECHANISMS = {
    "gnmax": _GNMAX,
    "gnmax_improved": _GNMAX,
    "gnmax_analytic": _GNMAX,
    "gnmax_exact": _GNMAX_EXACT,
    "lnmax_pure": _LNMAX,
    "lnmax_improved": _LNMAX,
    "lnmax_analytic": _LNMAX,
    "lnmax_exact": _LNMAX,
    "exponential": _selection(
        exponential.exponential_distribution, exponential.exponential_release
    ),
    "permute_and_flip": _selection(
        exponential.permute_and_flip_distribution, exponential.permute_and_flip_release
    ),
    "ladder": _from_table(ladder.ladder_matrix, ladder.release),
    "darrm_sub": _DARRM,
    "darrm_opt": _DARRM,
    "majority_private": TwoClassMechanism(
        _majority_probability, _majority, _majority_probability, _majority
    ),
}


def label_probability(
    mechanism: str, K: int, noise: str = "reproducible", **parameters
) -> NDArray[np.float64]:
    """Pr[release 1 | n of K teachers say 1], n = 0..K, of a mechanism named in MECHANISMS.

    noise : reproducible or secure (see `noise.secure`); GNMax's discrete noise can tie.
    """
    entry = MECHANISMS[mechanism]
    is_secure = secure.check_mode(noise) == "secure"
    return (entry.secure_probability if is_secure else entry.probability)(K, **parameters)


def release(
    mechanism: str, counts: ArrayLike, K: int, generator: np.random.Generator | None, **parameters
) -> NDArray[np.uint8]:
    """One released label per count of teachers that say 1; generator None: secure noise."""
    if generator is None:
        return MECHANISMS[mechanism].secure_sample(counts, K, **parameters)
    return MECHANISMS[mechanism].sample(counts, K, generator, **parameters)


def expected_accuracy(probability: NDArray[np.float64], counts: NDArray, labels: NDArray) -> float:
    """Exact expected share of right labels over queries with known labels 0 or 1."""
    right = np.where(np.asarray(labels) == 1, probability[counts], 1 - probability[counts])
    return float(right.mean())
