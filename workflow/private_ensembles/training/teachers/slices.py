"""How an ensemble is shared out among jobs.

A teacher's randomness depends on its own number alone, so that slices trained anywhere, in any
order, make the same ensemble. This module imports little, because the rules load it whenever they
are read.
"""

import re

from private_ensembles.base import checks


def slice_names(K, per_job):
    """Return the names of the slices of K teachers.

    Args:
        K: The number of teachers.
        per_job: The most teachers of a slice.

    Returns:
        Names such as ["1of2", "2of2"]; [] if one slice holds all.

    Raises:
        ValueError: Either is no whole number of at least 1.
    """
    checks.check_integer(K=K, per_job=per_job, at_least=1)
    count = -(-K // per_job)
    return [f"{number}of{count}" for number in range(1, count + 1)] if count > 1 else []


def slice_members(K, name=None):
    """Return the numbers of the teachers in a slice, a range within 0..K-1.

    Slices differ in size by one at most.

    Args:
        K: The number of teachers.
        name: The name of the slice; None: all teachers.

    Raises:
        ValueError: The name is no slice of K teachers.
    """
    if name is None:
        return range(K)
    match = re.fullmatch(r"([1-9]\d*)of([1-9]\d*)", name)
    number, count = map(int, match.groups()) if match else (1, 0)
    if not number <= count <= K:
        raise ValueError(f"slice = {name!r}: must be 1of2, 2of2 or the like, of at most K = {K}")
    return range((number - 1) * K // count, number * K // count)
