"""Claims in words: worked out again here, and judged by the side that they name."""

import math

import mpmath
import numpy as np
import pandas as pd
import pytest

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.papers.compare.comparison import compare
from private_ensembles.papers.compare.printed import FOLDER, read_published
from private_ensembles.papers.darrm.mathematics.error import error_at
from private_ensembles.papers.pate.arithmetic import claims, printed_rows, recompute_printed_numbers
from tests.papers.pate.mathematics.printed_rows import ROWS

PRINTED = read_published(FOLDER.glob("pate_*.csv"))
CLAIMS = {
    (row["item"], row["task"], row["row"]): row["value"]
    for row in claims(PRINTED, printed_rows(PRINTED))
}


def statuses(printed):
    table = compare(
        printed, {"pate": {"printed_arithmetic": recompute_printed_numbers(printed)}}, data="paper"
    )
    return table.set_index(["item", "dataset", "row", "column"])


def exact_cost(order, beta, sigma):
    """docs/pate.md: the worst pair's Renyi divergence."""
    r = 1 - order + order * math.exp(-2 * beta)
    cost = order * math.exp(-2 * beta) / (2 * sigma**2 * r)
    return cost + (0.5 * math.log(r) + order * beta) / (1 - order)


def test_sanitising_costs_more_than_half_of_three_estimates():
    for task, row, epsilon, parts in (
        ("mnist", "confident", 2.00, [(14, 0.0329, 6.23)]),
        ("svhn", "confident", 4.96, [(7.5, 0.0533, 4.88)]),
        ("adult", "confident", 1.68, [(15.5, 0.0310, 7.92)]),
        ("glyph", "confident", 2.07, [(20.5, 0.0205, 11.9)]),
        ("glyph", "interactive", 0.837, [(50, 0.009, 26.4), (50, 0.008, 38.7)]),
    ):
        share = 100 * sum(exact_cost(*part) for part in parts) / epsilon
        assert CLAIMS["section3.5", task, row] == pytest.approx(share, rel=1e-9)
    # By the printed formula less than half, as the paper says.
    shares = {
        name: 100 * sum(part.cost("paper") for part in ROWS[name].gnss) / ROWS[name].epsilon
        for name in ("MNIST", "Adult", "Glyph, two rounds")
    }
    assert {name: round(share) for name, share in shares.items()} == {
        "MNIST": 26,
        "Adult": 24,
        "Glyph, two rounds": 20,
    }
    found = statuses(PRINTED).loc["section3.5"]
    assert found["status"].tolist() == ["explained", "match", "explained", "match", "explained"]


def test_a_gap_of_four_sigma_leaves_two_labels_in_a_thousand():
    half = mpmath.erfc(2) / 2
    assert CLAIMS["section5.2", "glyph", "gnmax"] == pytest.approx(float(mpmath.log(half)))
    assert float(half) == pytest.approx(0.0023, abs=5e-5)
    # LNMax, two classes, by quadrature over the first noise.
    below = mpmath.quad(
        lambda y: mpmath.exp(-abs(y)) / 2 * (1 - _laplace(y + 4)), [-mpmath.inf, -4, 0, mpmath.inf]
    )
    assert CLAIMS["section5.2", "glyph", "lnmax"] == pytest.approx(float(mpmath.log(below)))
    found = statuses(PRINTED).loc["section5.2", "glyph"].loc[["gnmax", "lnmax"]]
    assert found["status"].tolist() == ["explained", "match"]


def _laplace(y):
    return mpmath.exp(y) / 2 if y < 0 else 1 - mpmath.exp(-y) / 2


def test_epsilon_is_quartered_where_equal_numbers_of_answers_are_compared():
    """Figure 1's labels in pairs; section 5.3's 0.59 for 3,400 answers beside LNMax's 4.3."""
    assert CLAIMS["figure1", "glyph", "confident"] == pytest.approx(100 * 1.42 / 5.76)
    assert CLAIMS["figure1", "glyph", "confident, first label"] == pytest.approx(76 / 2.89)
    at_most = 100 * 0.59 / (4.3 * 3400 / 4000)
    assert CLAIMS["figure1", "glyph", "round one"] == pytest.approx(at_most)
    assert at_most < 17
    rows = statuses(PRINTED).loc["figure1", "glyph"].xs("share_below", level="column")
    assert rows["status"].to_dict() == {
        "confident": "match",
        "confident, first label": "differs",
        "round one": "match",
    }


def test_two_rounds_cost_less_than_twice_what_the_first_does():
    """Section 5.3: "less than 0.59 x 2 = 1.18" is a claim about 0.84, and not about 1.18."""
    place = "section5.3", "glyph", "two rounds"
    assert CLAIMS[place] == 0.84 < 1.18 == pytest.approx(2 * 0.59)
    assert statuses(PRINTED).loc[(*place, "epsilon_below"), "status"] == "match"
    moved = PRINTED.copy()
    both = (moved["item"] == "section5.3") & (moved["row"] == "interactive")
    moved.loc[both & (moved["column"] == "epsilon"), "published"] = "1.18"
    assert statuses(moved).loc[(*place, "epsilon_below"), "status"] == "differs"


def test_costs_of_labels_grow_ever_more_slowly_with_their_number():
    """So that n of N labels cost at least n / N of the total: a least of lines, from 0 on."""
    orders = np.arange(1.5, 100, 0.5)
    for rdp in (orders * 1e-3, np.minimum(orders * 1e-3, 0.02 + orders**2 * 1e-6)):
        labels = np.arange(0, 4001, 100)
        total, _ = zip(*(rdp_to_dp(orders, n * rdp, 1e-8, "classic") for n in labels), strict=True)
        steps = np.diff(total)
        assert total[0] >= 0
        assert (np.diff(steps) <= 1e-12).all()


@pytest.mark.parametrize(
    ("item", "digits", "wanted"),
    [
        ("section3.5", "12", {"differs", "explained"}),
        ("section3.5", "106", {"match"}),
        ("figure1", "16", {"differs"}),
    ],
)
def test_a_claim_of_one_side_fails_where_ours_is_on_the_other(item, digits, wanted):
    moved = PRINTED.copy()
    claimed = (moved["item"] == item) & moved["column"].str.endswith("_below")
    moved.loc[claimed, "published"] = digits
    found = statuses(moved).loc[item, "status"]
    assert set(found[[column.endswith("_below") for *_, column in found.index]]) == wanted


def test_at_one_half_no_gamma_errs():
    """Votes of 11 fair coins: as many ways to l as to 11 - l, so that the lead is 0 at every l."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        half = rng.random(6)
        gamma = np.concatenate([half, half[::-1]])
        assert error_at(gamma, 0.5) == 0
        assert error_at(gamma, 0.6) > 0
    printed = read_published([FOLDER / "darrm_appendixD.1.3.csv"])
    (row,) = compare(printed, {}, data="embedded").to_dict("records")
    assert (row["reproduced"], row["status"]) == (0, "explained")
    assert pd.isna(row["reproduced_sd"])
