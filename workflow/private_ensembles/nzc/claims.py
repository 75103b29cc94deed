"""What NZC claims: its total epsilon under both readings of gamma, and Lemma 1's constant.

Section 3.2 adds Laplace noise of scale 1 / gamma and calls for "a very small gamma"; Table 1 prints
gamma = 1e10. Read as it is defined, the noise has scale 1e-10 and the claim is 3.6e24 for 9,000
queries; read as a scale (as in "LNMax (gamma = 20)", whose noise has scale 20), the theorem's gamma
is 1e-10 and the claim is 9.1e-8, the printed "about 0". For Gaussian noise section 4.2 refers to
PATE's Renyi bounds. None of it is true (docs/nzc.md).
"""

from __future__ import annotations

import math

from private_ensembles import checks


def claimed_epsilon(gamma: float, queries: int, delta: float) -> float:
    """Theorem 4's total: 4 T gamma^2 + 2 gamma sqrt(2 T ln(1 / delta)), as printed.

    gamma: inverse scale of the noise. Raises ValueError for gamma not finite and > 0, queries < 1,
    delta outside (0, 1).

    >>> f"{claimed_epsilon(1e-10, 9000, 1e-5):.1e}", f"{claimed_epsilon(1e10, 9000, 1e-5):.1e}"
    ('9.1e-08', '3.6e+24')
    """
    _positive("gamma", gamma)
    _check(queries, delta)
    return 4 * queries * gamma**2 + 2 * gamma * math.sqrt(2 * queries * -math.log(delta))


def claimed_gaussian_epsilon(sigma: float, queries: int, delta: float) -> float:
    """The total for Gaussian noise: T / sigma^2 + 2 sqrt(T ln(1 / delta)) / sigma.

    Section 4.2 takes PATE 2018's analysis for granted, by which a label is (lambda, lambda /
    sigma^2)-RDP; this is T of them with the classic conversion at its best real order, 1 + sigma
    sqrt(ln(1 / delta) / T). Raises ValueError like :func:`claimed_epsilon`.
    """
    _positive("sigma", sigma)
    _check(queries, delta)
    return queries / sigma**2 + 2 * math.sqrt(queries * -math.log(delta)) / sigma


def claimed_readings(
    printed_gamma: float, queries: int, delta: float, *, noise: str = "laplace"
) -> dict[str, float]:
    """The claimed total with the printed gamma read as ``inverse_scale`` and as ``scale``.

    noise: laplace (Theorem 4) or gaussian (sigma in place of the scale). Raises ValueError for
    another noise, and as :func:`claimed_epsilon`.
    """
    _positive("printed_gamma", printed_gamma)
    if noise == "gaussian":
        claim, inverse = claimed_gaussian_epsilon, 1 / printed_gamma
    elif noise == "laplace":
        claim, inverse = claimed_epsilon, printed_gamma
    else:
        raise ValueError(f"noise = {noise!r}: must be laplace or gaussian")
    return {
        "inverse_scale": claim(inverse, queries, delta),
        "scale": claim(1 / inverse, queries, delta),
    }


def immutability_constant(
    n_classes: int, failure: float, *, gamma: float | None = None, sigma: float | None = None
) -> float:
    """Lemma 1's c, beyond which no noise exceeds it except with probability ``failure`` = tau.

    log(L / tau) / gamma for Laplace noise of scale 1 / gamma; sqrt(2 sigma^2 log(2 L / tau)) for
    Gaussian noise. It bounds single noises; the ArgMax compares two, so twice as much is needed for
    the label not to change. Raises ValueError unless exactly one of gamma and sigma is given and
    positive, n_classes >= 2 and failure in (0, 1).
    """
    if (gamma is None) == (sigma is None):
        raise ValueError("gamma, sigma: exactly one of them must be given")
    checks.integer(n_classes=n_classes, at_least=2)
    checks.probability(failure=failure, zero=False, one=False)
    if gamma is not None:
        return math.log(n_classes / failure) / _positive("gamma", gamma)
    return _positive("sigma", sigma) * math.sqrt(2 * math.log(2 * n_classes / failure))


def _check(queries: int, delta: float) -> None:
    checks.integer(queries=queries, at_least=1)
    checks.probability(delta=delta, zero=False, one=False)


def _positive(name: str, value: float) -> float:
    checks.finite(above=0, **{name: value})
    return value
