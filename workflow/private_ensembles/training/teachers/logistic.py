"""Thousands of logistic regressions at once, one for each shard of a data set.

Each is scikit-learn's L2-regularised fit: it minimises

    f(w, b) = |w|^2 / 2 + C sum_r log(1 + exp(-s_r (w . x_r + b))),  s_r = 2 y_r - 1,

over the records r of one shard. So do its solvers of today; `liblinear`, the default until 2019,
adds b^2 / 2 (``intercept="penalised"``), which shards of few records feel. Newton's method runs for
all together. Its linear systems are
solved by conjugate gradients with one preconditioner for all: the Hessian that a shard would have
if its records were the public `reference`. A product with all Hessians costs two products with one
sparse matrix that holds the shards as blocks, so that the cost is that of the records and not of
the teachers.

The fit of a shard is a function of that shard and of public data alone: it starts from its own
share of ones, and stops for itself. A start from all records, or a common stop, would be a way for
one record to reach every teacher. No teacher's privacy rests on rounding here.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from private_ensembles.base import checks

_NEWTON_STEPS = 60
_HALVINGS = 40
# A step must achieve this share of the decrease that the slope promises (Armijo).
_DECREASE = 1e-4
# The preconditioner gives each record this weight; the true one is between 0 and 1/4, which an
# undecided teacher has.
_TYPICAL_WEIGHT = 0.12
# The block matrix has so many rows at once: about 20 MB at 108 features with 14 ones.
_ROWS = 1 << 15
INTERCEPTS = ("free", "penalised")


@dataclass(frozen=True)
class LogisticTeachers:
    """One linear classifier per shard.

    Attributes:
        coefficients: float64 (n_shards, d), 0 for a constant teacher.
        intercepts: float64 (n_shards,), infinite for a constant teacher.
        distance_bound: float64 (n_shards,), a proven bound on how far (coefficients, intercept) are
            from the exact minimiser, in Euclidean norm for the coefficients and absolutely for the
            intercept; 0 for a constant teacher.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    distance_bound: np.ndarray


def fit_shards(features, labels, shards, reference, *, C=1.0, tolerance=1e-6, intercept="free"):
    """Fit a logistic regression to each shard, each coefficient within `tolerance` of the optimum.

    A shard whose records all have one label has a constant teacher, which says that label:
    scikit-learn refuses such a shard, and a free intercept would run off to infinity.

    Args:
        features: float (N, d), finite, dense or sparse.
        labels: (N,), 0 or 1.
        shards: int (n_shards, size), indices of records, as `permutation_shards` gives them.
        reference: float (M, d), public records that shape the preconditioner; any will do, those
            like `features` are fastest.
        C: The weight of the records against the penalty, as in scikit-learn, above 0.
        tolerance: Above 0.
        intercept: ``free``, or ``penalised`` like the coefficients.

    Returns:
        LogisticTeachers.

    Raises:
        ValueError: C or the tolerance is not above 0, or the intercept is another.
        RuntimeError: A fit does not come within the tolerance.
    """
    checks.check_finite(C=C, tolerance=tolerance, above=0)
    checks.check_choice(INTERCEPTS, intercept=intercept)
    ones = np.ones((len(labels), 1))
    matrix = sparse.hstack([sparse.csr_array(features), ones], format="csr", dtype=np.float64)
    labels = np.asarray(labels, np.float64)
    penalty = np.ones(matrix.shape[1])
    penalty[-1] = intercept == "penalised"
    preconditioner = _Preconditioner(reference, penalty, C * shards.shape[1])
    parts = []
    size = max(1, _ROWS // shards.shape[1])
    for start in range(0, len(shards), size):
        part = shards[start : start + size]
        parts.append(_fit(matrix, labels, part, preconditioner, penalty, C, tolerance))
    theta, distance = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return LogisticTeachers(theta[:, :-1].copy(), theta[:, -1].copy(), distance)


def predict(teachers, features):
    """Return the votes of all teachers on records: 1 if w . x + b > 0.

    The sums are in single precision, and again in double precision where the sign could be wrong.

    Args:
        teachers: LogisticTeachers.
        features: (Q, d).

    Returns:
        uint8 (n_shards, Q).
    """
    features = np.asarray(features, np.float64)
    coefficients, intercepts = teachers.coefficients, teachers.intercepts
    with np.errstate(over="ignore", invalid="ignore"):
        single = coefficients.astype(np.float32) @ features.astype(np.float32).T
        single += intercepts.astype(np.float32)[:, None]
    votes = single > 0
    # Each of the d + 4 roundings on the way errs by 2^-24 of the sum of |w| |x| and |b| at most
    # (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); here twice that.
    size = np.abs(coefficients).sum(axis=1) * np.abs(features).max() + np.abs(intercepts)
    bound = 2.0**-23 * (features.shape[1] + 4) * size
    bound[size > np.finfo(np.float32).max / 2] = np.inf
    clear = np.abs(single, out=single) > bound.astype(np.float32)[:, None]
    clear[np.isinf(intercepts)] = True
    for number in np.flatnonzero(~clear.all(axis=1)):
        unclear = np.flatnonzero(~clear[number])
        votes[number, unclear] = features[unclear] @ coefficients[number] + intercepts[number] > 0
    return votes.view(np.uint8)


class _Preconditioner:
    """The inverse of diag(penalty) + weight * (mean of x x^T over the reference)."""

    def __init__(self, reference, penalty, records):
        reference = np.asarray(reference, np.float64)
        extended = np.hstack([reference, np.ones((len(reference), 1))])
        hessian = extended.T @ extended * (_TYPICAL_WEIGHT * records / len(extended))
        hessian += np.diag(penalty)
        self.inverse = cho_solve(cho_factor(hessian), np.eye(len(penalty)))

    def __call__(self, residual):
        return residual @ self.inverse


class _Block:
    """The shards of some fits as one block-diagonal sparse matrix; arrays (fits, d + 1)."""

    def __init__(self, matrix, labels, shards, penalty, C):
        self.fits, self.records = shards.shape
        self.width, self.penalty, self.C = matrix.shape[1], penalty, C
        rows = matrix[shards.ravel()]
        fit = np.repeat(np.arange(self.fits), self.records)
        offsets = np.repeat(fit * self.width, np.diff(rows.indptr))
        shape = (len(fit), self.fits * self.width)
        self.rows = sparse.csr_array((rows.data, rows.indices + offsets, rows.indptr), shape=shape)
        self.columns = self.rows.T
        self.labels = labels[shards]
        squares = np.add.reduceat(rows.data**2, rows.indptr[:-1]).reshape(shards.shape) - 1
        self.radius = np.sqrt(squares.max(axis=1).clip(0))

    def margins(self, theta):
        return (self.rows @ theta.ravel()).reshape(self.fits, self.records)

    def apply_transpose(self, values):
        return (self.columns @ values.ravel()).reshape(self.fits, self.width)

    def objective(self, theta, margins):
        losses = np.logaddexp(0, margins) - self.labels * margins
        return (self.penalty * theta**2).sum(axis=1) / 2 + self.C * losses.sum(axis=1)

    def gradient(self, theta, share):
        return self.apply_transpose(self.C * (share - self.labels)) + self.penalty * theta

    def hessian_product(self, weights, vector):
        return self.apply_transpose(weights * self.margins(vector)) + self.penalty * vector


def _sigmoid(x):
    return 0.5 * np.tanh(0.5 * x) + 0.5


def _fit(matrix, labels, shards, preconditioner, penalty, C, tolerance):
    """Fit some shards; return theta, (fits, d + 1), and the bound on its distance, (fits,)."""
    share = labels[shards].mean(axis=1)
    theta = np.zeros((len(shards), matrix.shape[1]))
    distance = np.zeros(len(shards))
    constant = (share == 0) | (share == 1)
    theta[constant, -1] = np.where(share[constant] == 1, np.inf, -np.inf)
    open_ = np.flatnonzero(~constant)
    theta[open_, -1] = np.log(share[open_]) - np.log1p(-share[open_])
    if not len(open_):
        return theta, distance
    block = _Block(matrix, labels, shards[open_], penalty, C)
    steps = 0
    while True:
        part = theta[open_]
        margins = block.margins(part)
        probability = _sigmoid(margins)
        gradient = block.gradient(part, probability)
        bound = _bound_distance(block, margins, gradient)
        done = bound <= tolerance
        if done.any():
            distance[open_[done]] = bound[done]
            open_ = open_[~done]
            if not len(open_):
                return theta, distance
            # The other fits are a new, smaller block: no fit is moved after it has converged.
            block = _Block(matrix, labels, shards[open_], penalty, C)
            part, margins = part[~done], margins[~done]
            probability, gradient = probability[~done], gradient[~done]
        if steps == _NEWTON_STEPS:
            raise RuntimeError(
                f"logistic regression: {len(open_)} of {len(shards)} fits are up to "
                f"{bound.max():.1e} from their optimum after {steps} Newton steps: must be within "
                f"tolerance = {tolerance}; scale the features"
            )
        weights = C * probability * (1 - probability)
        step = _solve(block, weights, -gradient, preconditioner)
        theta[open_] = _line_search(block, part, margins, gradient, step)
        steps += 1


def _solve(block, weights, target, preconditioner):
    """Return approximate Newton steps by preconditioned conjugate gradients, each for itself."""
    solution = np.zeros_like(target)
    residual = target.copy()
    image = preconditioner(residual)
    direction = image.copy()
    product = (residual * image).sum(axis=1)
    # The forcing term is squared, because the residual is: the further the iteration has come, the
    # more exactly the step is solved for, which keeps Newton's method superlinear (Nocedal and
    # Wright, section 7.1).
    goal = product * np.minimum(0.1, np.sqrt(product)) ** 2
    for _ in range(4 * block.width):
        running = product > goal
        if not running.any():
            break
        mapped = block.hessian_product(weights, direction)
        curvature = (direction * mapped).sum(axis=1)
        length = np.where(running, product / np.where(running, curvature, 1), 0)[:, None]
        solution += length * direction
        residual -= length * mapped
        image = preconditioner(residual)
        fresh = (residual * image).sum(axis=1)
        ratio = np.where(running, fresh / np.where(running, product, 1), 0)[:, None]
        direction = image + ratio * direction
        product = np.where(running, fresh, product)
    return solution


def _line_search(block, theta, margins, gradient, step):
    """Take each fit's step, halved until its objective decreases as much as it should."""
    before = block.objective(theta, margins)
    slope = (gradient * step).sum(axis=1)
    margin_step = block.margins(step)
    length = np.ones(block.fits)
    for _ in range(_HALVINGS):
        candidate = theta + length[:, None] * step
        after = block.objective(candidate, margins + length[:, None] * margin_step)
        # Close to the optimum, rounding is larger than any decrease.
        failed = after > before + _DECREASE * length * slope + 1e-13 * before
        if not failed.any():
            break
        length[failed] /= 2
    return candidate


def _bound_distance(block, margins, gradient):
    """Return a bound on the distance of (w, b) from the minimiser (w*, b*), (fits,).

    If the intercept is penalised, too, f grows by |theta - theta*|^2 / 2 at least, so that the norm
    of the gradient is a bound. Otherwise f is strongly convex in w alone: with g the gradient,

        |w - w*|^2 <= g_w . (w - w*) + g_b (b - b*).                                    (1)

    Let t > 0 be such that the sum of probability - label, which grows with b, is <= 0 at b - t and
    >= 0 at b + t; then the best intercept for w is within t of b. The best intercept for w* differs
    from that by at most R |w - w*|, R the largest norm of a record, because no margin changes by
    more. So |b - b*| <= t + R |w - w*|, and (1) gives, with a = |g_w| + R |g_b|,

        |w - w*| <= (a + sqrt(a^2 + 4 t |g_b|)) / 2.

    t is found by trying 2 |g_b| / (sum of weights) and doubling; the signs are what counts.
    Rounding of the gradient, about 1e-14 times the number of records, is not in the bound.
    """
    if block.penalty.all():
        return np.linalg.norm(gradient, axis=1)
    norm = np.linalg.norm(gradient[:, :-1], axis=1)
    slack = np.abs(gradient[:, -1])
    probability = _sigmoid(margins)
    curvature = block.C * (probability * (1 - probability)).sum(axis=1)
    shift = np.full(block.fits, np.inf)
    trial = 2 * slack / np.maximum(curvature, 1e-300) + 1e-12
    for _ in range(6):
        low = (_sigmoid(margins - trial[:, None]) - block.labels).sum(axis=1) <= 0
        high = (_sigmoid(margins + trial[:, None]) - block.labels).sum(axis=1) >= 0
        shift = np.where(low & high, np.minimum(shift, trial), shift)
        trial = np.where(low & high, trial, 4 * trial)
        if (low & high).all():
            break
    a = norm + block.radius * slack
    distance = (a + np.sqrt(a**2 + 4 * np.where(slack > 0, slack * shift, 0))) / 2
    return np.maximum(distance, shift + block.radius * distance)
