"""The budgets and sizes that are accepted: the same for command, Python and configuration.

Beyond these ranges, floating-point numbers no longer carry the bounds, or the work does not end.
"""

from private_ensembles.base import checks

# A label at a larger epsilon is not private in any sense; at a smaller one it is noise.
LEAST_EPSILON = 1e-6
MOST_EPSILON = 100
# A delta below this underflows once it is divided among labels, or squared.
LEAST_DELTA = 1e-100
# Tables grow with both, and more are hardly ever meant. Up to here, counts suit every sampler.
MOST_TEACHERS, MOST_CLASSES = 1_000_000, 100_000


def check_budget(epsilon: float, delta: float) -> None:
    """Raise ValueError, naming the value and the range, unless a budget of labels is in range.

    Args:
        epsilon: of all labels together, in [LEAST_EPSILON, MOST_EPSILON].
        delta: of all labels together, in [LEAST_DELTA, 1).

    >>> check_budget(2, 1e-5)
    >>> check_budget(1e9, 1e-5)
    Traceback (most recent call last):
    ValueError: epsilon = 1000000000.0: must be in [1e-06, 100]
    """
    checks.check_range(LEAST_EPSILON, MOST_EPSILON, epsilon=epsilon)
    checks.check_range(LEAST_DELTA, 1, delta=delta, high_allowed=False)


def is_budget(epsilon: float, delta: float) -> bool:
    """Return whether `check_budget` accepts a budget, for one that no user asked for.

    >>> is_budget(2, 1e-5), is_budget(120, 1e-5)
    (True, False)
    """
    try:
        check_budget(epsilon, delta)
    except ValueError:
        return False
    return True


def check_size(n_teachers: int, n_classes: int) -> None:
    """Raise ValueError for more than MOST_TEACHERS or MOST_CLASSES.

    Both numbers are public, so a refusal says nothing about the votes.
    """
    for name, value, most in (
        ("n_classes", n_classes, MOST_CLASSES),
        ("n_teachers", n_teachers, MOST_TEACHERS),
    ):
        if value > most:
            raise ValueError(f"{name} = {value}: must be at most {most:,}")
