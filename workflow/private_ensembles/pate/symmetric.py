"""What one label costs in both directions; the paper bounds one.

PATE's data-dependent cost f bounds D_lambda(M(D) || M(D')) at the votes D for every neighbour D'.
Nothing in it bounds D_lambda(M(D') || M(D)), which (epsilon, delta) at D needs as well. f at D'
does. So a guarantee charges

    sym(D) = max of f(D1) over all D1 within one vote of D, D itself among them.

Its sensitivity is that of f one step further out (docs/gnss.md, which has the proofs; DESIGN 5.15).
Not for release: it depends on the votes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.pate.lnmax_accounting import lnmax_log_q, lnmax_rdp_of_log_q
from private_ensembles.pate.rdp import check_counts, gnmax_log_q, gnmax_rdp_of_log_q


def nearby_log_q(
    counts: ArrayLike, log_q: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """log of the largest q among the histograms within one vote of each, or more, (queries,).

    counts: (queries, classes). log_q: counts -> log of the union bound q, a sum of tails of the
    gaps to the largest count; the tails belong to the difference of two independent draws of one
    unimodal noise. Then no move raises q more than one from the largest count to the second. If
    these are less than two votes apart, the answer is 0, for q = 1: any class may have the largest
    count nearby. -inf for a single class. Raises ValueError like `check_counts`.
    """
    counts = check_counts(counts)
    if counts.shape[1] == 1:
        return np.full(len(counts), -np.inf)
    moved = -np.sort(-counts, axis=1)  # q does not ask which class is which
    moved[:, 0] -= 1
    moved[:, 1] += 1
    level = moved[:, 0] < moved[:, 1]
    return np.where(level, 0.0, log_q(np.where(level[:, None], counts, moved)))


def gnmax_symmetric_rdp(
    counts: ArrayLike, sigma: float, orders: ArrayLike, *, noise: str = "reproducible"
) -> NDArray[np.float64]:
    """Rényi cost of every query's GNMax label in both directions, (queries, orders).

    Not for release. `gnmax_rdp` at the worst histogram within one vote, as it grows with q.
    noise as in :mod:`.tails`. Raises ValueError like `gnmax_rdp`.

    >>> from private_ensembles.pate.rdp import gnmax_rdp
    >>> votes = [[9, 2]]
    >>> forward, both = gnmax_rdp(votes, 1.0, [2.0]), gnmax_symmetric_rdp(votes, 1.0, [2.0])
    >>> float(forward[0, 0].round(4)), float(both[0, 0].round(4))
    (0.0025, 0.1941)
    """
    log_q = nearby_log_q(counts, lambda votes: gnmax_log_q(votes, sigma, noise=noise))
    return gnmax_rdp_of_log_q(log_q, sigma, orders)


def lnmax_symmetric_rdp(
    counts: ArrayLike, scale: float, orders: ArrayLike, *, bounds: str = "tight"
) -> NDArray[np.float64]:
    """Rényi cost of every query's LNMax label in both directions, (queries, orders).

    Not for release. `lnmax_rdp` at the worst histogram within one vote. Raises ValueError like
    `lnmax_rdp`.
    """
    log_q = nearby_log_q(counts, lambda votes: lnmax_log_q(votes, scale))
    return lnmax_rdp_of_log_q(log_q, scale, orders, bounds=bounds)
