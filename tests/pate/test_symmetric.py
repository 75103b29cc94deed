"""What a label costs in both directions, against exact divergences to and from every neighbour."""

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp, ndtr

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.pate.lnmax_accounting import lnmax_log_q, lnmax_rdp
from private_ensembles.pate.rdp import gnmax_log_q, gnmax_rdp
from private_ensembles.pate.symmetric import (
    gnmax_symmetric_rdp,
    lnmax_symmetric_rdp,
    nearby_log_q,
)

from .oracle import clear_labels_delta, lattice_label, neighbours, partitions

ORDERS = np.array([1.25, 2.0, 4.0, 9.0])


def gaussian_label(row, sigma):
    """Pr[GNMax releases each class]; two classes in closed form."""
    if len(row) == 2:
        lead = (row[0] - row[1]) / (np.sqrt(2) * sigma)
        return np.exp(log_ndtr([lead, -lead]))

    def density(z, i):
        others = [ndtr(z + (row[i] - n) / sigma) for j, n in enumerate(row) if j != i]
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * np.prod(others)

    return np.array([quad(density, -12, 12, (i,), epsabs=1e-14)[0] for i in range(len(row))])


def laplace_label(row, scale):
    """Pr[LNMax releases each class], integrated between the counts, where the density is smooth."""
    values = np.array(row) / scale
    places = range(len(row))
    edges = np.unique(np.r_[values.min() - 40, values, values.max() + 40])

    def cdf(z):
        return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)

    def density(t, i):
        return np.exp(-abs(t - values[i])) / 2 * np.prod(cdf(t - np.delete(values, i)))

    pieces = list(pairwise(edges))
    return np.array(
        [sum(quad(density, *piece, (i,), epsabs=1e-15)[0] for piece in pieces) for i in places]
    )


def divergence(p, q, order):
    return logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)


# Noise at which the data-dependent bound is used for many of the histograms.
CASES = [
    ("gnmax", 12, 2, 1.0),
    ("gnmax", 12, 2, 2.5),
    ("gnmax", 8, 3, 1.0),
    ("gnmax", 11, 3, 2.0),
    ("lnmax", 12, 2, 1.0),
    ("lnmax", 11, 2, 2.0),
    ("lnmax", 8, 3, 1.0),
    ("secure gnmax", 12, 2, 0.6),
    ("secure gnmax", 12, 2, 1.0),
    ("secure gnmax", 9, 3, 1.0),
]
LABEL = {"gnmax": gaussian_label, "lnmax": laplace_label, "secure gnmax": lattice_label}
COST = {
    "gnmax": (gnmax_rdp, gnmax_symmetric_rdp),
    "lnmax": (lnmax_rdp, lnmax_symmetric_rdp),
    "secure gnmax": tuple(partial(f, noise="secure") for f in (gnmax_rdp, gnmax_symmetric_rdp)),
}


@pytest.mark.parametrize(("mechanism", "teachers", "classes", "noise"), CASES)
def test_cost_is_at_least_the_divergence_to_and_from_every_neighbour(
    mechanism, teachers, classes, noise
):
    rows = partitions(teachers, classes)
    exact = {row: LABEL[mechanism](row, noise) for row in rows}
    forward, both = (cost(rows, noise, ORDERS) for cost in COST[mechanism])
    missed = 0
    for row, one_way, two_ways in zip(rows, forward, both, strict=True):
        for moved in neighbours(row):
            there = exact[tuple(sorted(moved, reverse=True))]
            # Classes stand where they stood, so that labels are compared with themselves.
            there = there[np.argsort(np.argsort(-np.array(moved), kind="stable"))]
            for order, least, bound in zip(ORDERS, one_way, two_ways, strict=True):
                to = divergence(exact[row], there, order)
                back = divergence(there, exact[row], order)
                assert max(to, back) <= bound + 1e-9
                assert to <= least + 1e-9
                missed += back > least + 1e-6
    assert missed  # the paper's cost does not bound the way back
    assert (both >= forward).all()
    assert (both < forward.max(axis=0) * (1 - 1e-6)).any()  # and it is not the constant


def test_300_clear_labels_are_charged_for_the_way_back():
    """DESIGN 5.15: K = 11, votes 9-2, sigma = 1, delta = 1e-5."""
    orders = np.arange(1.5, 20, 0.5)

    def epsilon(cost):
        return rdp_to_dp(orders, 300 * cost([[9, 2]], 1.0, orders)[0], 1e-5)[0]

    one_way, both = epsilon(gnmax_rdp), epsilon(gnmax_symmetric_rdp)
    assert one_way == pytest.approx(10.88, abs=0.005)
    assert clear_labels_delta(7, 5, one_way) <= 1e-5
    assert clear_labels_delta(5, 7, one_way) == pytest.approx(1.45e-3, abs=5e-6)
    assert max(clear_labels_delta(7, 5, both), clear_labels_delta(5, 7, both)) <= 1e-5


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("log_q", [gnmax_log_q, partial(gnmax_log_q, noise="secure"), lnmax_log_q])
def test_no_neighbour_has_a_larger_q(classes, log_q):
    for noise, teachers in product((0.7, 3.0), (5, 10)):
        rows = partitions(teachers, classes)
        found = nearby_log_q(rows, lambda votes, noise=noise: log_q(votes, noise))
        for row, bound in zip(rows, found, strict=True):
            most = log_q([*neighbours(row), row], noise).max()
            if row[0] - row[1] >= 2:
                assert bound == pytest.approx(most, rel=1e-12)
            else:
                assert bound == 0 >= most


def test_one_class_tells_nothing():
    assert gnmax_symmetric_rdp([[9], [9]], 2.0, [3.0]).max() < 1e-300
    assert lnmax_symmetric_rdp([[9]], 2.0, [3.0]).max() < 1e-300


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="sigma"):
        gnmax_symmetric_rdp([[3, 1]], 0.0, [2.0])
    with pytest.raises(ValueError, match="counts"):
        lnmax_symmetric_rdp([[3.5, 1]], 1.0, [2.0])
