"""For each object that is marked as a bound, a sampler of its arguments and its exact value.

A sampler draws arguments, extremes among them, calls what it is for and yields pairs (larger,
smaller): what must be at least as large as what. One side is the float that the function gave, the
other is worked out here in sixty digits or more, from the definition and by formulas of its own. A
third element False says that the two need not be close.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from scipy.special import ndtri

from private_ensembles.accounting import (
    budgets,
    composition,
    discrete_gaussian,
    gaussian,
    label_composition,
    privacy_loss_distribution,
)
from private_ensembles.accounting import trade_off as trade_offs
from private_ensembles.accounting.adaptive_composition import (
    account,
    counts_and_labels,
    dominating_pairs,
)
from private_ensembles.accounting.adaptive_composition.counts_and_labels import NoisyCounts
from private_ensembles.accounting.adaptive_composition.dominating_pairs import NeighbourPairs
from private_ensembles.audit import (
    api,
    audited_labels,
    bounds,
    divergence,
    finite_mechanism,
    histograms,
    shared_data,
)
from private_ensembles.base import rounding
from private_ensembles.labels import gnmax, ladder, lnmax, noisy_counts
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.laws import laplace
from private_ensembles.labels.task import Task
from private_ensembles.papers.dpbag.mathematics import budget as dpbag_budget
from private_ensembles.papers.nzc.mathematics import claims_and_truth
from private_ensembles.papers.pate.mathematics import cost_curve, rdp, sanitize
from private_ensembles.papers.pate.mathematics import lnmax as pate_lnmax
from private_ensembles.release.expectation import max_attack_accuracy, max_odds
from tests.accounting.adversaries import both_orders, exact_value, power, random_rows

DIGITS = 60


@dataclass(frozen=True)
class Sampler:
    """What draws arguments for a marked object, how often, and what else it holds to account.

    Attributes:
        draw: Takes a generator and the object, or a property's function, and yields the pairs.
        bounds: The object, and the other marked ones that are called for it.
        draws: How many arguments are drawn.
    """

    draw: Callable[[np.random.Generator, Any], Iterator[tuple]]
    bounds: tuple[object, ...]
    draws: int


SAMPLERS: list[Sampler] = []


def samples(bound: object, *also: object, draws: int = 40) -> Callable:
    """Make the decorated function the sampler of a marked object.

    also: other marked objects that the sampler calls, whose bounds its pairs need as well. That
    it does call them is checked.
    """
    bounds = tuple(getattr(each, "fget", None) or each for each in (bound, *also))

    def register(draw: Callable) -> Callable:
        SAMPLERS.append(Sampler(draw, bounds, draws))
        return draw

    return register


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """10 to a power drawn from [low, high]."""
    return float(10 ** rng.uniform(low, high))


def probability(rng: np.random.Generator) -> float:
    """A number in (0, 1), often near one of the ends."""
    small = log_uniform(rng, -12, -0.01)
    return [small, log_uniform(rng, -300, -12), 1 - small][rng.choice(3, p=[0.7, 0.1, 0.2])]


def budget(rng: np.random.Generator) -> float:
    """An epsilon, tiny and huge ones among them."""
    return log_uniform(rng, -12, 2)


def beside_one(*small: float) -> int:
    """Digits enough to tell 1 from 1 - x for each x."""
    least = min((abs(x) for x in small if x), default=1.0)
    return DIGITS + max(0, -int(np.floor(np.log10(least))))


# ------------------------------------------------------------------------------- accounting


@samples(rounding.round_up, rounding.round_up_in_context)
def round_up(rng, function):
    value = mpf(rng.standard_normal()) * mpf(10) ** int(rng.integers(-300, 300)) / 3
    yield function(_decimal(value)), value


@samples(rounding.round_down)
def round_down(rng, function):
    value = mpf(rng.standard_normal()) * mpf(10) ** int(rng.integers(-300, 300)) / 3
    yield value, function(_decimal(value))


def _decimal(value):
    return Decimal(mpmath.nstr(value, 58))


@samples(rounding.round_multiple_up, rounding.round_fraction_up)
def round_multiple_up(rng, function):
    value, k = log_uniform(rng, -300, 300), int(rng.integers(1, 10**6))
    yield function(value, k), mpf(value) * k


def _few_operations(rng):
    """A float after 3 to 30 products, quotients, roots and sums, and what it is exactly."""
    ours, exact = rng.uniform(0.5, 2), None
    exact = mpf(ours)
    count = int(rng.integers(1, 30))
    for _ in range(count):
        other = rng.uniform(0.5, 2)
        kind = rng.integers(4)
        if kind == 0:
            ours, exact = ours * other, exact * other
        elif kind == 1:
            ours, exact = ours / other, exact / other
        elif kind == 2:
            ours, exact = ours + other, exact + mpf(other)
        else:
            ours, exact = float(np.sqrt(ours)), mpmath.sqrt(exact)
    return ours, exact, count


@samples(rounding.round_float_up)
def round_float_up(rng, function):
    ours, exact, count = _few_operations(rng)
    yield function(ours, count), exact


@samples(rounding.round_float_down)
def round_float_down(rng, function):
    ours, exact, count = _few_operations(rng)
    yield exact, function(ours, count)


@samples(rounding.round_sum_up)
def round_sum_up(rng, function):
    values = 10 ** rng.uniform(-20, 20, int(rng.integers(1, 2000)))
    yield function(values), mpmath.fsum(map(mpf, values.tolist()))


@samples(composition.simple_composition)
def simple_composition(rng, function):
    epsilon, delta, k = budget(rng), probability(rng), int(rng.integers(1, 10**4))
    found = function(epsilon, delta, k)
    yield found.epsilon, mpf(epsilon) * k
    yield found.delta, min(mpf(1), mpf(delta) * k)


@samples(composition.replace_one_from_add_remove)
def replace_one_from_add_remove(rng, function):
    epsilon, delta = budget(rng), probability(rng)
    found = function(epsilon, delta)
    yield found.epsilon, 2 * mpf(epsilon)
    yield found.delta, min(mpf(1), (1 + mpmath.exp(mpf(epsilon))) * mpf(delta))


@samples(composition.general_composition)
def general_composition(rng, function):
    epsilon, delta, slack = log_uniform(rng, -40, 2), probability(rng), probability(rng)
    k = int(rng.integers(1, 10**4))
    found = function(epsilon, delta, k, slack)
    with mpmath.workdps(beside_one(delta, slack)):
        e, d = mpf(epsilon), mpf(slack)
        root = min(
            mpmath.sqrt(2 * k * mpmath.log(mpmath.e + mpmath.sqrt(k * e**2) / d)),
            mpmath.sqrt(-2 * k * mpmath.log(d)),
        )
        yield found.epsilon, min(k * e, k * e * mpmath.tanh(e / 2) + e * root)
        yield found.delta, 1 - (1 - mpf(delta)) ** k * (1 - d)


def randomised_response_delta(epsilon, k, x):
    """Exact delta at x of k-fold randomised response."""
    e, x = mpf(epsilon), mpf(x)
    truth, lie = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e))
    return mpmath.fsum(
        mpmath.binomial(k, lies)
        * max(
            mpf(0),
            truth ** (k - lies) * lie**lies - mpmath.exp(x) * lie ** (k - lies) * truth**lies,
        )
        for lies in range(k // 2 + 1)
    )


def leaking_response_delta(epsilon, delta, k, x):
    """The same, where each copy leaks with probability delta."""
    return 1 - (1 - mpf(delta)) ** k * (1 - randomised_response_delta(epsilon, k, x))


@samples(composition.optimal_composition)
def optimal_composition(rng, function):
    epsilon, k = log_uniform(rng, -10, 1.5), int(rng.integers(1, 12))
    delta = float(rng.choice([0.0, log_uniform(rng, -60, -2)]))
    with mpmath.workdps(2 * beside_one(delta, epsilon)):
        most = leaking_response_delta(epsilon, delta, k, 0)
        total = min(1.0, k * delta + float(most) * log_uniform(rng, -9, 0))
        found = function(epsilon, delta, k, total).epsilon
        # Just below the total, or nothing at all is left to ask.
        if np.isfinite(found):
            yield mpf(total), leaking_response_delta(epsilon, delta, k, found), False


@samples(composition.delta_slack)
def delta_slack(rng, function):
    delta, k, total = log_uniform(rng, -60, -2), int(rng.integers(1, 1000)), probability(rng)
    with mpmath.workdps(2 * beside_one(delta, total)):
        exact = 1 - (1 - mpf(total)) / (1 - mpf(delta)) ** k
        yield max(mpf(0), exact), function(delta, k, total)


def response_rdp(epsilon, order):
    """ln(p^a q^(1-a) + q^a p^(1-a)) / (a - 1) with p = 1 / (1 + e^-epsilon), q = 1 - p."""
    with mpmath.workdps(2 * DIGITS + 40):
        e, a = mpf(epsilon), mpf(order)
        p, q = 1 / (1 + mpmath.exp(-e)), 1 / (1 + mpmath.exp(e))
        return mpmath.log(p**a * q ** (1 - a) + q**a * p ** (1 - a)) / (a - 1)


@samples(composition.randomised_response_rdp)
def randomised_response_rdp(rng, function):
    epsilon, order = log_uniform(rng, -15, 2.5), 1 + log_uniform(rng, -4, 5)
    yield function(epsilon, [order])[0], response_rdp(epsilon, order)


def conversion(order, delta, kind):
    """What turns a Rényi bound into epsilon, by the theorems cited in `rdp_to_dp`."""
    a, d = mpf(order), mpf(delta)
    if kind == "classic":
        return -mpmath.log(d) / (a - 1)
    return mpmath.log((a - 1) / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1)


def _converting(rng):
    return 1 + log_uniform(rng, -3, 5), probability(rng), str(rng.choice(["classic", "improved"]))


@samples(composition.exact_conversion_cost)
def exact_conversion_cost(rng, function):
    order, delta, kind = _converting(rng)
    with mpmath.workdps(80):
        yield mpf(str(function(order, delta, kind))), conversion(order, delta, kind)


@samples(composition.rdp_to_dp)
def rdp_to_dp(rng, function):
    order, delta, kind = _converting(rng)
    rdp = log_uniform(rng, -12, 2)
    found, _ = function([order], [rdp], delta, kind)
    yield found, max(mpf(0), mpf(rdp) + conversion(order, delta, kind))


@samples(
    budgets.pld_epsilon,
    privacy_loss_distribution.PrivacyLossDistribution.epsilon,
    privacy_loss_distribution.PrivacyLossDistribution.delta,
    privacy_loss_distribution.compose,
)
def pld_epsilon(rng, function):
    """Randomised response again, where optimal composition is exact."""
    epsilon, k = log_uniform(rng, -3, 0), int(log_uniform(rng, 0, 2.5))
    delta = log_uniform(rng, -12, -1)
    truth, lie = 1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon))

    def curve(x):
        return np.maximum(truth - np.exp(x) * lie, 0) * (1 + 1e-13) * (x < epsilon)

    found = function(curve, k, delta, largest_epsilon=epsilon, interval=epsilon / 20)
    if np.isfinite(found):
        yield mpf(delta), randomised_response_delta(epsilon, k, found), False


@samples(max_odds)
def odds(rng, function):
    epsilon = budget(rng)
    yield function(epsilon), mpmath.exp(mpf(epsilon))


@samples(max_attack_accuracy)
def attack_accuracy(rng, function):
    epsilon, delta = budget(rng), probability(rng)
    odds = mpmath.exp(mpf(epsilon))
    yield function(epsilon, delta), (odds + mpf(delta)) / (1 + odds)


@samples(gaussian.gaussian_delta)
def one_gaussian_delta(rng, function):
    mu = log_uniform(rng, -3, 1)
    epsilon = float(mu * rng.uniform(-5, 20))
    exact, most = gaussian_delta(mu, epsilon), mpmath.ncdf(mpf(mu) / 2 - mpf(epsilon) / mpf(mu))
    close = exact > 1e-5 * most and exact > 1e-30
    yield mpf(float(function(mu, epsilon))), exact, close


@samples(gaussian.hockey_stick_divergence)
def hockey_stick_of_tails(rng, function):
    upper, lower = rng.normal(0, 6, 2).tolist()
    epsilon = float(rng.choice([-1, 1])) * log_uniform(rng, -6, 1.5)
    larger, smaller = mpmath.ncdf(mpf(upper)), mpmath.exp(mpf(epsilon)) * mpmath.ncdf(mpf(lower))
    close = abs(larger - smaller) > 1e-3 * (larger + smaller)
    yield mpf(float(function(upper, lower, epsilon))), larger - smaller, close


def _labels(rng):
    """Dominating pairs of a label, exact as floats, and how many labels."""
    labels = int(rng.choice([1, 2, 3], p=[0.5, 0.4, 0.1]))
    first, second = random_rows(
        rng, 1 + int(rng.random() < 0.5), 2 + (labels < 3) * (rng.random() < 0.3)
    )
    return NeighbourPairs(first, second), both_orders(first, second), labels


def _label_curve(rng):
    label, pairs, labels = _labels(rng)
    scale, delta = log_uniform(rng, -2, 0.7), log_uniform(rng, -9, -1)
    fineness = float(rng.choice([2.0, 7.0]))
    return account.privacy_curve(label, labels, scale, delta, fineness=fineness), pairs, labels


def _exactly(value):
    return mpf(value.numerator) / mpf(value.denominator)


@samples(
    account.PrivacyCurve.delta,
    account.privacy_curve,
    account.pairs_value_bounds,
    dominating_pairs.NeighbourPairs.hockey_stick_divergences,
    dominating_pairs.NeighbourPairs.attainable_pairs,
    draws=30,
)
def curve_delta(rng, function):
    found, pairs, labels = _label_curve(rng)
    epsilon = float(rng.uniform(0, found.epsilons[-1] * 1.1))
    low, _ = power(epsilon)
    yield function(found, epsilon), _exactly(exact_value(pairs, labels, low)), False


@samples(account.PrivacyCurve.epsilon, draws=30)
def curve_epsilon(rng, function):
    found, pairs, labels = _label_curve(rng)
    delta = log_uniform(rng, -9, -0.05)
    epsilon = function(found, delta)
    if np.isfinite(epsilon):
        low, _ = power(epsilon)
        yield mpf(delta), _exactly(exact_value(pairs, labels, low)), False


@samples(account.PrivacyCurve.least_epsilon, draws=30)
def curve_least_epsilon(rng, function):
    found, pairs, labels = _label_curve(rng)
    delta = log_uniform(rng, -9, -0.05)
    epsilon = function(found, delta)
    if epsilon:
        _, high = power(epsilon)
        yield _exactly(exact_value(pairs, labels, high)), mpf(delta), False


@samples(account.adaptive_epsilon, draws=20)
def adaptive_epsilon(rng, function):
    label, pairs, labels = _labels(rng)
    delta = log_uniform(rng, -7, -0.3)
    found = function(label, labels, delta)
    if np.isfinite(found.upper):
        low, _ = power(found.upper)
        yield mpf(delta), _exactly(exact_value(pairs, labels, low)), False
    if found.lower:
        _, high = power(found.lower)
        yield _exactly(exact_value(pairs, labels, high)), mpf(delta), False


def _counts(rng):
    """One noisy count of little noise on the lattice, and its law and the moved one in digits."""
    sigma = float(rng.uniform(0.4, 1.2))
    reach = int(9 * sigma) + 2
    weights = [mpmath.exp(-((mpf(x) / mpf(sigma)) ** 2) / 2) for x in range(-reach, reach + 2)]
    whole = mpmath.fsum(weights[:-1])
    law = [weight / whole for weight in weights]
    return NoisyCounts(1, sigma, lattice=True), law[1:], law[:-1]


def _one_label_and_count(rng):
    """Dominating pairs of one label beside a count, and the exact delta of both at an epsilon."""
    first, second = random_rows(rng, 2, 3)
    counts, p, q = _counts(rng)
    pairs = [
        [(mpf(a), mpf(b)) for a, b in zip(one, other, strict=True)]
        for one, other in [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    ]

    def exact(epsilon):
        growth = mpmath.exp(mpf(epsilon))
        return mpmath.fsum(
            max(mpmath.fsum(max(mpf(0), x * a - growth * y * b) for a, b in pair) for pair in pairs)
            for x, y in zip(p, q, strict=True)
        )

    return NeighbourPairs(first, second), counts, exact


@samples(
    counts_and_labels.joint_epsilon,
    counts_and_labels.bound_label_values,
    counts_and_labels.LabelValueBounds,
    counts_and_labels.LabelValueBounds.epsilon,
    counts_and_labels.LabelValueBounds.privacy_curve_with_counts,
    draws=12,
)
def joint_epsilon(rng, function):
    label, counts, exact = _one_label_and_count(rng)
    delta = log_uniform(rng, -6, -0.5)
    found = function(label, 1, counts, delta, fineness=3)
    if np.isfinite(found):
        yield mpf(delta), exact(found), False
        alone = counts_and_labels.bound_label_values(label, 1, found, delta, width=counts.mu)
        again = alone.epsilon(counts, delta, 1.1 * found + 0.1)
        yield mpf(delta), exact(again), False


@samples(counts_and_labels.NoisyCounts.deltas)
def counts_deltas(rng, function):
    """One count: on the lattice by the sum over all numbers, and of continuous noise."""
    counts, p, q = _counts(rng)
    growth, epsilon = power_of_e(rng)
    exact = mpmath.fsum(max(mpf(0), x - growth * y) for x, y in zip(p, q, strict=True))
    # What is left out lies beyond nine deviations.
    yield mpf(float(function(counts, epsilon))), exact - mpf(10) ** -17, exact > 1e-9
    number, sigma = int(log_uniform(rng, 0, 4)), log_uniform(rng, 0, 3)
    exact = gaussian_delta(mpmath.sqrt(number) / mpf(sigma), epsilon)
    yield mpf(float(function(NoisyCounts(number, sigma), epsilon))), exact, exact > 1e-9


def power_of_e(rng):
    """e^epsilon and epsilon."""
    epsilon = log_uniform(rng, -2, 0.7)
    return mpmath.exp(mpf(epsilon)), epsilon


@samples(counts_and_labels.NoisyCounts.mu)
def counts_mu(rng, function):
    counts, sigma = int(log_uniform(rng, 0, 9)), log_uniform(rng, -6, 6)
    found = function(NoisyCounts(counts, sigma))
    yield found, mpmath.sqrt(mpf(counts)) / mpf(sigma)


# ------------------------------------------------------------------------------------ audit


def _table(rng):
    """Two rows of probabilities (2, L), each adding up to 1 as floats do."""
    width = int(rng.integers(2, 6))
    rows = rng.dirichlet(np.full(width, rng.choice([0.05, 1.0])), 2)
    if rng.random() < 0.5:  # neighbours that hardly differ
        rows[1] = rows[0] * np.exp(log_uniform(rng, -9, 0) * rng.uniform(-1, 1, width))
        rows[1] /= rows[1].sum()
    return np.maximum(rows, 1e-300)


def _hockey_stick(first, second, epsilon):
    growth = mpmath.exp(mpf(epsilon))
    terms = zip(first.tolist(), second.tolist(), strict=True)
    return mpmath.fsum(max(mpf(0), mpf(p) - growth * mpf(q)) for p, q in terms)


def _renyi(first, second, order):
    terms = zip(first.tolist(), second.tolist(), strict=True)
    total = mpmath.fsum(mpf(p) ** mpf(order) * mpf(q) ** (1 - mpf(order)) for p, q in terms)
    return mpmath.log(total) / (mpf(order) - 1)


def _both_orders(rows, divergence):
    return max(divergence(rows[0], rows[1]), divergence(rows[1], rows[0]))


@samples(divergence.exact_delta)
def exact_delta(rng, function):
    rows, epsilon = _table(rng), log_uniform(rng, -12, 1)
    exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, epsilon))
    yield mpf(function(rows, [(0, 1)], epsilon)), min(mpf(1), exact), exact > 1e-6
    yield exact, function(rows, [(0, 1)], epsilon, side="lower"), exact > 1e-6


@samples(divergence.delta_curve)
def delta_curve(rng, function):
    rows, epsilon = _table(rng), log_uniform(rng, -12, 1)
    exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, epsilon))
    yield mpf(function(rows, [(0, 1)], [epsilon])[0]), min(mpf(1), exact), exact > 1e-6


@samples(divergence.exact_epsilon)
def exact_epsilon(rng, function):
    rows, delta = _table(rng), log_uniform(rng, -12, -0.1)
    found = function(rows, [(0, 1)], delta)
    exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, found))
    yield mpf(delta), exact, found > 1e-6 and delta > 1e-6
    lower = function(rows, [(0, 1)], delta, side="lower")
    if lower > 0:  # no smaller epsilon will do
        exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, lower))
        yield exact, mpf(delta) * (1 - mpf(10) ** -30), delta > 1e-6


@samples(divergence.renyi_curve)
def renyi_curve(rng, function):
    rows, order = _table(rng), 1 + log_uniform(rng, -3, 2)

    exact = _both_orders(rows, lambda p, q: _renyi(p, q, order))
    yield mpf(function(rows, [(0, 1)], [order])[0]), exact, exact > 1e-3


def _worst_teachers(values, teacher_epsilon, teacher_Delta, epsilon):
    """Largest Pr[label | p] - e^epsilon Pr[label | p'] over teachers at corners, both labels."""
    decay, D = mpmath.exp(-mpf(teacher_epsilon)), mpf(teacher_Delta)
    high, low = (1 + D * decay) / (1 + decay), (1 - D) * decay / (1 + decay)
    corners = [(0, 0), (0, D), (D, 0), (1, 1), (1, 1 - D), (1 - D, 1), (high, low), (low, high)]
    K, growth, worst = len(values) - 1, mpmath.exp(mpf(epsilon)), mpf(0)

    def says_one(ps, chosen):
        pmf = [mpf(1)]
        for p in ps:
            pmf = [
                (pmf[i] * (1 - p) if i < len(pmf) else 0) + (pmf[i - 1] * p if i else 0)
                for i in range(len(pmf) + 1)
            ]
        return mpmath.fsum(a * b for a, b in zip(pmf, chosen, strict=True))

    for chosen in ([mpf(v) for v in values], [1 - mpf(v) for v in values]):
        for teachers in itertools.combinations_with_replacement(corners, K):
            first, second = zip(*teachers, strict=True)
            worst = max(worst, says_one(first, chosen) - growth * says_one(second, chosen))
    return worst


def _shared(rng):
    values = np.sort(rng.random(int(rng.integers(2, 4)))).tolist()
    return values, log_uniform(rng, -6, 1), float(rng.choice([0.0, log_uniform(rng, -9, -1)]))


@samples(shared_data.shared_data_curve)
def shared_data_curve(rng, function):
    given, epsilon = _shared(rng), log_uniform(rng, -6, 1)
    exact = _worst_teachers(*given, epsilon)
    yield mpf(function(*given, [epsilon])[0]), exact, exact > 1e-6


@samples(shared_data.shared_data_epsilon)
def shared_data_epsilon(rng, function):
    given, delta = _shared(rng), log_uniform(rng, -9, -0.5)
    found = function(*given, delta)
    yield mpf(delta), _worst_teachers(*given, found), found > 1e-6 and delta > 1e-6


@samples(
    api.Audited,
    finite_mechanism.FiniteMechanism.epsilon,
    finite_mechanism.FiniteMechanism.delta,
    finite_mechanism.FiniteMechanism.curve,
    finite_mechanism.FiniteMechanism.renyi,
    finite_mechanism.FiniteMechanism.rho,
    finite_mechanism.FiniteMechanism.mu,
    finite_mechanism.FiniteMechanism.trade_off,
    draws=12,
)
def audited(rng, function):
    """Two teachers and two classes: three histograms, two of which often hardly differ."""
    table = np.concatenate([_table(rng)[:1, :2], _table(rng)[:, :2]])
    table /= table.sum(axis=1, keepdims=True)
    delta, epsilon = log_uniform(rng, -9, -0.5), log_uniform(rng, -3, 0.5)

    def probabilities(counts):
        return table[counts[:, 1]]

    found = api.audit_mechanism(probabilities, teachers=2, classes=2, delta=delta)
    assert isinstance(found, function)
    known = found.table
    pairs = [(table[i], table[j]) for i, j in ((0, 1), (1, 0), (1, 2), (2, 1))]

    def worst(divergence, *arguments):
        return max(divergence(*pair, *arguments) for pair in pairs)

    yield mpf(delta), worst(_hockey_stick, found.epsilon), False
    if found.epsilon_lower > 0:
        yield worst(_hockey_stick, found.epsilon_lower), mpf(delta) * (1 - mpf(10) ** -30), False
    exact = worst(_hockey_stick, epsilon)
    for above in (known.delta(epsilon), known.curve([epsilon])[0]):
        yield mpf(float(above)), exact, False
    yield exact, mpf(known.delta(epsilon, "lower")), False
    order = 1 + log_uniform(rng, -2, 1.5)
    cost = worst(_renyi, order)
    yield mpf(float(known.renyi([order])[0])), cost, False
    yield mpf(found.rho) * mpf(order), cost, False
    # mu-GDP says at each epsilon what delta is at most; less than mu does not hold of all pairs.
    for sign in (1, -1):
        yield gaussian_delta(found.mu, sign * epsilon), worst(_hockey_stick, sign * epsilon), False
    level = float(rng.choice([0.0, rng.uniform(), 1.0]))
    yield min(_least_error(*pair, level) for pair in pairs), known.trade_off([level])[0], False


class LabelOfRows(audited_labels.EnumeratedLabel):
    """A label known as two rows of probabilities."""

    inputs, pairs, errors = np.arange(2), np.array([[0, 1]]), {}

    def __init__(self, rows):
        self.matrix = rows

    def draw(self, audit_input, runs, generator):
        raise NotImplementedError


@samples(
    audited_labels.EnumeratedLabel.worst_inputs,
    audited_labels.EnumeratedLabel.epsilon_lower_bound,
    audited_labels.EnumeratedLabel.curve,
    draws=20,
)
def enumerated_label(rng, function):
    rows, delta, epsilon = _table(rng), log_uniform(rng, -9, -0.5), log_uniform(rng, -3, 0.5)
    label = LabelOfRows(rows)
    above, below = function(label, delta).epsilon, label.epsilon_lower_bound(delta)
    yield mpf(delta), _both_orders(rows, lambda p, q: _hockey_stick(p, q, above)), False
    if below > 0:
        exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, below))
        yield exact, mpf(delta) * (1 - mpf(10) ** -30), False
    exact = _both_orders(rows, lambda p, q: _hockey_stick(p, q, epsilon))
    yield mpf(float(label.curve(np.array([epsilon]))[0])), exact, False


@samples(
    audited_labels.SharedDataLabel.worst_inputs,
    audited_labels.SharedDataLabel.curve,
    audited_labels.AuditedLabel.epsilon_lower_bound,
    draws=12,
)
def shared_data_label(rng, function):
    values, *teacher = _shared(rng)
    label = audited_labels.SharedDataLabel(np.array(values), tuple(teacher), None)
    delta, epsilon = log_uniform(rng, -9, -0.5), log_uniform(rng, -6, 1)
    yield mpf(delta), _worst_teachers(values, *teacher, function(label, delta).epsilon), False
    exact = _worst_teachers(values, *teacher, epsilon)
    yield mpf(float(label.curve(np.array([epsilon]))[0])), exact, exact > 1e-6
    yield mpf(0), label.epsilon_lower_bound(delta)  # nothing is claimed


@samples(bounds.epsilon_bounds, histograms.leading_pairs, draws=12)
def epsilon_bounds(rng, function):
    """A softmax of few votes: all histograms, and only those whose noisy maxima are fragile."""
    teachers, rate = int(rng.integers(1, 5)), rng.uniform(0.05, 2)
    delta = log_uniform(rng, -9, -0.5)

    def softmax(counts):
        weights = np.exp(rate * (counts - counts.max(axis=1, keepdims=True)))
        return weights / weights.sum(axis=1, keepdims=True)

    votes = np.array([c for c in np.ndindex(*[teachers + 1] * 3) if sum(c) == teachers])
    rows = softmax(votes)
    near = [(i, j) for i, j in np.ndindex(*[len(votes)] * 2) if abs(votes[i] - votes[j]).sum() == 2]

    def worst(epsilon):
        return max(_hockey_stick(rows[i], rows[j], epsilon) for i, j in near)

    for most in (20_000, 0):
        # Renaming the classes exchanges floats that differ by their last digits.
        found = function(softmax, teachers, 3, delta, most_histograms=most, relative_error=1e-15)
        yield worst(found.lower), mpf(delta) * (found.lower > 0), False
        assert np.isfinite(found.upper) == (most > 0)
        if most:
            yield mpf(delta), worst(found.upper), False
            yield mpf(found.lower) + mpf(10) ** -5, mpf(found.upper), False


# ------------------------------------------------------------------------------ dpbag and nzc


@samples(dpbag_budget.moments_epsilon)
def dpbag_epsilon(rng, function):
    total, noise, delta = log_uniform(rng, -3, 8), log_uniform(rng, -8, 1), probability(rng)
    found, order = function(total, noise, delta, 50)
    l = mpf(int(order))
    yield mpf(float(found)), 2 * mpf(noise) ** 2 * (l + 1) * mpf(total) - mpmath.log(mpf(delta)) / l


@samples(dpbag_budget.affordable_cost)
def dpbag_affordable(rng, function):
    epsilon, noise, delta = budget(rng), log_uniform(rng, -8, 1), probability(rng)
    found = function(epsilon, noise, delta, 50)
    spent = (
        2 * mpf(noise) ** 2 * (l + 1) * mpf(found) - mpmath.log(mpf(delta)) / l
        for l in range(1, 51)
    )
    if found > 0:
        yield mpf(epsilon), min(spent)


@samples(claims_and_truth.proven_epsilon)
def nzc_epsilon(rng, function):
    constant, scale, delta = log_uniform(rng, -3, 10), log_uniform(rng, -10, 10), probability(rng)
    moved = (mpf(constant) + 1) / mpf(scale)
    yield mpf(function(constant, scale)), 2 * moved
    exact = moved**2 + 2 * moved * mpmath.sqrt(-mpmath.log(mpf(delta)))
    yield mpf(function(constant, scale, noise="gaussian", delta=delta)), exact


# ------------------------------------------------------------------------------------- pate


def independent_gnmax(sigma, order):
    return mpf(order) / mpf(sigma) ** 2


def theorem_6_of_gnmax(log_q, sigma, order):
    """Theorem 6 with Propositions 8 and 10 where their conditions hold, as printed."""
    with mpmath.workdps(DIGITS + int(max(0, -log_q) / 2)):
        L, s, lam = mpf(log_q), mpf(sigma), mpf(order)
        q, mu2 = mpmath.exp(L), s * mpmath.sqrt(-L)
        mu1 = mu2 + 1
        if mu1 < lam or mu2 <= 1:
            return lam / s**2
        e1, e2 = mu1 / s**2, mu2 / s**2
        limit = (mu2 - 1) * e2 - mu2 * mpmath.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1))
        if limit < L:
            return lam / s**2
        A = (1 - q) / (1 - (q * mpmath.exp(e2)) ** ((mu2 - 1) / mu2))
        B = mpmath.exp(e1) / q ** (1 / (mu1 - 1))
        bound = mpmath.log((1 - q) * A ** (lam - 1) + q * B ** (lam - 1)) / (lam - 1)
        return min(bound, lam / s**2)


@samples(rdp.gnmax_rdp_of_log_q)
def gnmax_rdp_of_log_q(rng, function):
    log_q, sigma = -log_uniform(rng, -6, 2.8), log_uniform(rng, -0.5, 4)
    order = 1 + log_uniform(rng, -4, 3)
    exact = theorem_6_of_gnmax(log_q, sigma, order)
    yield mpf(function([log_q], sigma, [order])[0, 0]), exact, exact > 1e-290


@samples(rdp.theorem_6)
def theorem_6(rng, function):
    """Inputs are exact: any q, x and B."""
    less = log_uniform(rng, -4, 2)
    L, gain_b = log_uniform(rng, -3, 2.8), log_uniform(rng, -6, 1)
    gain_a = L * rng.uniform(0.001, 0.999)
    order = 1 + less
    with mpmath.workdps(DIGITS + int(L)):
        q, l = mpmath.exp(-mpf(L)), mpf(order) - 1
        x = mpmath.exp(-(mpf(L) - mpf(gain_a)))
        A, B = (1 - q) / (1 - x), mpmath.exp(mpf(gain_b))
        exact = mpmath.log((1 - q) * A**l + q * B**l) / l
    one = np.array([[1.0]])
    given = L * one, (L - gain_a) * one, gain_a * one, gain_b * one, L / (L - gain_a) * one
    with np.errstate(over="ignore"):
        found = function(*given, np.array([order]))[0, 0]
    yield mpf(float(found)), exact, bool(np.isfinite(found)) and exact > 1e-290


@samples(rdp.gnmax_independent_rdp)
def gnmax_independent_rdp(rng, function):
    sigma, order = log_uniform(rng, -5, 8), 1 + log_uniform(rng, -6, 5)
    yield mpf(function(sigma, [order])[0]), independent_gnmax(sigma, order)


@samples(cost_curve.CostCurve.ceiling)
def ceiling(rng, function):
    sigma, order = log_uniform(rng, -5, 8), 1 + log_uniform(rng, -6, 5)
    yield mpf(function(cost_curve.CostCurve(sigma, order, 2))), independent_gnmax(sigma, order)


def _votes(rng):
    classes, teachers = int(rng.integers(2, 8)), int(rng.integers(1, 400))
    return rng.multinomial(teachers, rng.dirichlet(np.full(classes, 0.3)), 1)


def _union_bound(counts, tail):
    row = sorted(counts[0].tolist())
    with mpmath.workdps(DIGITS + 20):
        return mpmath.log(min(mpf(1), mpmath.fsum(tail(row[-1] - n) for n in row[:-1])))


@samples(rdp.gnmax_log_q, rdp.log_of_union_bound)
def gnmax_log_q(rng, function):
    counts, sigma = _votes(rng), log_uniform(rng, -0.3, 4)
    exact = _union_bound(counts, lambda gap: mpmath.erfc(mpf(gap) / (2 * mpf(sigma))) / 2)
    yield mpf(function(counts, sigma)[0]), exact, exact < -1e-6


@samples(pate_lnmax.lnmax_log_q)
def lnmax_log_q(rng, function):
    counts, scale = _votes(rng), log_uniform(rng, -0.3, 4)

    def tail(gap):
        x = mpf(gap) / mpf(scale)
        return (2 + x) * mpmath.exp(-x) / 4

    exact = _union_bound(counts, tail)
    yield mpf(function(counts, scale)[0]), exact, exact < -1e-6


def independent_lnmax(scale, order):
    """The smaller of randomised response at 2 / scale and twice the Laplace mechanism."""
    with mpmath.workdps(2 * DIGITS):
        b, a = mpf(scale), mpf(order)
        e = 2 / b
        response = mpmath.log((mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e)))
        laplace = a * mpmath.exp((a - 1) / b) + (a - 1) * mpmath.exp(-a / b)
        return min(response, 2 * mpmath.log(laplace / (2 * a - 1))) / (a - 1)


@samples(lnmax.lnmax_independent_rdp)
def lnmax_independent_rdp(rng, function):
    scale, order = log_uniform(rng, -2, 10), 1 + log_uniform(rng, -3, 3)
    # Beyond a scale of 1e4 the Laplace mechanism's part, a little less, is lost to cancellation.
    yield mpf(function(scale, [order])[0]), independent_lnmax(scale, order), scale < 1e4
    e = 2 / mpf(scale)
    yield mpf(function(scale, [order], bounds="paper")[0]), min(e, e * e * mpf(order) / 2)


@samples(pate_lnmax.lnmax_rdp_of_log_q)
def lnmax_rdp_of_log_q(rng, function):
    log_q, scale = -log_uniform(rng, -3, 2.8), log_uniform(rng, -1, 5)
    order = 1 + log_uniform(rng, -3, 2)
    with mpmath.workdps(2 * DIGITS + int(-log_q)):
        exact = independent_lnmax(scale, order)
        q, c, l = mpmath.exp(mpf(log_q)), mpmath.exp(2 / mpf(scale)), mpf(order) - 1
        if q < 1 / (1 + c):
            bound = mpmath.log((1 - q) * ((1 - q) / (1 - c * q)) ** l + q * c**l) / l
            exact = min(exact, bound)
    yield mpf(function([log_q], scale, [order])[0, 0]), exact, exact > 1e-290


@samples(sanitize.gnss_rdp)
def gnss_rdp(rng, function):
    order = 1 + log_uniform(rng, -2, 2)
    beta = -0.5 * np.log1p(-1 / order) * rng.uniform(0.001, 0.99)
    sigma = log_uniform(rng, -2, 4)
    lam, b, s = mpf(order), mpf(float(beta)), mpf(sigma)
    r = 1 - lam + lam * mpmath.exp(-2 * b)
    exact = lam * mpmath.exp(-2 * b) / (2 * s**2 * r)
    exact += (mpmath.log(r) / 2 + lam * b) / (1 - lam)
    yield mpf(function(order, float(beta), sigma)), exact, False


def gaussian_delta(mu, epsilon):
    """Least delta of a Gaussian mechanism of sensitivity over noise mu (Balle and Wang 2018)."""
    m, e = mpf(mu), mpf(epsilon)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@samples(gnmax.analytic_epsilon)
def analytic_epsilon(rng, function):
    sigma, delta = log_uniform(rng, -0.5, 5), log_uniform(rng, -14, -0.2)
    labels = int(rng.integers(1, 1000))
    found = function(sigma, delta, labels=labels)
    exact = gaussian_delta(mpmath.sqrt(2 * labels) / mpf(sigma), found)
    yield mpf(delta), exact, found > 0 and delta > 1e-8


@samples(gnmax.gnmax_sigma, draws=20)
def gnmax_sigma(rng, function):
    epsilon, delta = log_uniform(rng, -2, 1), log_uniform(rng, -12, -1)
    sigma = function(epsilon, delta, method="analytic")
    yield mpf(delta), gaussian_delta(mpmath.sqrt(2) / mpf(sigma), epsilon), delta > 1e-8
    for method, kind in (("rdp", "classic"), ("improved_rdp", "improved")):
        found = gnmax.search_sigma(epsilon, delta, method=method, order_max=1e5)
        exact = mpf(found.order) / mpf(found.sigma) ** 2 + conversion(found.order, delta, kind)
        yield mpf(epsilon), exact
        assert function(epsilon, delta, method=method, order_max=1e5) == found.sigma


@samples(noisy_counts.GaussianReleases.rho)
def rho(rng, function):
    sigma1, sigma2 = log_uniform(rng, -3, 6), log_uniform(rng, -3, 6)
    thresholds, labels = int(rng.integers(0, 10**6)), int(rng.integers(1, 10**6))
    found = function(noisy_counts.GaussianReleases(thresholds, sigma1, labels, sigma2))
    yield mpf(found), mpf(thresholds) / (2 * mpf(sigma1) ** 2) + mpf(labels) / mpf(sigma2) ** 2


@samples(noisy_counts.rho_to_epsilon, noisy_counts.data_independent_epsilon)
def data_independent_epsilon(rng, function):
    spent, delta = log_uniform(rng, -9, 3), log_uniform(rng, -300, -0.01)
    for kind in ("classic", "improved"):
        found, order = noisy_counts.data_independent_epsilon(spent, delta, conversion=kind)
        assert function(spent, delta, kind) == found
        yield mpf(found), max(mpf(0), mpf(order) * mpf(spent) + conversion(order, delta, kind))


@samples(noisy_counts.exact_data_independent_epsilon)
def exact_data_independent_epsilon(rng, function):
    spent, delta = log_uniform(rng, -9, 2), log_uniform(rng, -14, -0.2)
    found = function(spent, delta)
    yield mpf(delta), gaussian_delta(mpmath.sqrt(2 * mpf(spent)), found), False
    assert noisy_counts.rho_to_epsilon(spent, delta, "exact") == found


@samples(trade_offs.trade_off)
def trade_off(rng, function):
    (first, second), level = _table(rng), float(rng.choice([0.0, rng.uniform(), 1.0]))
    exact = _least_error(first, second, level)
    yield exact, float(function([first], [second], [level])[0, 0]), exact > 1e-3


def _least_error(first, second, level):
    """The least type II error of tests that draw lots between two sets of outcomes."""
    outcomes = [(mpf(p), mpf(q)) for p, q in zip(first.tolist(), second.tolist(), strict=True)]
    spent, power = mpf(0), mpf(0)
    for p, q in sorted(outcomes, key=lambda pair: pair[1] / pair[0], reverse=True):
        share = min(mpf(1), (mpf(level) - spent) / p)
        spent, power = spent + share * p, power + share * q
    # Rows of floats do not quite add up to 1: what is missed is counted from 1.
    return max(mpf(0), 1 - power)


@samples(trade_offs.least_mu, draws=40)
def least_mu(rng, function):
    (first, second), spread = _table(rng), float(rng.choice([0.0, log_uniform(rng, -14, -3)]))
    entries = range(len(first))
    found = {
        side: float(function([first], [second], relative_error=spread, side=side)[0])
        for side in ("upper", "lower")
    }

    def mu(rows):
        """The largest separation by any set of outcomes, of rows made to add up to 1."""
        p, q = ([x / mpmath.fsum(row) for x in row] for row in rows)
        largest = mpf(0)
        for size in range(1, len(p)):
            for chosen in itertools.combinations(entries, size):
                rest = [i for i in entries if i not in chosen]
                right, missed = (_quantile(_sum(row, rest), _sum(row, chosen)) for row in (p, q))
                largest = max(largest, right - missed)
        return largest

    moved = [
        [mpf(x) * (1 + mpf(spread) / 2.1 * int(rng.choice([-1, 1]))) for x in row.tolist()]
        for row in (first, second)
    ]
    for rows in (moved, [list(map(mpf, row.tolist())) for row in (first, second)]):
        exact = mu(rows)
        yield mpf(found["upper"]), exact, False
        yield exact, mpf(found["lower"]), False
    # The two bounds are close to each other, and the exact value between them.
    slack = 12 * (spread + 1e-11)
    yield mpf(found["lower"]) + slack * (1 + mpf(found["upper"])), mpf(found["upper"]), False


def _sum(row, chosen):
    return mpmath.fsum(row[i] for i in chosen)


def _quantile(level, other):
    """Phi^-1(level) where level + other = 1."""
    if level > other:
        return -_quantile(other, level)
    start = mpf(float(ndtri(float(level))))
    # Two steps of Newton's on ln Phi: thirty digits, of which fifteen are needed.
    for _ in range(2):
        phi = mpmath.npdf(start)
        start -= mpmath.log(mpmath.ncdf(start) / level) * mpmath.ncdf(start) / phi
    return start


# ------------------------------------------------------------------------------- mechanisms


@samples(label_composition.total_label_epsilon)
def total_label_epsilon(rng, function):
    orders = label_composition.ORDERS
    epsilon, labels = log_uniform(rng, -9, 0), int(log_uniform(rng, 2.5, 9))
    delta = log_uniform(rng, -12, -0.5)
    # Any order is valid; the least is near the one where floats put it.
    floats = labels * composition.randomised_response_rdp(epsilon, orders)
    floats = floats + composition.conversion_cost(orders, delta, "improved")
    exact = min(
        labels * response_rdp(epsilon, order) + conversion(order, delta, "improved")
        for order in orders[np.argsort(floats)[:3]].tolist()
    )
    exact = min(mpf(labels) * mpf(epsilon), max(mpf(0), exact))
    yield mpf(function(epsilon, labels, delta)), exact


def group_of(rng):
    """A task of several votes that move, whose budget one of them may have a share of."""
    reach = int(rng.integers(2, 30))
    sizes = {"queries": 5, "labels": 5, "n_teachers": 40, "n_classes": 2}
    return Task.from_dict(
        {
            "epsilon": log_uniform(rng, -2, 1.5),
            "delta": log_uniform(rng, -9, -2),
            **sizes,
            "reach": reach,
        }
    )


def growth(epsilon, reach):
    """The factor by which delta grows from one vote to so many, by group privacy."""
    return mpmath.expm1(reach * mpf(epsilon)) / mpmath.expm1(mpf(epsilon))


@samples(groups.single_vote_delta)
def single_vote_delta(rng, function):
    task = group_of(rng)
    epsilon = log_uniform(rng, -4, 1.2)
    while task.protection.reach * epsilon > 600:
        epsilon /= 2
    yield (
        mpf(task.budget.delta),
        mpf(function(epsilon, task)) * growth(epsilon, task.protection.reach),
    )


@samples(groups.group_cost)
def group_cost(rng, function):
    """The cost at the budget of one vote, and where a vote costs more than that."""
    task = group_of(rng)
    if groups.refusal(task):
        return
    spent = groups.divide_budget(task).budget.epsilon * float(rng.choice([0.3, 1.0, 1.05]))
    asked = []

    def cost_of_one(one):
        asked.append(one)
        return spent

    found = mpf(function(cost_of_one, task))
    yield found, task.protection.reach * mpf(spent), False
    if mpmath.isfinite(found):
        last = asked[-1]
        yield (
            mpf(task.budget.delta),
            mpf(last.budget.delta) * growth(max(spent, last.budget.epsilon), task.protection.reach),
            False,
        )


@samples(groups.group_noise_factor)
def group_noise_factor(rng, function):
    reach = int(rng.integers(1, 10**6))
    yield mpf(function(reach)), mpf(reach)


@samples(groups.single_vote_noise_factor)
def single_vote_noise_factor(rng, function):
    reach = int(rng.integers(1, 10**6))
    yield 1 / mpf(reach), mpf(function(reach))


@samples(laplace.PureScale)
def pure_scale(rng, function):
    epsilon = log_uniform(rng, -9, 2)
    yield mpf(function(epsilon, 20).scale), 2 / mpf(epsilon)


@samples(ladder.ladder_probabilities)
def ladder_probabilities(rng, function):
    epsilon, delta, K = log_uniform(rng, -6, 1.5), float(rng.choice([0, 1e-9, 1e-3])), 5
    flips = function(K, epsilon, delta, np.arange(K + 1)).min(axis=1)
    flips = [mpf(q) for q in flips.tolist()]
    growth = mpmath.exp(mpf(epsilon))
    for n in range(K):  # Pr[0] and Pr[1] on neighbouring counts, both ways
        ones = [(1 - q if 2 * i > K else q) for i, q in enumerate(flips)]
        for one, other in ((n, n + 1), (n + 1, n)):
            yield growth * ones[other] + mpf(delta), ones[one], False
            yield growth * (1 - ones[other]) + mpf(delta), 1 - ones[one], False


@samples(discrete_gaussian.whole_lattice_total_variation)
def whole_lattice_total_variation(rng, function):
    sigma, classes = log_uniform(rng, 4.6, 12), int(rng.integers(2, 10_000))
    near = mpmath.sqrt(2 * mpmath.log(classes)) + mpf(classes) / mpf(sigma)
    yield function(sigma, classes), near / mpf(sigma)
