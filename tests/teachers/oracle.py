"""Replace-one from add/remove alone: a bound that rests on no dominating pair for replace-one."""

from math import exp, inf

from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

from private_ensembles.teachers.schedule import CLIPPED_NORM


def epsilon_group(noise_multiplier, sample_rate, steps, Delta, splits=19):
    """Upper bound on epsilon for replace-one, from add/remove by group privacy of two.

    Replacing is removing, then adding: (e1, d1) and (e2, d2) give (e1 + e2, d1 + exp(e1) d2)
    (Vadhan 2017, Lemma 2.2, for unequal steps). Best of `splits` ways to share Delta. Rests on no
    dominating pair for replace-one, hence a check on `epsilon_pld(..., "replace_one")`.
    """
    distribution = from_gaussian_mechanism(
        noise_multiplier / CLIPPED_NORM,
        pessimistic_estimate=True,
        value_discretization_interval=1e-4,
        sampling_prob=sample_rate,
    ).self_compose(steps)
    best = inf
    for i in range(1, splits + 1):
        first = distribution.get_epsilon_for_delta(Delta * i / (splits + 1))
        rest = Delta - distribution.get_delta_for_epsilon(first)
        best = min(best, first + distribution.get_epsilon_for_delta(rest * exp(-first)))
    return float(best)
