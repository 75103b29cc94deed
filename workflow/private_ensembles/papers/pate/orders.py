"""The Rényi orders over which PATE's costs are minimised, as its configuration gives them."""

from collections.abc import Mapping

import numpy as np


def order_grid(settings: Mapping[str, float]) -> np.ndarray:
    """Return the Rényi orders 1 + step, 1 + 2 step, ... up to order_max.

    Args:
        settings: order_step and order_max.
    """
    step = settings["order_step"]
    # A quotient that rounding left just below a whole number counts as that number.
    steps = int((settings["order_max"] - 1) / step + 1e-9)
    return 1 + step * np.arange(1, steps + 1)
