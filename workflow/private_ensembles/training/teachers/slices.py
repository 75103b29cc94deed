"""How an ensemble is shared out among jobs. Imports little: the rules ask whenever they are read.

A teacher's randomness depends on its own number alone, so that slices trained anywhere, in any
order, make the same ensemble.
"""

import re

from private_ensembles.base import checks


def slice_names(K, per_job):
    """Names of the slices of K teachers, at most per_job in each: ["1of2", "2of2"]; [] for one.

    Raises ValueError unless both are whole numbers of at least 1.
    """
    checks.check_integer(K=K, per_job=per_job, at_least=1)
    count = -(-K // per_job)
    return [f"{number}of{count}" for number in range(1, count + 1)] if count > 1 else []


def slice_members(K, name=None):
    """The numbers of the teachers (a range within 0..K-1) in the slice of that name; None: all.

    Slices differ in size by one at most. Raises ValueError for what is no slice of K teachers.
    """
    if name is None:
        return range(K)
    match = re.fullmatch(r"([1-9]\d*)of([1-9]\d*)", name)
    number, count = map(int, match.groups()) if match else (1, 0)
    if not number <= count <= K:
        raise ValueError(f"slice = {name!r}: must be 1of2, 2of2 or the like, of at most K = {K}")
    return range((number - 1) * K // count, number * K // count)
