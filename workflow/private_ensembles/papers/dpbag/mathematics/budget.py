"""How many labels a privacy budget buys, by the moments accountant of PATE (2017) and DPBag.

T labels of costs m_1, ..., m_T cost the l-th moment alpha_l = 2 lambda^2 l (l + 1) S with
S = sum m_t^2, and epsilon = min over l of (alpha_l + ln(1 / delta)) / l. SAA, and any record by the
data-independent bound m = 1, has S = T.
"""

from dataclasses import dataclass

import numpy as np

from private_ensembles.base import checks
from private_ensembles.base.rounding import round_float_down, round_float_up
from private_ensembles.base.stated_bounds import lower_bound, upper_bound


@dataclass(frozen=True)
class LabelCount:
    """How many labels are bought from a list of queries until the budget is spent.

    Attributes:
        releasable: the most labels with epsilon <= budget.
        published: the first number with epsilon > budget, which is what the papers print; None if
            all queries are affordable.
    """

    releasable: int
    published: int | None


def check_budget(noise, delta, order_max):
    """Raise ValueError unless noise > 0, 0 < delta < 1 and order_max is an integer >= 1."""
    checks.check_finite(noise=noise, above=0)
    checks.check_probability(delta=delta, zero=False, one=False)
    checks.check_integer(order_max=order_max, at_least=1)


@upper_bound
def moments_epsilon(total, noise, delta, order_max):
    """Return epsilon of sum m^2 = total, rounded up, and the order l = 1..order_max that is best.

    Args:
        total: array-like, at least 0.
        noise: lambda, the inverse scale of Laplace noise on counts of one partition's votes.
        delta: in (0, 1).
        order_max: the largest order.

    Returns:
        Epsilons and orders, two arrays of the shape of total.

    Raises:
        ValueError: a total is negative, or as `check_budget` raises it.
    """
    check_budget(noise, delta, order_max)
    l = np.arange(1, int(order_max) + 1)
    total = np.asarray(total, np.float64)
    if not (total >= 0).all():
        raise ValueError("total: must be at least 0")
    costs = round_float_up(2 * noise**2 * (l + 1) * total[..., None] - np.log(delta) / l, 12)
    best = costs.argmin(axis=-1)
    return costs.min(axis=-1), l[best]


@lower_bound
def affordable_cost(budget, noise, delta, order_max):
    """Return the largest sum of m^2 whose epsilon is at most `budget`, rounded down; 0 if none is.

    Args:
        budget: epsilon, above 0.
        noise: lambda, the inverse scale of Laplace noise on counts of one partition's votes.
        delta: in (0, 1).
        order_max: the largest order.

    Raises:
        ValueError: the budget is not above 0, or as `check_budget` raises it.
    """
    check_budget(noise, delta, order_max)
    checks.check_finite(budget=budget, above=0)
    l = np.arange(1, int(order_max) + 1)
    room = np.nextafter(budget - round_float_up(-np.log(delta) / l, 9), -np.inf)
    totals = np.maximum(room, 0.0) / (2 * noise**2 * (l + 1))
    return round_float_down(float(totals.max()), 4)


def label_count(running, k, budget, noise, delta, order_max):
    """Return how many labels may be bought before some record's budget is spent.

    Args:
        running: (queries,) int, entry T the largest sum over records of (k m)^2 over the first T +
            1 queries, as `personalised.running_costs` returns it.
        k: its number of partitions.
        budget, noise, delta, order_max: as `affordable_cost` takes them.

    Raises:
        ValueError: `running` decreases, or as `affordable_cost` raises it.
    """
    running = np.asarray(running)
    if running.ndim != 1 or running.size == 0 or (np.diff(running) < 0).any():
        raise ValueError("running: must be one list that never decreases")
    limit = affordable_cost(budget, noise, delta, order_max) * int(k) ** 2
    releasable = int(np.searchsorted(running, limit, side="right"))
    return LabelCount(releasable, releasable + 1 if releasable < len(running) else None)


def data_independent_count(budget, noise, delta, order_max):
    """Return the label count for m = 1, which holds whatever the votes are: SAA's, and DPBag-'s.

    The queries are taken to suffice.

    Args:
        budget, noise, delta, order_max: as `affordable_cost` takes them.

    Raises:
        ValueError: as `affordable_cost` raises it.
    """
    releasable = int(np.floor(affordable_cost(budget, noise, delta, order_max)))
    return LabelCount(releasable, releasable + 1)
