"""The one search: what is returned was asked and held, and lies beside what fails."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from private_ensembles.base.root_search import (
    ascending_points,
    bisect,
    bisect_integers,
    doubling_points,
    find_first_failing,
    find_first_holding,
    find_largest,
    find_largest_within,
    halving_points,
    least_scale,
    round_to_grid,
)


@given(st.floats(1e-6, 1e6), st.booleans())
def test_bisection_ends_beside_the_boundary_on_the_side_that_holds(boundary, above):
    def holds(x):
        return x >= boundary if above else x <= boundary

    ends = (0.0, 2e6) if above else (2e6, 0.0)
    found = bisect(holds, *ends, relative=1e-9)
    assert holds(found)
    assert found == pytest.approx(boundary, rel=1.1e-9)


@given(st.integers(-50, 50), st.integers(1, 60), st.integers(0, 60))
def test_integers_next_to_each_other_differ(boundary, below, above):
    assert bisect_integers(lambda n: n >= boundary, boundary - below, boundary + above) == boundary
    assert bisect_integers(lambda n: n <= boundary, boundary + below, boundary - above) == boundary


@given(st.floats(1e-5, 1e5))
def test_the_largest_is_found_by_doubling_and_by_halves(boundary):
    found = find_largest(lambda x: x <= boundary, relative=1e-7)
    assert boundary * (1 - 1.1e-7) <= found <= boundary


@given(st.floats(1e-5, 1e5), st.sampled_from([0.5, 1.0, 2.0, 7.0]))
def test_costs_show_the_way_to_the_largest_within_a_budget(boundary, power):
    asked = []

    def cost(x):
        asked.append(x)
        return (x / boundary) ** power + 0.1 * x / boundary

    found = find_largest_within(cost, 1.1)
    assert cost(found) <= 1.1 < cost(found * (1 + 1.1e-7))
    assert found in asked
    assert len(asked) <= 45
    assert found == find_largest(lambda x: cost(x) <= 1.1, relative=1e-7)


@given(st.floats(0.01, 100.0))
def test_steps_and_costs_without_end_are_searched_as_well(boundary):
    for cost in (
        lambda x: math.ceil(8 * x / boundary),
        lambda x: math.inf if x > boundary else 8 * x / boundary,
        lambda x: 0.0 if x < boundary / 2 else 7.0 if x <= boundary else 9.0,
    ):
        found = find_largest_within(cost, 8.0)
        assert boundary * (1 - 1.1e-7) <= found <= boundary * (1 + 1e-12)


@pytest.mark.parametrize("share", [0.9, 1.1, 1.00001])
def test_a_guide_that_misleads_changes_no_result(share):
    def cost(x):
        return x**2

    assert find_largest_within(cost, 2.0, lambda x: share * x**2) == find_largest_within(cost, 2.0)


def test_what_holds_everywhere_or_nowhere_ends_the_search():
    assert math.isfinite(find_largest(lambda x: True, relative=1e-7))
    with pytest.raises(ValueError, match="the claim fails"):
        find_largest(lambda x: False, relative=1e-7)
    assert find_largest_within(lambda x: 0.0, 1.0) > 1e9
    for nowhere in (2.0, math.inf):
        with pytest.raises(ValueError, match="the claim fails"):
            find_largest_within(lambda x, cost=nowhere: cost, 1.0)
    assert find_first_holding(lambda x: False, doubling_points(1.0)) == math.inf
    assert find_first_failing(lambda x: True, halving_points(1.0)) == math.inf
    assert least_scale(lambda x: 1.0, 1.0, 1e-3) == math.inf


@given(st.floats(0.01, 100.0), st.floats(0.1, 10.0), st.floats(0.5, 3.0))
def test_secants_find_the_least_scale_in_few_questions(boundary, start, power):
    asked = []

    def height(scale):
        asked.append(scale)
        return power * math.log(boundary / scale)

    found = least_scale(height, boundary * start, 1e-3)
    assert boundary <= found <= boundary * (1 + 2.1e-3)
    assert found in asked
    assert len(asked) <= 20


@given(st.floats(0.1, 0.9), st.floats(1.01, 5))
def test_least_noise_is_found_where_noise_does_not_always_help(start, width):
    def holds(noise):  # holds, fails again, holds for good
        return start <= noise < start * 1.02 * width or noise >= 8

    grid = [0.05 * 200 ** (i / 399) for i in range(400)]
    found = find_first_holding(holds, grid, relative=1e-9)
    assert found == pytest.approx(start, rel=1e-8)
    assert holds(found)
    assert find_first_holding(lambda noise: True, grid) == 0.05


def test_last_bits_of_a_height_change_no_scale():
    """They depend on the processor, and secants would hand them on."""

    def height(seed, noise):
        draw = np.random.default_rng(seed)
        return lambda scale: math.log(3 / scale) * (1 + noise * draw.uniform(-1, 1))

    exact = least_scale(height(0, 0.0), 1.1, 5e-4)
    assert {least_scale(height(seed, 1e-15), 1.1, 5e-4) for seed in range(50)} == {exact}
    assert exact == round_to_grid(exact, 5e-4 * 2.0**-12)


@pytest.mark.parametrize("value", [1e-300, 0.7, 1.0, 3.0, -2.5, 1e300])
def test_the_grid_is_as_fine_as_it_says_and_rounds_to_the_nearest(value):
    rounded = round_to_grid(value, 1e-3)
    assert abs(rounded - value) <= 1e-3 / 2 * abs(value)
    assert round_to_grid(rounded, 1e-3) == rounded
    assert round_to_grid(0.0, 1e-3) == 0


def test_points_double_and_halve_to_an_end_and_ascend_from_a_start():
    assert list(doubling_points(3, 24)) == [3, 6, 12, 24]
    assert list(halving_points(1.0, 0.2)) == [1.0, 0.5, 0.25]
    assert find_first_failing(lambda x: x < 5, doubling_points(1.0)) == 8.0
    points = ascending_points(2.0, 0.5)
    assert [next(points) for _ in range(4)] == [2.0, 3.0, 4.0, 6.0]
    # Without `relative` the point itself is returned, else what lies beside the one before it.
    assert (
        find_first_holding(lambda x: x >= 3.5, ascending_points(2.0, 0.5), relative=math.inf) == 4.0
    )
    assert find_first_holding(lambda x: x >= 3.5, ascending_points(2.0, 0.5)) == pytest.approx(3.5)


def test_no_other_file_looks_for_a_bracket_or_bisects(root):
    """A number that is doubled or halved, or a middle of two, is a search, or one of these."""
    others = {
        "accounting/adaptive_composition/account.py": "where a grid lies",
        "base/gaussian_argmax.py": "how far a number may be off",
        "papers/dpbag/mathematics/label_loss.py": "an equation within a formula",
        "labels/laws/table.py": "how far a table reaches",
        "release/certificate.py": "panels of a quadrature",
    }
    search = re.compile(r"^ +\w+ (\*|//?)= 2$|middle = \((low|fails\w*) \+|brentq", re.M)
    package = root / "workflow" / "private_ensembles"
    names = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if search.search(path.read_text(encoding="utf-8"))
    }
    assert names - {"base/root_search.py", "verify/verify.py"} == set(others)
