"""The grid of Rényi orders."""

import pytest

from private_ensembles.papers.pate.orders import order_grid


def test_orders_begin_one_step_above_one_and_end_at_the_largest():
    assert order_grid({"order_max": 3, "order_step": 0.5}).tolist() == [1.5, 2, 2.5, 3]
    assert order_grid({"order_max": 3.2, "order_step": 0.5}).tolist() == [1.5, 2, 2.5, 3]
    grid = order_grid({"order_max": 1.7, "order_step": 0.1})
    assert (len(grid), grid[-1]) == (7, pytest.approx(1.7))
