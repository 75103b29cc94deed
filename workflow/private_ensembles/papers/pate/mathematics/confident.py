"""Privacy of GNMax, Confident- and Interactive-GNMax as PATE's Table 2 states it: in expectation.

The label of a query costs its data-dependent Rényi bound times the probability that it is answered.
That is what the paper reports and what its numbers are compared with. It is not a guarantee: it is
an expectation, and of one direction (docs/pate.md). All data-dependent fields are not for release.
Fields named sanitized_* say what would be published: a normal draw with that mean and standard
deviation, of which the standard deviation itself is private.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from private_ensembles.accounting.composition import check_orders, conversion_cost, rdp_to_dp
from private_ensembles.base import checks
from private_ensembles.labels.noisy_counts import data_independent_epsilon
from private_ensembles.papers.pate.mathematics.guarded_record import GuardedRecord
from private_ensembles.papers.pate.mathematics.rounds import (
    Round,
    confident_round,
    gnmax_round,
    worst_case_epsilon,
)
from private_ensembles.papers.pate.mathematics.sanitize import (
    FORMULAS,
    appendix_b6,
    gnss_rdp,
    order_for_target,
    rule_of_thumb,
    tune_beta,
    tune_sigma,
)

TUNINGS = ("search", "rule_of_thumb", "appendix_b6")
# The paper searches the orders 2, 2.5, ..., 100; some are added below and above.
ORDERS = np.concatenate([[1.25, 1.5, 1.75], np.arange(2, 100.5, 0.5), np.geomspace(102, 500, 40)])


@dataclass(frozen=True, kw_only=True, repr=False)
class GnssReport(GuardedRecord):
    """How one cost is sanitised by GNSS.

    A constant cost is published as it is: then the first three are None.

    Attributes:
        beta: smoothness.
        smooth_sensitivity: SS at beta.
        sigma_ss: noise in units of SS.
        gnss_rdp: the Rényi cost of publishing.
    """

    beta: float | None = None
    smooth_sensitivity: float | None = None
    sigma_ss: float | None = None
    gnss_rdp: float = 0.0

    @property
    def sd(self) -> float:
        """Standard deviation of the noise."""
        return 0.0 if self.sigma_ss is None else self.sigma_ss * self.smooth_sensitivity


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundPrivacy(GnssReport):
    """One round's part of the cost, at the common orders of a :class:`ConfidentPrivacy`.

    threshold_rdp and label_rdp are at its `order`; the publication is at its `sanitized_order`.
    """

    public: ClassVar[tuple[str, ...]] = ("queries",)

    queries: int
    expected_answers: float
    threshold_rdp: float
    label_rdp: float


@dataclass(frozen=True, kw_only=True, repr=False)
class ConfidentPrivacy(RoundPrivacy):
    """What is certain of one or more rounds, and the paper's Table 2 in one record.

    Public (functions of the parameters alone), and the only guarantees here, are
    exact_data_independent_epsilon at the caps (as one Gaussian mechanism, or on the lattice of
    `secure` noise) and data_independent_epsilon (Rényi, at the caps); with them delta, queries and
    caps. Everything else is in `not_for_release`: private, and an expectation of one direction.

    epsilon is the least over orders of threshold_rdp + label_rdp + conversion, at `order`.
    sanitized_epsilon is that sum plus gnss_rdp at `sanitized_order`, the mean of what is published;
    sanitized_sd is the standard deviation of its noise; sanitized_upper = sanitized_epsilon + z
    sanitized_sd with Phi(z) = upper_confidence. What rounds have as well is added up here, except
    beta, smooth_sensitivity and sigma_ss, which are None if there are several rounds.
    orders_left_out are those at which condition C5 or C6 fails, so that nothing can be sanitised.
    """

    public: ClassVar[tuple[str, ...]] = (
        "exact_data_independent_epsilon",
        "data_independent_epsilon",
        "delta",
        "queries",
        "query_cap",
        "answer_cap",
    )
    display_names: ClassVar[dict[str, str]] = {
        "epsilon": "expected_forward_epsilon",
        "order": "expected_forward_epsilon_order",
        "sanitized_epsilon": "mean_of_sanitized_forward_epsilon",
        "sanitized_upper": "upper_of_sanitized_forward_epsilon",
    }

    exact_data_independent_epsilon: float
    data_independent_epsilon: float
    delta: float
    query_cap: int
    answer_cap: int
    epsilon: float
    order: float
    sanitized_order: float
    sanitized_epsilon: float
    sanitized_sd: float
    sanitized_upper: float
    orders_left_out: tuple[float, ...]
    rounds: tuple[RoundPrivacy, ...]


def confident_gnmax_privacy(
    counts: ArrayLike,
    threshold: float,
    sigma1: float,
    sigma2: float,
    delta: float,
    *,
    conversion: str = "improved",
    formula: str = "exact",
    noise: str = "reproducible",
    **options,
) -> ConfidentPrivacy:
    """Return what Confident-GNMax costs on all queries, for certain and as in the paper.

    >>> import numpy as np
    >>> counts = np.array([[240, 10], [130, 120]] * 50)
    >>> privacy = confident_gnmax_privacy(counts, 200, 150, 40, delta=1e-5, tuning="rule_of_thumb")
    >>> round(privacy.expected_answers, 1), round(privacy.exact_data_independent_epsilon, 2)
    (46.3, 1.38)

    The record shows what is certain first. The paper's expected cost and its sanitised report are
    private, and no guarantee. ``classic`` and ``paper`` give what the paper computes.

    Args:
        counts: votes per class, (queries, classes) int.
        threshold: in votes.
        sigma1: noise of the threshold, in votes.
        sigma2: noise of the labels, in votes.
        delta: in (0, 1).
        conversion: from Rényi divergence, ``classic`` (Theorem 5) or ``improved``.
        formula: the cost of GNSS, ``exact``, or ``paper`` for Theorem 23 as printed, to compare
            only.
        noise: ``reproducible`` or ``secure``, as in `papers.pate.mathematics.tails`.
        **options: those of `compose_rounds`.

    Raises:
        ValueError: as `confident_round` and `compose_rounds` raise it.

    References:
        PATE 2018, Algorithm 1 and Table 2.
    """
    single_round = confident_round(counts, threshold, sigma1, sigma2, noise=noise)
    return compose_rounds([single_round], delta, conversion=conversion, formula=formula, **options)


def gnmax_privacy(
    counts: ArrayLike, sigma: float, delta: float, *, noise: str = "reproducible", **options
) -> ConfidentPrivacy:
    """Return the cost of GNMax on all queries.

    There is no threshold, so that the expectation is a certainty.

    Args:
        counts: votes per class, (queries, classes) int.
        sigma: noise of the labels, in votes.
        delta: in (0, 1).
        noise: ``reproducible`` or ``secure``, as in `papers.pate.mathematics.tails`.
        **options: those of `compose_rounds`.

    Raises:
        ValueError: as `gnmax_round` and `compose_rounds` raise it.
    """
    return compose_rounds([gnmax_round(counts, sigma, noise=noise)], delta, **options)


def compose_rounds(
    rounds: Sequence[Round],
    delta: float,
    *,
    query_cap: int | None = None,
    answer_cap: int | None = None,
    **options,
) -> ConfidentPrivacy:
    """Return the expected cost of several rounds at a common order, with a GNSS for each.

    Neighbouring data sets differ by one teacher's votes, in every round.

    Args:
        rounds: as `gnmax_round`, `confident_round` and `interactive_round` make them.
        delta: in (0, 1).
        query_cap: limit of the queries of each round, fixed beforehand, for the data-independent
            costs; by default all of them.
        answer_cap: limit of the answers of each round, likewise.
        **options: with these defaults, conversion ("improved"), formula ("exact"), tuning
            ("search"), target_epsilon (3), order, beta, sigma_ss, orders (ORDERS, for the search)
            and upper_confidence (0.95).

    The option tuning says how order, beta and sigma_ss are chosen if not given. ``search``
    minimises the cost plus two standard deviations as the paper does (`formula` = ``paper``: at the
    order of the least epsilon; ``exact``: over the order as well). What it picks depends on the
    votes and reveals something about them, which nothing bounds. ``rule_of_thumb`` does not look at
    votes: order = 1 + 2 log(1/delta) / target_epsilon, at which the conversion takes half of a
    budget guessed beforehand, and `sanitize.rule_of_thumb` for the rest; ``appendix_b6`` has the
    paper's own beta and sigma_ss at that order. The options order, beta and sigma_ss (the latter
    two one a round) pin them.

    Raises:
        ValueError: delta or upper_confidence is outside (0, 1), an order <= 1, target_epsilon <= 0,
            a cap < 0, or the number of parameters is not that of the rounds.
        TypeError: an option is unknown.

    Warns:
        RuntimeWarning: orders are left out.

    References:
        PATE 2018, section 5.3 and appendix B.
    """
    settings = _Options(rounds, delta, **options)
    grid = settings.grid
    threshold_rdp = np.array([each_round.threshold_rdp(grid) for each_round in rounds])
    label_rdp = np.array([each_round.label_rdp(grid) for each_round in rounds])
    total = threshold_rdp.sum(axis=0) + label_rdp.sum(axis=0)
    epsilon, best_order = rdp_to_dp(grid, total, delta, settings.conversion)
    order_index = int(np.flatnonzero(grid == best_order)[0])
    sanitized, left_out = _find_best_sanitized(settings, total)
    parts = tuple(
        RoundPrivacy(
            queries=len(each_round.counts),
            expected_answers=float(each_round.answer_probability.sum()),
            threshold_rdp=float(threshold_rdp[i, order_index]),
            label_rdp=float(label_rdp[i, order_index]),
            **asdict(published),
        )
        for i, (each_round, published) in enumerate(zip(rounds, sanitized.parts, strict=True))
    )
    totals = asdict(parts[0]) if len(parts) == 1 else {}
    for name in ("queries", "expected_answers", "threshold_rdp", "label_rdp", "gnss_rdp"):
        totals[name] = sum(getattr(part, name) for part in parts)
    releases = [each_round.releases(query_cap, answer_cap) for each_round in rounds]
    rho = sum(part.rho for part in releases)
    independent, _ = data_independent_epsilon(rho, delta, conversion=settings.conversion)
    return ConfidentPrivacy(
        **totals,
        delta=delta,
        epsilon=epsilon,
        order=best_order,
        query_cap=sum(each_round.max_queries(query_cap) for each_round in rounds),
        answer_cap=sum(part.labels for part in releases),
        data_independent_epsilon=independent,
        exact_data_independent_epsilon=worst_case_epsilon(
            rounds, delta, query_cap=query_cap, answer_cap=answer_cap
        ),
        sanitized_order=sanitized.order,
        sanitized_epsilon=sanitized.epsilon,
        sanitized_sd=sanitized.sd,
        sanitized_upper=sanitized.epsilon + float(ndtri(settings.upper_confidence)) * sanitized.sd,
        orders_left_out=left_out,
        rounds=parts,
    )


@dataclass(frozen=True)
class _Options:
    """The options of `compose_rounds`, checked."""

    rounds: Sequence[Round]
    delta: float
    conversion: str = "improved"
    formula: str = "exact"
    tuning: str = "search"
    target_epsilon: float = 3.0
    order: float | None = None
    beta: float | Sequence[float] | None = None
    sigma_ss: float | Sequence[float] | None = None
    orders: ArrayLike | None = None
    upper_confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.rounds:
            raise ValueError("rounds: must be at least one")
        checks.check_choice(FORMULAS, formula=self.formula)
        conversion_cost(np.array([2.0]), self.delta, self.conversion)  # checks both
        checks.check_choice(TUNINGS, tuning=self.tuning)
        order_for_target(self.delta, self.target_epsilon)  # checks both
        checks.check_probability(upper_confidence=self.upper_confidence, zero=False, one=False)
        for name in ("beta", "sigma_ss"):
            value = getattr(self, name)
            if value is None:
                continue
            values = np.atleast_1d(np.asarray(value, dtype=float))
            if (
                values.shape != (len(self.rounds),)
                or not (np.isfinite(values) & (values > 0)).all()
            ):
                raise ValueError(f"{name} = {value}: must be one finite number > 0 a round")

    @property
    def grid(self) -> NDArray[np.float64]:
        """The Rényi orders among which the best is taken."""
        if self.order is not None:
            return check_orders(self.order)
        if self.tuning != "search":
            return check_orders(order_for_target(self.delta, self.target_epsilon))
        return np.unique(check_orders(ORDERS if self.orders is None else self.orders))

    def pinned_value(self, name: str, i: int) -> float | None:
        value = getattr(self, name)
        return None if value is None else float(np.atleast_1d(value)[i])


@dataclass(frozen=True)
class _Sanitized:
    """The sanitised report at one order."""

    order: float
    epsilon: float
    parts: tuple[GnssReport, ...]

    @property
    def sd(self) -> float:
        return math.sqrt(sum(part.sd**2 for part in self.parts))

    @property
    def objective(self) -> float:
        """The cost plus two standard deviations of each noise, which the search minimises."""
        return self.epsilon + 2 * sum(part.sd for part in self.parts)


def _find_best_sanitized(
    options: _Options, total: NDArray[np.float64]
) -> tuple[_Sanitized, tuple[float, ...]]:
    """Return the sanitised report at the best order, and the orders left out."""
    grid = options.grid
    left_out = tuple(
        float(order)
        for order in grid
        if any(each_round.conditions_violated(order) for each_round in options.rounds)
    )
    if left_out:
        warnings.warn(
            f"condition C5 or C6 fails at {len(left_out)} of {len(grid)} orders "
            f"({left_out[0]:g} to {left_out[-1]:g}): left out of the sanitised report",
            RuntimeWarning,
            stacklevel=4,
        )
    allowed = np.flatnonzero(~np.isin(grid, left_out))
    if not len(allowed):
        unsanitized = tuple(GnssReport() for _ in options.rounds)
        return _Sanitized(math.nan, math.inf, unsanitized), left_out
    epsilons = total + conversion_cost(grid, options.delta, options.conversion)
    if options.formula == "paper":
        allowed = allowed[[np.argmin(epsilons[allowed])]]
    candidates = list(zip(grid[allowed].tolist(), epsilons[allowed].tolist(), strict=True))
    best = _golden_section_search(candidates, lambda candidate: _sanitize_at(options, *candidate))
    return best, left_out


def _sanitize_at(options: _Options, order: float, epsilon: float) -> _Sanitized:
    parts = []
    for i, each_round in enumerate(options.rounds):
        profile = each_round.sensitivity_profile(order)
        if profile is None:
            parts.append(GnssReport())
            continue
        formula = options.formula
        beta, sigma = options.pinned_value("beta", i), options.pinned_value("sigma_ss", i)
        if options.tuning == "appendix_b6":
            rules = appendix_b6(options.delta, options.target_epsilon)
            beta, sigma = beta or rules[0], sigma or rules[1]
        elif options.tuning == "rule_of_thumb":
            beta, sigma = rule_of_thumb(
                order, options.delta, beta=beta, sigma_ss=sigma, formula=formula
            )
        if beta is None:
            # The search is quick without a lower bound if votes are few, and keeps its last digits.
            lower_bound = profile.smooth_lower_bound if profile.batch_size == 1 else None
            beta = tune_beta(
                order, profile.smooth_sensitivity, smooth_lower_bound=lower_bound, formula=formula
            )
        if sigma is None:
            sigma = tune_sigma(order, beta, profile.smooth_sensitivity(beta), formula=formula)
        parts.append(
            GnssReport(
                beta=beta,
                smooth_sensitivity=profile.smooth_sensitivity(beta),
                sigma_ss=sigma,
                gnss_rdp=gnss_rdp(order, beta, sigma, formula=formula),
            )
        )
    return _Sanitized(order, epsilon + sum(part.gnss_rdp for part in parts), tuple(parts))


def _golden_section_search(
    candidates: list[tuple], evaluate: Callable[[tuple], _Sanitized]
) -> _Sanitized:
    """Return the report of the least objective, if it falls and then rises; a good one otherwise.

    Any order is valid: this only chooses one, and each costs a smooth sensitivity.
    """
    low, high = 0, len(candidates) - 1
    ratio = (math.sqrt(5) - 1) / 2
    evaluated: dict[int, _Sanitized] = {}

    def value(i: int) -> float:
        if i not in evaluated:
            evaluated[i] = evaluate(candidates[i])
        return evaluated[i].objective

    while high - low > 2:
        left = high - max(1, round(ratio * (high - low)))
        right = low + max(1, round(ratio * (high - low)))
        if left >= right:
            left, right = low + (high - low) // 2, low + (high - low) // 2 + 1
        if value(left) <= value(right):
            high = right
        else:
            low = left
    for i in range(low, high + 1):
        value(i)
    return min(evaluated.values(), key=lambda point: point.objective)
