"""GNMax: the plurality of the teachers' votes after Gaussian noise, and how much noise it needs.

GNMax (PATE, section 4.1) adds independent N(0, sigma^2) to each class's count of votes and releases
the class of the largest. Neighbouring data sets change one teacher, hence move one vote: one count
falls by 1 and another rises by 1 (shared or disjoint training data alike, as long as one record
reaches one teacher). sigma is in votes, epsilon in nats. All of this is for continuous noise;
`accounting.discrete_gaussian` accounts for the discrete noise of `noise: secure`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from private_ensembles.accounting.composition import conversion_cost, exact_conversion_cost
from private_ensembles.accounting.gaussian import gaussian_delta, hockey_stick_divergence
from private_ensembles.base import checks
from private_ensembles.base.root_search import (
    bisect,
    doubling_points,
    find_first_failing,
    find_first_holding,
    halving_points,
)
from private_ensembles.base.rounding import round_up, sixty_digits
from private_ensembles.base.stated_bounds import upper_bound

METHODS = ("rdp", "improved_rdp", "analytic", "exact")
# The exact method searches a grid of _GRID points, of which _AT_ONCE are looked at together.
_GRID, _AT_ONCE = 4000, 200
# At most so many Rényi orders are tried; the grid's step is half an order or more.
_MOST_ORDERS = 100_000


@dataclass(frozen=True)
class SigmaSearch:
    """The least noise scale of a search, and the Rényi order that proves it, if it used orders."""

    sigma: float
    order: float | None


@upper_bound
def gnmax_sigma(
    epsilon: float,
    delta: float,
    *,
    method: str,
    n_teachers: int | None = None,
    n_classes: int = 2,
    order_max: float = 500,
    order_step: float = 0.5,
) -> float:
    """Return the least standard deviation with which one GNMax label is (epsilon, delta)-DP.

    >>> for method in ("rdp", "improved_rdp", "analytic", "exact"):
    ...     print(round(gnmax_sigma(0.2676, 3e-4, method=method, n_teachers=11), 2))
    21.46
    14.63
    12.9
    7.68

    Every value returned proves its claim: it is rounded up.

    Args:
        epsilon: > 0.
        delta: In (0, 1).
        method: One of :data:`METHODS`. ``rdp``: GNMax is (lambda, lambda / sigma^2)-RDP for every
            lambda > 1, with the classic conversion, at the best order of :func:`order_grid`.
            ``improved_rdp``: the same with an improved conversion. ``analytic``: exact for the
            noisy counts, of which the label is post-processing. Moving one vote moves the vector of
            counts by sqrt(2), so that Phi(u/2 - epsilon/u) - e^epsilon Phi(-u/2 - epsilon/u) <=
            delta must hold with u = sqrt(2) / sigma. With two classes this is the mechanism on the
            difference of the counts. ``exact``: for two classes, the label itself, whose
            distribution is :func:`label_probability`, over all K pairs of neighbouring histograms;
            the least such sigma up to a grid of relative step 0.2 %, then bisection.
        n_teachers: K, an odd integer, which ``exact`` alone needs.
        n_classes: The number of classes, which matters for ``exact`` alone.
        order_max: The largest Rényi order of ``rdp`` and ``improved_rdp``.
        order_step: The distance between their orders.

    Returns:
        sigma, in votes.

    Raises:
        ValueError: For epsilon <= 0 or not finite, delta outside (0, 1), an unknown method,
            n_classes < 2, ``exact`` without an odd n_teachers >= 1 or with n_classes other than 2,
            and a grid of orders on which no sigma is enough.

    References:
        ``rdp``: PATE, section 4.1, and DaRRM, appendix D.2.1. ``improved_rdp``: Canonne, Kamath &
        Steinke (2020), Proposition 12. ``analytic``: Balle & Wang (2018), Theorem 8.
    """
    return search_sigma(
        epsilon,
        delta,
        method=method,
        n_teachers=n_teachers,
        n_classes=n_classes,
        order_max=order_max,
        order_step=order_step,
    ).sigma


def search_sigma(
    epsilon: float,
    delta: float,
    *,
    method: str,
    n_teachers: int | None = None,
    n_classes: int = 2,
    order_max: float = 500,
    order_step: float = 0.5,
) -> SigmaSearch:
    """Return what :func:`gnmax_sigma` does, and the Rényi order that proves it.

    Args, errors and references are those of :func:`gnmax_sigma`.
    """
    _check(epsilon, delta)
    checks.check_choice(METHODS, method=method)
    checks.check_integer(n_classes=n_classes, at_least=2)
    if method == "analytic":
        return SigmaSearch(_analytic_sigma(epsilon, delta), None)
    if method == "exact":
        if n_teachers is None or n_teachers < 1 or n_teachers % 2 != 1:
            raise ValueError(f"n_teachers = {n_teachers}: method 'exact' needs an odd integer >= 1")
        if n_classes != 2:
            raise ValueError(f"n_classes = {n_classes}: method 'exact' needs two classes")
        return SigmaSearch(_exact_sigma(epsilon, delta, int(n_teachers)), None)
    orders = order_grid(epsilon, delta, method=method, order_max=order_max, order_step=order_step)
    conversion = "classic" if method == "rdp" else "improved"
    squares = sigma_curve(epsilon, delta, orders, conversion=conversion)
    best = int(np.argmin(squares)) if squares.size else 0
    if not squares.size or not math.isfinite(squares[best]):
        raise ValueError(
            f"order_max = {order_max}: no order up to it gives ({epsilon}, {delta}); raise it"
        )
    order = float(orders[best])
    # Any order is valid: the search in floats only chose it, and sixty digits prove it.
    with sixty_digits():
        room = Decimal(epsilon) - exact_conversion_cost(order, delta, conversion)
        return SigmaSearch(round_up((Decimal(order) / room).sqrt()), order)


def sigma_quantities(
    epsilon: float,
    delta: float,
    n_teachers: int,
    *,
    order_max: float = 500,
    order_step: float = 0.5,
) -> list[dict[str, object]]:
    """Return the sigma of all of :data:`METHODS` at one budget, as rows of a table.

    Args:
        epsilon: > 0.
        delta: In (0, 1).
        n_teachers: An odd integer.
        order_max: As in :func:`gnmax_sigma`.
        order_step: As in :func:`gnmax_sigma`.

    Returns:
        Rows of quantity, value, source. Quantities are sigma_<method>, in votes, and order_<method>
        if the method searches an order.

    Raises:
        ValueError: As :func:`gnmax_sigma` does.
    """
    sources = {
        "rdp": "DaRRM appendix D.2.1: PATE section 4.1, classic conversion, grid of orders",
        "improved_rdp": "the same, conversion of Canonne, Kamath and Steinke 2020, Proposition 12",
        "analytic": "Balle and Wang 2018, Theorem 8, on the noisy counts",
        "exact": f"distribution of the label itself, two classes, {n_teachers} teachers",
    }
    rows = []
    for method, source in sources.items():
        best = search_sigma(
            epsilon,
            delta,
            method=method,
            n_teachers=n_teachers,
            order_max=order_max,
            order_step=order_step,
        )
        rows.append({"quantity": f"sigma_{method}", "value": best.sigma, "source": source})
        if best.order is not None:
            rows.append({"quantity": f"order_{method}", "value": best.order, "source": source})
    return rows


@upper_bound
def analytic_epsilon(sigma: float, delta: float, *, labels: int = 1) -> float:
    """Return the least epsilon with which ``labels`` GNMax labels together are (epsilon, delta)-DP.

    The inverse of the method ``analytic``. Gaussian mechanisms compose into one, adaptively chosen
    queries included: Q labels cost what one costs at sigma / sqrt(Q).

    Args:
        sigma: Standard deviation of the noise, in votes.
        delta: In (0, 1).
        labels: How many labels.

    Returns:
        epsilon, rounded up.

    Raises:
        ValueError: For sigma not a finite number > 0, labels < 1, delta outside (0, 1).

    References:
        Dong, Roth & Su (2022), Corollary 3.3, for the composition.
    """
    checks.check_integer(labels=labels, at_least=1)
    check_sigma(sigma)
    _check(1.0, delta)
    sigma_of_all = math.nextafter(sigma / math.sqrt(labels) * (1 - 1e-15), 0)
    return find_first_holding(
        lambda epsilon: _analytic_holds(sigma_of_all, epsilon, delta),
        chain([0.0], doubling_points(1.0)),
    )


def least_order(epsilon: float, delta: float) -> float:
    """Return lambda_min = log(1/delta) / epsilon + 1, the order up to which no sigma is enough.

    The classic conversion alone costs epsilon there.

    Raises:
        ValueError: For epsilon <= 0 or not finite, delta outside (0, 1).

    References:
        DaRRM, appendix D.2.1.
    """
    _check(epsilon, delta)
    return -math.log(delta) / epsilon + 1


def order_grid(
    epsilon: float,
    delta: float,
    *,
    method: str = "rdp",
    order_max: float = 500,
    order_step: float = 0.5,
) -> NDArray[np.float64]:
    """Return the Rényi orders that are searched, ascending, all in (1, order_max].

    Args:
        epsilon: > 0.
        delta: In (0, 1).
        method: ``rdp``: orders lambda_min + order_step, lambda_min + 2 order_step, ..., as
            :func:`least_order` itself allows no sigma. Otherwise: 1 + order_step, 1 + 2 order_step,
            ...
        order_max: The largest order.
        order_step: > 0.

    Returns:
        (orders,) float64.

    Raises:
        ValueError: For a value out of range.
    """
    checks.check_number(order_step=order_step, above=0)
    checks.check_finite(order_max=order_max)
    start = least_order(epsilon, delta) if method == "rdp" else 1.0
    steps = math.floor((order_max - start) / order_step)
    return start + order_step * np.arange(1, max(0, steps) + 1, dtype=np.float64)


def sigma_curve(
    epsilon: float, delta: float, orders: ArrayLike, *, conversion: str = "classic"
) -> NDArray[np.float64]:
    """Return the sigma^2 that each Rényi order asks for, infinite if none is enough.

    Plain floating point, for searching and drawing.

    Args:
        epsilon: > 0.
        delta: In (0, 1).
        orders: (orders,) float, > 1.
        conversion: ``classic``: sigma^2 = lambda / (epsilon - log(1/delta) / (lambda - 1)), the
            curve of DaRRM's Figure 10. ``improved``: the same with the improved conversion.

    Returns:
        (orders,) float64.

    Raises:
        ValueError: For orders <= 1, and for epsilon or delta out of range.
    """
    _check(epsilon, delta)
    orders = np.asarray(orders, dtype=float)
    if not np.all(orders > 1):
        raise ValueError(f"orders: {orders[~(orders > 1)].flat[0]} is not > 1")
    room = epsilon - conversion_cost(orders, delta, conversion)
    squares = np.full(orders.shape, np.inf)
    np.divide(orders, room, out=squares, where=room > 0)
    return squares


def label_probability(
    n_teachers: int, sigma: float, votes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return Pr[GNMax releases 1 | n of K teachers vote 1], for two classes.

    It is Phi((2n - K) / (sqrt(2) sigma)), because the difference of the noisy counts is N(2n - K, 2
    sigma^2).

    Args:
        n_teachers: K.
        sigma: Standard deviation of the noise, in votes.
        votes: The numbers n, of any shape. None: 0..K.

    Returns:
        float64, in the shape of `votes`.

    Raises:
        ValueError: For n_teachers < 1 or sigma not a finite number > 0.
    """
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    check_sigma(sigma)
    return ndtr(_standardised_leads(n_teachers, sigma, votes))


@lru_cache(maxsize=1024)
def single_label_sigma(epsilon: float, delta: float, method: str, n_teachers: int) -> float:
    """Return the least sigma of one label by a method of `gnmax_sigma`, for budgets of any size."""
    # The paper's grid of orders ends at 500; a small budget needs larger ones.
    order_max = max(500.0, 4 * least_order(epsilon, delta))
    return gnmax_sigma(
        epsilon,
        delta,
        method=method,
        n_teachers=n_teachers,
        order_max=order_max,
        order_step=max(0.5, order_max / _MOST_ORDERS),
    )


def noisy_plurality(counts: NDArray, noise: NDArray) -> NDArray[np.int64]:
    """Return the class of the largest count after noise.

    It is the first class of those that tie, which does not matter with continuous noise.

    Args:
        counts: (queries, classes) votes for each class.
        noise: (queries, classes) noise that is added.

    Returns:
        (queries,) int.
    """
    return np.argmax(counts + noise, axis=1)


def _standardised_leads(
    n_teachers: int, sigma: float | NDArray[np.float64], votes: NDArray[np.int64] | None = None
) -> NDArray[np.floating]:
    votes = np.arange(n_teachers + 1) if votes is None else votes
    return (2.0 * votes - n_teachers) / (math.sqrt(2) * sigma)


def _check(epsilon: float, delta: float) -> None:
    checks.check_finite(epsilon=epsilon, above=0)
    checks.check_probability(delta=delta, zero=False, one=False)


def check_sigma(sigma: float) -> float:
    """Return sigma as a float; raise ValueError unless it is finite and > 0."""
    checks.check_finite(sigma=sigma, above=0)
    return float(sigma)


def _analytic_holds(sigma: float, epsilon: float, delta: float) -> bool:
    return bool(gaussian_delta(math.sqrt(2) / sigma, epsilon) <= delta)


def _analytic_sigma(epsilon: float, delta: float) -> float:
    def holds(sigma: float) -> bool:
        return _analytic_holds(sigma, epsilon, delta)

    high = find_first_holding(holds, doubling_points(1.0), relative=math.inf)
    return bisect(holds, find_first_failing(holds, halving_points(high)), high)


def _exact_sigma(epsilon: float, delta: float, n_teachers: int) -> float:
    def holds(sigma: float) -> bool:
        # Output 0 gives the same inequalities after n -> K - n. A vote that moves back costs less.
        leads = _standardised_leads(n_teachers, sigma)
        return bool(np.all(hockey_stick_divergence(leads[1:], leads[:-1], epsilon) <= delta))

    def surely_fails(sigmas: NDArray[np.float64]) -> NDArray[np.bool_]:
        # Two orders of the same operations on numbers below 2 agree within 1e-12. So close to delta
        # there is doubt, and `holds` decides.
        leads = _standardised_leads(n_teachers, sigmas[:, None])
        divergences = hockey_stick_divergence(leads[:, 1:], leads[:, :-1], epsilon)
        return np.any(divergences > delta + 1e-12, axis=1)

    def narrowest_majority_holds(sigma: float) -> bool:
        lead = np.array(1 / (math.sqrt(2) * sigma))
        return bool(hockey_stick_divergence(lead, -lead, epsilon) <= delta)

    # The label is post-processing of the noisy counts, so the analytic sigma holds here as well
    # (doubled only so that rounding cannot make the last grid point fail).
    high = 2 * _analytic_sigma(epsilon, delta)
    # A lead of one vote breaks the claim for every sigma up to `low`, the largest that bisection
    # finds. Above it, wider leads may hold, fail and hold again, so the search walks upwards.
    low = find_first_failing(narrowest_majority_holds, halving_points(high))
    low = bisect(narrowest_majority_holds, low, high) * (1 - 1e-9)
    return find_first_holding(holds, _points_to_check(np.geomspace(low, high, _GRID), surely_fails))


def _points_to_check(
    grid: NDArray[np.float64],
    surely_fails: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
) -> Iterator[float]:
    """Yield the points of a grid at which a claim need not fail, and the one before each."""
    for start in range(0, len(grid), _AT_ONCE):
        points = grid[start : start + _AT_ONCE + 1]
        undecided = ~surely_fails(points)
        undecided[:-1] |= undecided[1:]
        yield from points[:_AT_ONCE][undecided[:_AT_ONCE]].tolist()
