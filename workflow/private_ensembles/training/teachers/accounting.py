"""What one DP-SGD teacher costs in privacy, by four accountants, each with its adjacency named.

The mechanism is `steps` adaptive releases of a Poisson-sampled Gaussian sum: each record enters
with probability q, contributes a vector of norm at most 1 (in units of the clipping norm), and
noise of standard deviation sigma is added. Clipped gradients are floats, whose norm may exceed 1 by
rounding: all but `epsilon_prv`, the paper's own accountant, take them to be `training.CLIPPED_NORM`
long. Every number returned is an upper bound on epsilon at the given Delta: `epsilon_pld`'s in
floating point, the others' up to what Opacus and dp-accounting lose, which nothing here bounds.

With adjacency `add_remove`, neighbours differ in one record that is there or not. One step is
dominated by the pair
(1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2) and its reverse (Zhu, Dong, Wang 2022, Theorem 11;
Mironov, Talwar, Zhang 2019), and composition preserves domination (Zhu et al., Theorem 10).

With adjacency `replace_one`, one record becomes another, which is DaRRM's own definition. The pair
is
(1-q) N(0, s^2) + q N(1, s^2) against (1-q) N(0, s^2) + q N(-1, s^2), the records pulling the sum in
opposite directions (Koskela, Jaelkoe, Honkela 2020; dp-accounting's AdjacencyType.REPLACE). Two
data sets attain it, so less cannot hold. That no pair is worse is **not proven**: the value is not
a guarantee, and `epsilon_group` gives the slightly larger one that rests on add_remove alone.
"""

import warnings
from dataclasses import dataclass
from math import ceil, exp, inf, log

from private_ensembles.base import checks
from private_ensembles.base.root_search import bisect
from private_ensembles.base.rounding import round_float_down
from private_ensembles.base.stated_bounds import upper_bound
from private_ensembles.training.teachers.sampled_gaussian import (
    composed_epsilon,
    composed_loss_distributions,
)
from private_ensembles.training.teachers.training import CLIPPED_NORM, poisson_schedule

ADJACENCIES = ("add_remove", "replace_one")


@dataclass(frozen=True)
class Cost:
    """One accountant's answer: any mechanism within it is (epsilon, Delta)-DP for `adjacency`."""

    quantity: str
    epsilon: float
    Delta: float
    adjacency: str
    source: str


@upper_bound
def epsilon_prv(noise_multiplier, sample_rate, steps, Delta):
    """Return an upper bound on epsilon for add_remove by Opacus' PRV accountant.

    It composes numerically with an epsilon error of 0.01 and a Delta error of Delta/1000, Opacus'
    defaults, and returns the upper end. With (12, 1/32, 160, 1e-4) it gives DaRRM's 0.0892; nearly
    0.01 of that is the error allowance.

    Args:
        noise_multiplier: The noise's standard deviation over the clipping norm, > 0.
        sample_rate: The rate of Poisson sampling, in (0, 1].
        steps: The number of steps, >= 1.
        Delta: In (0, 1).

    Raises:
        ValueError: An argument is out of range.

    References:
        Gopi, Lee and Wutschitz 2021.
    """
    _check_arguments(noise_multiplier, sample_rate, steps, Delta)
    from opacus.accountants import PRVAccountant  # late: opacus imports torch

    accountant = PRVAccountant()
    accountant.history = [(noise_multiplier, sample_rate, steps)]
    return float(accountant.get_epsilon(Delta))


@upper_bound
def epsilon_pld(noise_multiplier, sample_rate, steps, Delta, adjacency="add_remove"):
    """Return an upper bound on epsilon by privacy loss distributions.

    The discretisation is pessimistic ("connect the dots"), and all that floating point loses is
    included: `sampled_gaussian` computes them, because no library does so.

    Args:
        noise_multiplier, sample_rate, steps, Delta: As in `epsilon_prv`.
        adjacency: `add_remove`, or `replace_one`, which is unproven: see the module's docstring.

    Returns:
        Epsilon; infinite if no epsilon is proven at Delta.

    Raises:
        ValueError: An argument is out of range.

    References:
        Doroshenko et al. 2022; Zhu, Dong and Wang 2022, Theorems 10 and 11.
    """
    _check_arguments(noise_multiplier, sample_rate, steps, Delta)
    checks.check_choice(ADJACENCIES, adjacency=adjacency)
    noise = _noise_per_norm(noise_multiplier)
    return composed_epsilon(noise, sample_rate, steps, Delta, adjacency)


@upper_bound
def epsilon_group(noise_multiplier, sample_rate, steps, Delta):
    """Return an upper bound on epsilon for replace_one by group privacy of two records.

    If the hockey-stick divergence of a mechanism for add_remove is delta(e), then for every e it is
    (2 e, (1 + exp(e)) delta(e))-DP for replace_one.

    Args:
        noise_multiplier, sample_rate, steps, Delta: As in `epsilon_prv`.

    Returns:
        2 e for the least e whose second number is at most Delta; infinite if there is none.

    Raises:
        ValueError: An argument is out of range.

    References:
        docs/method.md, "A record that is replaced".
    """
    _check_arguments(noise_multiplier, sample_rate, steps, Delta)
    noise = _noise_per_norm(noise_multiplier)
    totals = composed_loss_distributions(noise, sample_rate, steps, "add_remove")

    def holds(epsilon):
        delta = max(total.delta(epsilon) for total in totals)
        return (1 + exp(epsilon)) * delta * (1 + 1e-14) <= Delta

    if not totals:
        return inf
    # Beyond `top`, the infinite losses alone take more than half of Delta.
    leak = max(total.leak for total in totals)
    top = log(max(1.0, Delta / (2 * leak) - 1))
    return 2 * bisect(holds, 0.0, top) if holds(top) else inf


@upper_bound
def epsilon_rdp(noise_multiplier, sample_rate, steps, Delta):
    """Return an upper bound on epsilon for add_remove by Rényi differential privacy.

    The divergences of the sampled Gaussian are converted at the best of dp-accounting's orders.

    Args:
        noise_multiplier, sample_rate, steps, Delta: As in `epsilon_prv`.

    Raises:
        ValueError: An argument is out of range.

    References:
        Mironov, Talwar and Zhang 2019, section 3.3; Canonne, Kamath and Steinke 2020,
        Proposition 12.
    """
    _check_arguments(noise_multiplier, sample_rate, steps, Delta)
    import dp_accounting
    from dp_accounting import rdp

    sampled = dp_accounting.PoissonSampledDpEvent(
        sample_rate, dp_accounting.GaussianDpEvent(_noise_per_norm(noise_multiplier))
    )
    accountant = rdp.RdpAccountant(
        neighboring_relation=dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    accountant.compose(dp_accounting.SelfComposedDpEvent(sampled, steps))
    return float(accountant.get_epsilon(Delta))


def _noise_per_norm(noise_multiplier):
    """Return the noise, rounded down, in units of the norm that a clipped gradient may have."""
    return round_float_down(noise_multiplier / CLIPPED_NORM)


@upper_bound
def teacher_costs(schedule, noise_multiplier, Delta):
    """Return every accountant's Cost of one teacher trained on this Schedule, the claim's first.

    Each epsilon is rounded up to nine decimals: an upper bound stays one, and the last bits, which
    Fourier transforms give differently from machine to machine, do not show.
    """
    from importlib.metadata import version

    setting = (noise_multiplier, schedule.sample_rate, schedule.steps, Delta)
    opacus, google = f"opacus {version('opacus')}", f"dp-accounting {version('dp-accounting')}"
    with warnings.catch_warnings():
        # Both libraries warn of numerical errors in bounds that are pessimistic anyway.
        warnings.simplefilter("ignore")
        costs = [
            (
                "epsilon_prv",
                epsilon_prv(*setting),
                "add_remove",
                f"{opacus} PRVAccountant: upper end at epsilon error 0.01 (Gopi et al. 2021)",
            ),
            (
                "epsilon_pld",
                epsilon_pld(*setting, "add_remove"),
                "add_remove",
                "PLD, pessimistic (docs/noise.md); Zhu et al. 2022 Theorem 11",
            ),
            (
                "epsilon_pld",
                epsilon_pld(*setting, "replace_one"),
                "replace_one",
                "PLD, pessimistic: unproven that opposite records (Koskela et al. 2020) are worst",
            ),
            (
                "epsilon_group",
                epsilon_group(*setting),
                "replace_one",
                "PLD for add_remove, twice (docs/method.md)",
            ),
            (
                "epsilon_rdp",
                epsilon_rdp(*setting),
                "add_remove",
                f"{google} RdpAccountant (Mironov et al. 2019)",
            ),
        ]
    return [
        Cost(quantity, ceil(epsilon * 1e9) / 1e9, Delta, adjacency, source)
        for quantity, epsilon, adjacency, source in costs
    ]


def account_ensemble(name, *, n_train, K, training, epsilon, Delta, stand_in):
    """Return a data set's rows of teachers.csv: the public schedule, the claim, what is provable.

    Args:
        name: The name of the data set.
        n_train, K: The numbers of records and teachers; a shard has n_train // K records.
        training: The private teachers' noise_multiplier, batch_size and epochs.
        epsilon, Delta: The claim of config.yaml, on which every later stage relies.
        stand_in: Whether the data set only stands in for one of the paper's.

    Returns:
        Dicts with the columns dataset, stand_in, quantity, value, adjacency, Delta, source.

    Raises:
        ValueError: The claimed epsilon is below what PLD (add_remove) proves.
    """
    schedule = poisson_schedule(n_train // K, training["batch_size"], training["epochs"])
    costs = teacher_costs(schedule, training["noise_multiplier"], Delta)
    proved = next(
        cost.epsilon
        for cost in costs
        if (cost.quantity, cost.adjacency) == ("epsilon_pld", "add_remove")
    )
    if epsilon < proved:
        raise ValueError(
            f"{name}: claimed epsilon = {epsilon} is below {proved:.9g}, the least that PLD proves "
            f"(add_remove, Delta = {Delta:g}, noise_multiplier = {training['noise_multiplier']}, "
            f"{schedule.steps} steps at sample rate {schedule.sample_rate:.6g}): raise the claim "
            "or the noise"
        )
    facts = [
        ("shard_size", schedule.shard_size, "", f"floor of {n_train} records / {K} teachers"),
        ("sample_rate", schedule.sample_rate, "", "1 / ceil(shard_size / batch_size)"),
        ("steps", schedule.steps, "", "epochs * ceil(shard_size / batch_size)"),
        ("noise_multiplier", training["noise_multiplier"], "", "config.yaml"),
        ("claimed_epsilon", epsilon, "add_remove", "config.yaml"),
    ]
    rows = facts + [(cost.quantity, cost.epsilon, cost.adjacency, cost.source) for cost in costs]
    return [
        {
            "dataset": name,
            "stand_in": stand_in,
            "quantity": quantity,
            "value": value,
            "adjacency": adjacency,
            "Delta": Delta if adjacency else "",
            "source": source,
        }
        for quantity, value, adjacency, source in rows
    ]


def _check_arguments(noise_multiplier, sample_rate, steps, Delta):
    checks.check_finite(noise_multiplier=noise_multiplier, above=0)
    checks.check_probability(sample_rate=sample_rate, zero=False)
    checks.check_integer(steps=steps, at_least=1)
    checks.check_probability(Delta=Delta, zero=False, one=False)
