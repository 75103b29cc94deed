"""What training one private teacher costs."""

from __future__ import annotations

from private_ensembles.training.teachers import accounting


def dpsgd_epsilon(
    *,
    noise_multiplier: float,
    sample_rate: float,
    steps: int,
    delta: float,
    adjacency: str = "add_remove",
) -> float:
    """Return an upper bound on the epsilon of DP-SGD at delta, by privacy loss distributions.

    >>> training = dict(noise_multiplier=12, sample_rate=1 / 32, steps=160, delta=1e-4)
    >>> round(dpsgd_epsilon(**training), 4)  # DaRRM's teachers, 0.0892 as published
    0.0791
    >>> round(dpsgd_epsilon(**training, adjacency="replace_one"), 4)
    0.1743

    Args:
        noise_multiplier: The noise's standard deviation over the clipping norm, > 0.
        sample_rate: The rate of Poisson sampling, in (0, 1].
        steps: The number of steps, >= 1.
        delta: In (0, 1).
        adjacency: ``add_remove``, or ``replace_one``, which counts as add_remove twice
            (docs/method.md, "A record that is replaced").

    Raises:
        ValueError: A value is out of range.

    References:
        Abadi et al. 2016; Zhu, Dong and Wang 2022.
    """
    if adjacency not in accounting.ADJACENCIES:
        names = ", ".join(accounting.ADJACENCIES)
        raise ValueError(f"adjacency = {adjacency!r}: must be one of {names}")
    if adjacency == "replace_one":
        return accounting.epsilon_group(noise_multiplier, sample_rate, steps, delta)
    return accounting.epsilon_pld(noise_multiplier, sample_rate, steps, delta)
