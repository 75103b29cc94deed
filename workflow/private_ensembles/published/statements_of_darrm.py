"""What DaRRM states of its own mathematics, worked out again: lemmas, figures, remarks.

Each function takes a printed claim (a row of `read_published`) and returns what is compared with
it: a largest difference, a ratio, or how many exceptions there are. None needs data. The rows are
in ``darrm_statements.csv``, what is a claim of one side in ``darrm.yaml``.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np

from private_ensembles.accounting.poisson_binomial import pmf
from private_ensembles.darrm.certificate import certify
from private_ensembles.darrm.error import error_at, expected_error, expected_error_estimate
from private_ensembles.darrm.gamma import (
    gamma_constant,
    gamma_double_subsampling,
    gamma_subsampling,
    label_probability,
)
from private_ensembles.darrm.generality import gamma_from_probabilities
from private_ensembles.darrm.optimize import GammaSolution, optimize_gamma
from private_ensembles.darrm.prior import objective, parse_prior
from private_ensembles.darrm.privacy_cost import CORNERS, PrivacyProblem
from private_ensembles.papers.darrm.simulations import (
    iid_privacy_loss,
    largest_step,
    worst_data_set_bound,
)
from private_ensembles.pate.gnmax import label_probability as gnmax_probability
from private_ensembles.pate.gnmax import least_order, order_grid, sigma_curve
from private_ensembles.pate.small_print import unanimous_condition

Cell = Mapping[str, str]

# Sections 6.1 and D.1: K and epsilon of the simulations, Delta of Figure 2, the two priors by
# symmetry on the upper half.
K, EPSILON, DELTA = 11, 0.1, 1e-5
UNIFORM, CLEAR = "uniform:0.5,1", "uniform:0.7,1"
ACTUAL = {"p to 1": "absolute-uniform:0,1", "p to 0.1": "absolute-uniform:0,0.1"}
# Table 4: GNMax's sigma, and epsilon and delta that it was searched for.
GNMAX = {"mnist": 21.46, "fashion-mnist": 22.46}
BUDGET = {"mnist": (0.2676, 3e-4), "fashion-mnist": (0.2556, 3e-4)}
ORDER_MAX, ORDER_STEP = 500, 0.5
# Values of p at which errors are compared, and what two solutions of one program differ by.
POINTS = np.linspace(0, 1, 1001)
SOLVED = 1e-6


def number_in(cell: Cell, name: str) -> int:
    """Return the whole number behind ``name=`` in the row of a claim, such as m."""
    words = dict(word.split("=") for word in cell["row"].split() if "=" in word)
    return int(words[name])


# Section 3 and appendix A ------------------------------------------------------------------------


def subsampling_as_darrm(cell: Cell) -> float:
    """Lemma 3.1: gamma_sub against the hypergeometric law of m drawn teachers, for every m."""
    return max(
        abs(probability - float(_majority_of_drawn(m, l)))
        for m in range(1, K + 1)
        for l, probability in enumerate(label_probability(gamma_subsampling(K, m)))
    )


def _majority_of_drawn(m: int, l: int) -> Fraction:
    """Pr[the majority of m of K teachers is 1 | l say 1], a tie counting half."""
    ways = sum(
        Fraction(1, 2 if 2 * j == m else 1) * math.comb(l, j) * math.comb(K - l, m - j)
        for j in range(m + 1)
        if 2 * j >= m
    )
    return ways / math.comb(K, m)


def error_of_a_constant(cell: Cell) -> float:
    """Lemma 3.2, read for one data set: the error of always saying 1 less the bound, p = 3/4."""
    p = 0.75
    bound = float(worst_data_set_bound(K, p))
    says_zero = float(pmf(np.full(K, p))[: (K + 1) // 2].sum())
    return says_zero - bound


def lemma_3_2_holds_on_a_chain(cell: Cell) -> bool:
    """A false reading, and a true one: on a chain of neighbours no private label does better.

    docs/method.md. Along the chain no Pr[label = 1] can exceed p, so that subsampling's error,
    Pr[majority = 1] - p, is the least.
    """
    chain = [0.5]
    for _ in range(20):
        chain.append(float(largest_step(chain[-1], EPSILON)))
    bounds = worst_data_set_bound(K, chain)
    errors = error_at(gamma_subsampling(K, 1), chain)
    holds = np.allclose(bounds, errors, atol=1e-12)
    return cell["published"] == "0" and bool(holds) and error_of_a_constant(cell) < 0


def any_algorithm_as_darrm(cell: Cell) -> float:
    """Lemma 3.3: the law of GNMax's labels against that of the DaRRM with its gamma."""
    differences = []
    for sigma in (0.5, 2.0, 21.46):
        wanted = gnmax_probability(K, sigma)
        gamma = gamma_from_probabilities(wanted)
        differences.append(np.abs(label_probability(gamma) - wanted).max())
    return float(max(differences))


def privacy_against_its_condition(cell: Cell) -> float:
    """Lemma 3.4: how often the condition on f says otherwise than the definition of privacy.

    Teachers and gammas are drawn; the definition is taken at its word, with the probabilities of
    both labels. Cases within rounding of the edge are left out.
    """
    source = np.random.default_rng(0)
    m, epsilon, delta = 2, 0.3, 0.02
    c, cases = math.exp(m * epsilon), []
    for _ in range(2000):
        half = source.random((K + 1) // 2)
        p, q = source.random(K) ** source.choice([0.2, 1, 5]), source.random(K)
        cases.append((np.concatenate([half[::-1], half]), p, q))
    gamma, p, q = map(np.array, zip(*cases, strict=True))
    says_one = np.array([label_probability(each) for each in gamma])
    before, after = ((says_one * pmf(x)).sum(axis=1) for x in (p, q))
    excess = before - c * after - delta
    disagree = (_costs(gamma, p, q, c) <= c - 1 + 2 * delta) != (excess <= 0)
    return float(disagree[np.abs(excess) > 1e-12].sum())


def _costs(gamma: np.ndarray, p: np.ndarray, q: np.ndarray, c: float) -> np.ndarray:
    """f of Lemma 3.4, as it is printed, (cases,); p, q: (cases, K), gamma: one or one a case."""
    alpha, other = pmf(p), pmf(q)
    half = (K + 1) // 2
    low = ((c * other - alpha) * gamma)[:, :half].sum(axis=1)
    return low + ((alpha - c * other) * gamma)[:, half:].sum(axis=1)


def constant_s_cost(cell: Cell) -> float:
    """Lemma A.1: the largest cost of the constant gamma over what is allowed, m from 1 to 11."""
    costs = []
    for m in range(1, K + 1):
        certificate = certify(gamma_constant(K, m, EPSILON, DELTA), m, EPSILON, DELTA)
        costs.append(certificate.attained_cost / certificate.allowance)
    return max(costs)


# Sections 4 and 5, appendices B and C ------------------------------------------------------------


def amplified_loss(cell: Cell) -> float:
    """Theorem 4.1: the largest loss of its gamma over m epsilon, for every m, i.i.d. teachers."""
    return max(iid_privacy_loss(K, m, EPSILON)[0] / (m * EPSILON) for m in range(1, K + 1))


def loss_inside(cell: Cell) -> float:
    """Lemma B.1: the largest f of i.i.d. teachers inside the region, over that on its boundary."""
    gamma, c = gamma_double_subsampling(K, 3), math.exp(3 * EPSILON)
    grow = math.exp(EPSILON)
    p = np.linspace(0, 1, 201)
    low = np.maximum(p / grow, 1 - grow * (1 - p))
    high = np.minimum(p * grow, 1 - (1 - p) / grow)

    all_alike = np.ones(K)

    def largest(part: slice, neighbours: list[np.ndarray]) -> float:
        f = (_costs(gamma, np.outer(p, all_alike), np.outer(q, all_alike), c) for q in neighbours)
        return max(float(costs[part].max()) for costs in f)

    shares = (0.1, 0.3, 0.5, 0.7, 0.9)
    inner = [low + share * (high - low) for share in shares]
    return largest(slice(1, -1), inner) / largest(slice(None), [low, high])


def binomial_identity(cell: Cell) -> float:
    """Lemma B.9, exactly: the largest difference of its two sides, all i and m, four p."""
    size, worst = 6, Fraction(0)
    for p in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1)):
        law = [math.comb(size, x) * p**x * (1 - p) ** (size - x) for x in range(size + 1)]
        for i, m in combinations_with_replacement(range(size + 1), 2):
            ways = (math.comb(x, i) * math.comb(size - x, m - i) for x in range(size + 1))
            left = sum(a * b for a, b in zip(law, ways, strict=True)) / math.comb(size, m)
            right = math.comb(m, i) * p**i * (1 - p) ** (m - i)
            worst = max(worst, abs(left - right))
    return float(worst)


def error_of_a_larger_gamma(cell: Cell) -> float:
    """Lemma B.11: by how much double subsampling errs more than subsampling anywhere, all m."""
    return max(
        float((error_at(large, POINTS) - error_at(small, POINTS)).max())
        for m in range(1, K + 1)
        for large, small in ((gamma_double_subsampling(K, m), gamma_subsampling(K, m)),)
    )


def cost_inside(cell: Cell) -> float:
    """Lemma 5.1: the largest f at drawn points of the region, over that at its corners.

    Three teachers, each at any of 8 corners, or anywhere in the polygon (a mixture of corners).
    """
    problem = PrivacyProblem(3, 1, 0.5, 0.02, 0.02)
    corners = problem.corner_probabilities()
    gamma = np.array([1.0, 0.7, 0.7, 1.0])
    source = np.random.default_rng(0)
    mixed = source.dirichlet(np.full(len(CORNERS), 0.2), size=(3000, 3)) @ corners
    assigned = np.array(list(product(corners, repeat=3)))
    inside, at_corners = (_largest_cost(gamma, points, problem.c) for points in (mixed, assigned))
    return inside / at_corners


def _largest_cost(gamma: np.ndarray, points: np.ndarray, c: float) -> float:
    """The largest f of three teachers; points: (cases, 3, 2)."""
    odd = gamma * np.array([-1, -1, 1, 1])
    return float((pmf(points[..., 0]) @ odd - c * (pmf(points[..., 1]) @ odd)).max())


def is_certified(cell: Cell) -> float:
    """Footnote 1: whether gamma is found and certified at so many teachers, m = 5."""
    pure = "delta=0" in cell["row"]
    solution = optimize_gamma(number_in(cell, "K"), 5, EPSILON, 0.0 if pure else DELTA)
    gap = solution.utility_upper_bound - solution.utility
    return float(solution.certificate.holds and gap <= SOLVED)


# Sections 6.1 and D.1: figures -------------------------------------------------------------------


@cache
def _optimal(m: int, Delta: float, prior: str = UNIFORM) -> GammaSolution:
    return optimize_gamma(K, m, EPSILON, Delta, prior=prior)


def _baselines(m: int, Delta: float) -> list[np.ndarray]:
    return [gamma_subsampling(K, m), gamma_constant(K, m, EPSILON, Delta)]


def gap_to_subsampling(cell: Cell) -> float:
    """Figure 2, m = 1: "overlaps with" subsampling."""
    return float(np.abs(_optimal(1, DELTA).gamma - gamma_subsampling(K, 1)).max())


def counts_below_a_baseline(cell: Cell) -> float:
    """Figure 2: at how many of the 12 counts of votes gamma_opt lies below a baseline."""
    m = number_in(cell, "m")
    gamma = _optimal(m, DELTA).gamma
    return float(np.any([gamma < other - SOLVED for other in _baselines(m, DELTA)], axis=0).sum())


def error_above_a_baseline(cell: Cell) -> float:
    """Figure 2: at how many of 1,001 values of p gamma_opt errs more than a baseline."""
    m = number_in(cell, "m")
    error = error_at(_optimal(m, DELTA).gamma, POINTS)
    others = [error_at(other, POINTS) for other in _baselines(m, DELTA)]
    return float(np.any([error > other + SOLVED for other in others], axis=0).sum())


def expected_error_less_the_baselines(cell: Cell) -> float:
    """Figure 2: expected error of gamma_opt, less that of the better baseline."""
    m = number_in(cell, "m")
    others = [expected_error(other, UNIFORM) for other in _baselines(m, DELTA)]
    return expected_error(_optimal(m, DELTA).gamma, UNIFORM) - min(others)


def the_optimum_gives_way_somewhere(cell: Cell) -> bool:
    """No gamma that lies nowhere below a baseline is as good: such a program has a smaller optimum.

    A linear program with the constraints of some assignments alone bounds every private gamma's
    utility. With the baselines as lower bounds, even that bound is below the utility of gamma_opt.
    """
    from scipy.optimize import linprog

    m = number_in(cell, "m")
    optimum, half = _optimal(m, DELTA), (K + 1) // 2
    rows = []
    for up in range(K + 1):
        for falls in range(K + 1 - up):
            counts = dict.fromkeys(CORNERS, 0)
            counts |= {"H,h": up, "D,0": falls, "1,1-D": K - up - falls}
            rows.append(optimum.problem.row(np.array(list(counts.values()))))
    floor = np.maximum.reduce(_baselines(m, DELTA))[half:]
    best = linprog(
        -objective(K, parse_prior(UNIFORM)),
        A_ub=np.array(rows),
        b_ub=np.full(len(rows), optimum.problem.relaxed_allowance),
        bounds=[(low, 1) for low in floor],
    )
    proven = bool(best.success) and -best.fun < optimum.utility - 10 * SOLVED
    return cell["published"] == "0" and proven


def largest_error(cell: Cell) -> float:
    """Figure 7: the largest error of a family of gammas over p, pure privacy."""
    m = number_in(cell, "m")
    gammas = {
        "error_opt": _optimal(m, 0.0).gamma,
        "error_dsub": gamma_double_subsampling(K, m),
        "error_sub": gamma_subsampling(K, m),
        "error_const": gamma_constant(K, m, EPSILON, 0.0),
    }
    return float(error_at(gammas[cell["column"]], POINTS).max())


def error_by_prior(cell: Cell) -> float:
    """Figure 9: differences of expected errors, if the p_i are distributed as the row says.

    opt_p_less_opt_u: what optimising for the other prior changes. opt_less_baselines: the worse of
    the two optimised gammas less the better of subsampling and the constant one.
    """
    m, actual = number_in(cell, "m"), ACTUAL[cell["row"].split(" ", 1)[1]]
    errors = {
        prior: expected_error_estimate(_optimal(m, 0.0, prior).gamma, actual).error
        for prior in (UNIFORM, CLEAR)
    }
    if cell["column"].startswith("opt_p_less_opt_u"):
        return errors[CLEAR] - errors[UNIFORM]
    others = [expected_error_estimate(other, actual).error for other in _baselines(m, 0.0)]
    return max(errors.values()) - min(others)


# Appendix D.2.1: GNMax ---------------------------------------------------------------------------


def condition_of_algorithm_6(cell: Cell) -> float:
    """Whether the condition of the data-dependent bound is met if all of 11 teachers agree.

    At the printed sigma, for any order that its search looked at.
    """
    dataset = cell["dataset"]
    orders = order_grid(*BUDGET[dataset], order_max=ORDER_MAX, order_step=ORDER_STEP)
    sigma = GNMAX[dataset]
    return float(sum(unanimous_condition(K, sigma, order).applies for order in orders))


def turns_of_sigma(cell: Cell) -> float:
    """Figure 10: how often sigma squared turns from falling to rising or back over the orders."""
    budget = BUDGET[cell["dataset"]]
    start = least_order(*budget)
    squares = sigma_curve(*budget, np.arange(start + ORDER_STEP, ORDER_MAX, ORDER_STEP))
    rising = np.diff(squares) > 0
    return float(np.count_nonzero(np.diff(rising)))
