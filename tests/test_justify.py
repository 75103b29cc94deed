"""docs/justify.md: its tables of odds, reach and right labels are worked out again."""

import math
import re

import pandas as pd
import pytest
from scipy.optimize import brentq

from private_ensembles import plan
from private_ensembles.accounting.gaussian import gaussian_delta
from private_ensembles.labels.task import Budget, Ensemble, Protection

pytestmark = pytest.mark.docs

DELTA = 1e-5


@pytest.fixture(scope="module")
def rows(root):
    """The page's tables: the first cell of a row -> the numbers in the others."""
    text = (root / "docs" / "justify.md").read_text(encoding="utf-8")

    def numbers(heading):
        table = text.partition(heading)[2].partition("\n\n")[0]
        lines = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        plain = [[re.sub(r"[ε=,% ]", "", cell) for cell in line] for line in lines]
        return {float(first): cells for first, *cells in plain}

    return numbers


def test_odds_are_upper_bounds_and_the_least_of_their_digits(rows):
    table = rows("| ε | odds move")
    assert list(table) == [0.1, 0.5, 1, 2, 4, 8, 10]
    for epsilon, cells in table.items():
        factor = math.exp(epsilon)
        test = 100 * min(0.01 * factor, 1 - 0.99 / factor)
        bounds = factor, 100 * factor / (1 + factor), 100 * factor / (99 + factor), test
        for bound, cell in zip(bounds, cells, strict=True):
            last_digit = 10.0 ** -len(cell.partition(".")[2])
            assert 0 <= float(cell) - bound < last_digit, (epsilon, cell)


def test_what_a_wider_reach_costs_is_what_more_votes_moved_cost(rows):
    table = rows("| planned for, with a reach of 1")
    assert list(table) == [1, 2, 4]
    for epsilon, cells in table.items():
        mu = brentq(lambda mu, at=epsilon: float(gaussian_delta(mu, at)) - DELTA, 1e-3, 10)
        for votes, cell in zip((2, 3, 5), map(float, cells), strict=True):
            assert (
                gaussian_delta(votes * mu, cell) <= DELTA < gaussian_delta(votes * mu, cell - 0.01)
            )


def test_right_labels_are_those_of_the_published_plans(rows, root):
    table = rows("| teachers | ε = 1")
    published = pd.read_csv(root / "docs" / "benchmarks" / "right_labels.csv")
    published = published[published["labels"] == 100]
    assert set(table) == set(published["teachers"])
    for teachers, right in published.groupby("teachers")["right"]:
        assert [str(round(labels)) for labels in right] == table[teachers]


@pytest.mark.parametrize("reach", [1, 2, 3])
def test_what_a_stated_reach_costs_in_right_labels_is_what_the_planner_expects(reach, root):
    text = " ".join((root / "docs" / "justify.md").read_text(encoding="utf-8").split())
    said = re.search(r"(\d+) are right with a reach of 1, (\d+) with 2 and (\d+) with 3", text)
    asked = Ensemble(250, 10), Budget(2, DELTA), 100, Protection.disjoint(reach=reach)
    best, *_ = plan(*asked, mechanisms=["gnmax_exact"])
    assert int(said[reach]) == round(best.correct)
