"""GNMax: the plurality of the teachers' votes after Gaussian noise, and how much noise it needs.

GNMax (PATE, section 4.1) adds independent N(0, sigma^2) to each class's count of votes and releases
the class of the largest. Neighbouring data sets change one teacher, hence move one vote: one count
falls by 1 and another rises by 1 (shared or disjoint training data alike, as long as one record
reaches one teacher). sigma is in votes, epsilon in nats. All of this is for continuous noise; the
discrete noise of `noise: secure` is accounted for in `accounting.discrete_gaussian`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain

import numpy as np
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

METHODS = ("rdp", "improved_rdp", "analytic", "exact")
# Points of the search for the exact method, and of those that are looked at together.
_GRID, _AT_ONCE = 4000, 200
# Renyi orders that are tried at most; the least ones are half an order apart.
_MOST_ORDERS = 100_000


@dataclass(frozen=True)
class SigmaSearch:
    """The least noise scale found, and the Rényi order that proves it (None: no order used)."""

    sigma: float
    order: float | None


def gnmax_sigma(
    epsilon: float,
    delta: float,
    *,
    method: str,
    n_teachers: int | None = None,
    n_classes: int = 2,
    **grid,
) -> float:
    """Return the least standard deviation with which one GNMax label is (epsilon, delta)-DP.

    >>> for method in ("rdp", "improved_rdp", "analytic", "exact"):
    ...     print(round(gnmax_sigma(0.2676, 3e-4, method=method, n_teachers=11), 2))
    21.46
    14.63
    12.9
    7.68

    Every value returned proves its claim: it is rounded up.

    ``rdp``: GNMax is (lambda, lambda / sigma^2)-RDP for every lambda > 1 (PATE, section 4.1), with
    the classic conversion; least over the grid of DaRRM, appendix D.2.1 (see :func:`order_grid`).
    ``improved_rdp``: the same with the conversion of Canonne, Kamath & Steinke (2020), Proposition
    12, over the orders 1 + order_step, 1 + 2 order_step, ... up to order_max.
    ``analytic``: moving one vote moves the vector of counts by sqrt(2), so the noisy counts are
    (epsilon, delta)-DP exactly if Phi(u/2 - epsilon/u) - e^epsilon Phi(-u/2 - epsilon/u) <= delta
    with u = sqrt(2) / sigma (Balle & Wang 2018, Theorem 8); the label is their post-processing.
    With two classes this is the mechanism on the difference of the counts. Any number of classes.
    ``exact``: two classes and odd ``n_teachers`` = K: the label itself, whose distribution is
    :func:`label_probability`, is (epsilon, delta)-DP over all K pairs of neighbouring histograms
    (the least such sigma up to a grid of relative step 0.2 %, then bisection).

    grid: order_max (default 500) and order_step (0.5) of the first two.

    Raises ValueError for epsilon <= 0 or not finite, delta outside (0, 1), an unknown method,
    n_classes < 2, ``exact`` without an odd n_teachers >= 1 or with n_classes other than 2, and a
    grid of orders on which no sigma is enough.
    """
    options = {"n_teachers": n_teachers, "n_classes": n_classes, **grid}
    return search_sigma(epsilon, delta, method=method, **options).sigma


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
    """Do what :func:`gnmax_sigma` does and return the order found as well."""
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
    # Any order is valid; the float search only chose it, sixty digits prove it.
    with sixty_digits():
        room = Decimal(epsilon) - exact_conversion_cost(order, delta, conversion)
        return SigmaSearch(round_up((Decimal(order) / room).sqrt()), order)


def sigma_quantities(
    epsilon: float, delta: float, n_teachers: int, **grid: float
) -> list[dict[str, object]]:
    """Return all of :data:`METHODS` at one budget as rows of quantity, value, source.

    grid: order_max and order_step of :func:`search_sigma`. Quantities: sigma_<method> (votes) and,
    if an order is searched, order_<method>.
    """
    sources = {
        "rdp": "DaRRM appendix D.2.1: PATE section 4.1, classic conversion, grid of orders",
        "improved_rdp": "the same, conversion of Canonne, Kamath and Steinke 2020, Proposition 12",
        "analytic": "Balle and Wang 2018, Theorem 8, on the noisy counts",
        "exact": f"distribution of the label itself, two classes, {n_teachers} teachers",
    }
    rows = []
    for method, source in sources.items():
        best = search_sigma(epsilon, delta, method=method, n_teachers=n_teachers, **grid)
        rows.append({"quantity": f"sigma_{method}", "value": best.sigma, "source": source})
        if best.order is not None:
            rows.append({"quantity": f"order_{method}", "value": best.order, "source": source})
    return rows


def analytic_epsilon(sigma: float, delta: float, *, labels: int = 1) -> float:
    """Return the least epsilon with which ``labels`` GNMax labels together are (epsilon, delta)-DP.

    The inverse of the method ``analytic``. Gaussian mechanisms compose into one, adaptively chosen
    queries included (Dong, Roth & Su 2022, Corollary 3.3): Q labels cost what one costs at sigma /
    sqrt(Q). Rounded up. Raises ValueError for sigma not a finite number > 0, labels < 1, delta
    outside (0, 1).
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
    """Return lambda_min = log(1/delta) / epsilon + 1 of DaRRM, appendix D.2.1.

    At orders up to it the classic conversion alone costs epsilon and no sigma is enough.
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
) -> np.ndarray:
    """Return the Rényi orders searched, ascending, all in (1, order_max].

    ``rdp``: lambda_min + order_step, lambda_min + 2 order_step, ... (lambda_min itself allows no
    sigma). ``improved_rdp``: 1 + order_step, 1 + 2 order_step, ...
    """
    checks.check_number(order_step=order_step, above=0)
    checks.check_finite(order_max=order_max)
    start = least_order(epsilon, delta) if method == "rdp" else 1.0
    steps = math.floor((order_max - start) / order_step)
    return start + order_step * np.arange(1, max(0, steps) + 1)


def sigma_curve(
    epsilon: float, delta: float, orders: np.ndarray, *, conversion: str = "classic"
) -> np.ndarray:
    """Return sigma^2 (A,) that each of ``orders`` (A,) asks for; infinite if none is enough.

    ``classic``: sigma^2 = lambda / (epsilon - log(1/delta) / (lambda - 1)), the curve of DaRRM's
    Figure 10; ``improved``: the same with the improved conversion. Plain floating point, for
    searching and drawing. Raises ValueError for orders <= 1.
    """
    _check(epsilon, delta)
    orders = np.asarray(orders, dtype=float)
    if not np.all(orders > 1):
        raise ValueError(f"orders: {orders[~(orders > 1)].flat[0]} is not > 1")
    room = epsilon - conversion_cost(orders, delta, conversion)
    squares = np.full(orders.shape, np.inf)
    np.divide(orders, room, out=squares, where=room > 0)
    return squares


def label_probability(n_teachers: int, sigma: float, votes: np.ndarray | None = None) -> np.ndarray:
    """Return Pr[GNMax releases 1 | n of K teachers vote 1] for n = votes, or 0..K.

    Two classes: Phi((2n - K) / (sqrt(2) sigma)), because the difference of the noisy counts is
    N(2n - K, 2 sigma^2). Raises ValueError for n_teachers < 1 or sigma not a finite number > 0.
    """
    checks.check_integer(n_teachers=n_teachers, at_least=1)
    check_sigma(sigma)
    return ndtr(_standardised_leads(n_teachers, sigma, votes))


@lru_cache(maxsize=1024)
def single_label_sigma(epsilon: float, delta: float, method: str, n_teachers: int) -> float:
    """The least sigma of one label by a method of `gnmax_sigma`."""
    # The paper's grid of orders ends at 500; a small budget needs larger ones.
    orders = {"order_max": max(500.0, 4 * least_order(epsilon, delta))}
    orders["order_step"] = max(0.5, orders["order_max"] / _MOST_ORDERS)
    return gnmax_sigma(epsilon, delta, method=method, n_teachers=n_teachers, **orders)


def noisy_plurality(counts: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return the class of the largest count after noise, (Q,), for counts and noise (Q, C).

    The first class of those that tie, which does not matter with continuous noise.
    """
    return np.argmax(counts + noise, axis=1)


def _standardised_leads(
    n_teachers: int, sigma: float | np.ndarray, votes: np.ndarray | None = None
) -> np.ndarray:
    votes = np.arange(n_teachers + 1) if votes is None else votes
    return (2.0 * votes - n_teachers) / (math.sqrt(2) * sigma)


def _check(epsilon: float, delta: float) -> None:
    checks.check_finite(epsilon=epsilon, above=0)
    checks.check_probability(delta=delta, zero=False, one=False)


def check_sigma(sigma: float) -> float:
    """Return sigma as a float; ValueError unless it is finite and > 0."""
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
        # Output 0 gives the same inequalities after n -> K - n; moving the vote back only helps.
        leads = _standardised_leads(n_teachers, sigma)
        return bool(np.all(hockey_stick_divergence(leads[1:], leads[:-1], epsilon) <= delta))

    def surely_fails(sigmas: np.ndarray) -> np.ndarray:
        # Within 1e-12, to which two orders of the same operations on numbers below 2 agree, there
        # is doubt, and `holds` is asked.
        leads = _standardised_leads(n_teachers, sigmas[:, None])
        return (hockey_stick_divergence(leads[:, 1:], leads[:, :-1], epsilon) > delta + 1e-12).any(
            axis=1
        )

    def narrowest_majority_holds(sigma: float) -> bool:
        t = np.array(1 / (math.sqrt(2) * sigma))
        return bool(hockey_stick_divergence(t, -t, epsilon) <= delta)

    # The label is post-processing of the noisy counts, so the analytic sigma holds here as well
    # (doubled only so that rounding cannot make the last grid point fail).
    high = 2 * _analytic_sigma(epsilon, delta)
    # A lead of one vote breaks the claim for every sigma up to `low`, which is shrunk to where it
    # just does. Above, wider leads may hold, fail and hold again: walk upwards, do not bisect.
    low = find_first_failing(narrowest_majority_holds, halving_points(high))
    low = bisect(narrowest_majority_holds, low, high) * (1 - 1e-9)
    return find_first_holding(holds, _points_to_check(np.geomspace(low, high, _GRID), surely_fails))


def _points_to_check(
    grid: np.ndarray, surely_fails: Callable[[np.ndarray], np.ndarray]
) -> Iterator[float]:
    """Yield the points of a grid at which a claim need not fail, and the one before each."""
    for start in range(0, len(grid), _AT_ONCE):
        points = grid[start : start + _AT_ONCE + 1]
        asked = ~surely_fails(points)
        asked[:-1] |= asked[1:]
        yield from points[:_AT_ONCE][asked[:_AT_ONCE]].tolist()
