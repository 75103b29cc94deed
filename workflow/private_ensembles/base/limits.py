"""Which budgets and sizes are taken: one range for the command, Python and the configuration.

Beyond it, floating-point numbers no longer carry the bounds, or the work does not end.
"""

from private_ensembles.base import checks

# A label at a larger epsilon is not private in any sense; a smaller one is noise.
LEAST_EPSILON = 1e-6
MOST_EPSILON = 100
# A delta below this underflows once it is divided among labels, or squared.
LEAST_DELTA = 1e-100
# Tables grow with both; more are hardly ever meant. No count of so many votes stops any sampler.
MOST_TEACHERS, MOST_CLASSES = 1_000_000, 100_000


def check_budget(epsilon: float, delta: float) -> None:
    """Raise ValueError, naming the value and the range, unless a budget of labels is within them.

    epsilon: of all labels together, LEAST_EPSILON to MOST_EPSILON. delta: LEAST_DELTA to 1, which
    is excluded.

    >>> check_budget(2, 1e-5)
    >>> check_budget(1e9, 1e-5)
    Traceback (most recent call last):
    ValueError: epsilon = 1000000000.0: must be in [1e-06, 100]
    """
    checks.check_range(LEAST_EPSILON, MOST_EPSILON, epsilon=epsilon)
    checks.check_range(LEAST_DELTA, 1, delta=delta, high_allowed=False)


def is_budget(epsilon: float, delta: float) -> bool:
    """Return whether `check_budget` takes them: for a budget that nobody asked for.

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

    Both are public: what refuses an ensemble by them says nothing of its votes.
    """
    for name, value, most in (
        ("n_classes", n_classes, MOST_CLASSES),
        ("n_teachers", n_teachers, MOST_TEACHERS),
    ):
        if value > most:
            raise ValueError(f"{name} = {value}: must be at most {most:,}")
