"""Any reasonable algorithm for the majority as a DaRRM (DaRRM, Lemma 3.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.base import checks
from private_ensembles.papers.darrm.mathematics.gamma import mirror_gamma

# Asymmetry, or a loss to a coin, is put down to rounding of the probabilities up to this.
ROUNDING = 1e-12
SYMMETRIZE = ("no", "mean", "upper", "lower")


def gamma_from_probabilities(
    prob_of_one: ArrayLike, *, symmetrize: str = "no"
) -> NDArray[np.float64]:
    """Return the gamma for which DaRRM releases the labels of an algorithm.

    gamma(l) = 2 Pr[algorithm says the majority | l] - 1, for an algorithm that sees the teachers'
    answers through their number of ones only.

    Args:
        prob_of_one: (K + 1,), K odd: Pr[output 1 | l teachers say 1], l = 0..K.
        symmetrize: what becomes of an algorithm that treats the labels differently. `no` refuses
            it. `mean` takes the mean of gamma(l) and gamma(K - l): this is the algorithm that swaps
            the labels before and after with probability 1/2, which is as private as the algorithm
            and, for p_i and 1 - p_i equally likely, errs no more (the error is convex in gamma).
            `upper` and `lower` reflect the values of l > K/2 or l < K/2 about K/2, the paper's
            remark (b) in section 3.2, whose privacy does not follow from the algorithm's: certify
            it.

    Returns:
        (K + 1,), in [0, 1], symmetric around K/2: what `certify` and `release` take. If the
        algorithm is symmetric, `gamma.label_probability` of it equals prob_of_one to 1e-12.

    Raises:
        ValueError: another shape, even K, a value outside [0, 1] or NaN; an algorithm that is worse
            than a coin at some l (before symmetrising: the lemma asks it of every l); one with
            Pr[1 | l] + Pr[1 | K - l] != 1 if symmetrize = `no` (the lemma gives it a gamma, but not
            a symmetric one, and the privacy condition of Lemma 3.4 covers no other).

    References:
        DaRRM, Lemma 3.3; docs/method.md, section 8.
    """
    checks.check_choice(SYMMETRIZE, symmetrize=symmetrize)
    probability = np.asarray(prob_of_one, dtype=np.float64)
    if probability.ndim != 1 or len(probability) < 2 or len(probability) % 2:
        raise ValueError(f"prob_of_one: shape {probability.shape} must be (K + 1,) with K odd")
    checks.check_probabilities(prob_of_one=probability)
    K = len(probability) - 1
    majority_probability = np.where(2 * np.arange(K + 1) > K, probability, 1 - probability)
    worst = int(np.argmin(majority_probability))
    if majority_probability[worst] < 0.5 - ROUNDING:
        raise ValueError(
            f"prob_of_one: at l = {worst} of K = {K} the majority is released with probability "
            f"{majority_probability[worst]:.6g}: must be at least 1/2, a coin's (DaRRM, Lemma 3.3)"
        )
    l = int(np.argmax(np.abs(majority_probability - majority_probability[::-1])))
    if abs(majority_probability[l] - majority_probability[K - l]) > ROUNDING and symmetrize == "no":
        raise ValueError(
            f"prob_of_one: Pr[1 | {l}] = {probability[l]:.6g} and Pr[1 | {K - l}] = "
            f"{probability[K - l]:.6g} must add up to 1, or choose how to symmetrize"
        )
    upper, lower = majority_probability[(K + 1) // 2 :], majority_probability[::-1][(K + 1) // 2 :]
    half = {"upper": upper, "lower": lower}.get(symmetrize, (upper + lower) / 2)
    return mirror_gamma(np.clip(2 * half - 1, 0.0, 1.0))
