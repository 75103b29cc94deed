"""One BLAS thread for small products, and as many as before after them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from private_ensembles.accounting.adaptive_composition.account import adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import (
    two_class_dominating_pairs,
)
from private_ensembles.base.threads import run_on_one_thread


def threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_threads_are_one_within_and_restored_after_an_error():
    seen = []

    @run_on_one_thread
    def product(fails):
        seen.extend(threads())
        if fails:
            raise ValueError("no product")
        return np.eye(2) @ np.eye(2)

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        product(False)
        assert threads() == before
        with pytest.raises(ValueError, match="no product"):
            product(True)
        assert threads() == before
    assert seen
    assert set(seen) == {1}


def test_an_account_leaves_threads_as_it_found_them():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        adaptive_epsilon(two_class_dominating_pairs([0.25, 0.75]), 3, 1e-3)
        assert threads() == before
