"""Merged histograms are the same votes; integrals of products over their classes are exact."""

import re
from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from private_ensembles.labels.histograms import (
    check_counts,
    iterate_blocks,
    merge_histograms,
    split_into_chunks,
)
from private_ensembles.labels.laws.selection import validate_counts
from private_ensembles.labels.parameters import require_count_table
from private_ensembles.labels.product_integrals import (
    _count_nodes,
    gauss_legendre,
    leave_one_out_integrals,
)


def test_merging_is_undone():
    counts = np.array([[3, 1, 1], [1, 3, 1], [4, 1, 0], [2, 2, 1]])
    merged = merge_histograms(counts)
    assert len(merged.starts) == 3  # the first two rows are one histogram
    np.testing.assert_array_equal(
        merged.gap[merged.entry_pairs], counts.max(axis=1, keepdims=True) - counts
    )
    assert (np.add.reduceat(merged.multiplicity, merged.starts) == 3).all()


@pytest.mark.parametrize("n_classes", [1, 2, 7, 400])
def test_pairs_are_the_different_counts_of_each_different_histogram(n_classes):
    """Against sets and counters; asking for one class of each query finds its pair."""
    rng = np.random.default_rng(n_classes)
    counts = rng.multinomial(6, np.full(n_classes, 1 / n_classes), size=60)
    merged = merge_histograms(counts)
    wanted = sorted({tuple(sorted(max(row) - n for n in row)) for row in counts.tolist()})
    found = np.repeat(merged.gap, merged.multiplicity).reshape(-1, n_classes)
    assert [tuple(row) for row in found.tolist()] == wanted
    assert (np.diff(merged.gap)[np.diff(merged.row) == 0] > 0).all()
    assert (merged.gap[merged.entry_pairs] == counts.max(axis=1, keepdims=True) - counts).all()
    assert (merged.row[merged.entry_pairs] == merged.row[merged.entry_pairs[:, :1]]).all()
    labels = rng.integers(0, n_classes, 60)
    assert (merged.select_label_pairs(labels)[0] == merged.entry_pairs[np.arange(60), labels]).all()


def test_blocks_are_all_rows_in_order():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 500)
    first = np.cumsum(sizes) - sizes
    whole = list(iterate_blocks(first, int(sizes.sum()), 30))
    assert len(whole) > 1
    rows, pairs, starts = zip(*whole, strict=True)
    for parts, end in ((rows, len(first)), (pairs, sizes.sum())):
        assert parts[0].start == 0
        assert parts[-1].stop == end
        assert [part.stop for part in parts[:-1]] == [part.start for part in parts[1:]]
    found = [part.start + start for part, start in zip(pairs, starts, strict=True)]
    np.testing.assert_array_equal(np.concatenate(found), first)


def test_chunks_are_all_items_in_order():
    """Seven items of which about three fit into a chunk, and one that is larger than any."""
    items, sizes = np.arange(20, 28), np.array([*[700_000] * 6, 5_000_000, 1])
    chunks = split_into_chunks(items, sizes)
    assert len(chunks) > 3
    assert np.concatenate(chunks).tolist() == items.tolist()


def exact(factors):
    """The integral over [0, 1] of the product of 1 - q t, over all q, in fractions."""
    # In whole multiples of 1 / unit to the power of how many factors there are: Fraction would look
    # for a common divisor at each step.
    unit = max((q.denominator for q in factors), default=1)
    polynomial = [1]
    for q in factors:
        multiple = int(q * unit)
        longer = [unit * coefficient for coefficient in polynomial] + [0]
        for power, coefficient in enumerate(polynomial):
            longer[power + 1] -= multiple * coefficient
        polynomial = longer
    terms = (Fraction(coefficient, power + 1) for power, coefficient in enumerate(polynomial))
    return sum(terms) / unit ** len(factors)


# Few classes; so many that the product is nothing beyond t = 1 / 7, and one class that leads.
@pytest.mark.parametrize("row", [[3, 2, 2, 0], [1] * 300, [9] + [0] * 299, [5, 4] + [1] * 100])
def test_integrals_are_within_their_bound_of_fractions(row):
    merged = merge_histograms(np.array([row]))
    chances = np.exp(-0.1 * merged.gap)
    found = leave_one_out_integrals(merged, chances, np.ones(len(chances), dtype=bool))
    for j, value in enumerate(found):
        others = []
        for i, (q, times) in enumerate(zip(chances, merged.multiplicity, strict=True)):
            others += [Fraction(float(q))] * int(times - (i == j))
        wanted = exact(others)
        assert abs(Fraction(float(value)) - wanted) <= Fraction(1e-16) + Fraction(1e-12) * wanted


@pytest.mark.parametrize("width", [0.1, 1.0, 2.0, 7.5, 40.0, 41.0])
def test_nodes_are_the_fewest_whose_error_is_below_the_bound(width):
    """(T S)^(2n) (n!)^4 / ((2n + 1) (2n)!^3) in fractions; e^-40 is 4.2e-18."""

    def error(n):
        share = Fraction(factorial(n) ** 4, (2 * n + 1) * factorial(2 * n) ** 3)
        return max(Fraction(width), 1) ** (2 * n) * share

    enough = _count_nodes(width)
    assert error(enough) <= Fraction(43, 10**19)
    assert enough == 1 or error(enough - 1) > Fraction(42, 10**19)
    assert enough <= 32


def test_nodes_are_kept_and_cannot_be_written_to():
    nodes, weights = gauss_legendre(5)
    assert gauss_legendre(5)[0] is nodes
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 0.0


NO_TABLES = [np.zeros((0, 3), int), np.zeros((3, 0), int), np.ones(3, int), np.ones((1, 2, 2), int)]


@pytest.mark.parametrize("counts", NO_TABLES)
def test_what_is_no_table_of_counts_is_refused(counts):
    shape = re.escape(str(counts.shape))
    with pytest.raises(ValueError, match=rf"^counts: shape {shape} must be \(queries, classes\)$"):
        check_counts(counts)
    with pytest.raises(ValueError, match=rf"^counts: int64 {shape} must be integers"):
        validate_counts(counts, 1.0)
    with pytest.raises(ValueError, match=rf"^counts: int64 {shape}: must be integers"):
        require_count_table(counts)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.ones((2, 2)), r"^counts: type float64 must be whole numbers$"),
        ([[1, -1]], r"^counts: -1 must be at least 0$"),
        ([[0, 0]], r"^counts of query 0 add up to 0, those of query 0 to 0: must be the same"),
        ([[2, 1], [1, 2], [2, 2]], r"^counts of query 2 add up to 4, those of query 0 to 3: must"),
    ],
)
def test_counts_that_are_no_votes_of_the_same_teachers_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        check_counts(counts)
