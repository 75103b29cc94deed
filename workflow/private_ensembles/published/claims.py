"""Claims that PATE makes in words, worked out from printed numbers or formulas of its own."""

import math
from collections.abc import Iterator

import pandas as pd
from scipy.special import log_ndtr

from private_ensembles.dpbag.conjecture import wrong_probability
from private_ensembles.pate.table2 import PrintedRow, printed_arithmetic

GLYPH_IMAGES = 65_000_000
_FORMULAS = ("exact", "printed_formula")


def claims(published: pd.DataFrame, rows: dict[tuple[str, str], PrintedRow]) -> Iterator[dict]:
    """Yield item, task, row, column, value and how, as `arithmetic.arithmetic` has them.

    published: `read_published`. rows: Table 2 by task and aggregator. value: what is compared with
    the claim. A column that ends in ``_below`` is a claim that it is less.
    """
    pate = published[published["paper"] == "pate"]
    digits = pate.set_index(["item", "dataset", "row", "column"])["published"].astype(float)

    def claim(place, value, how):
        names = dict(zip(("item", "task", "row", "column"), place, strict=True))
        return names | {"value": value, "how": how}

    for (task, aggregator), row in rows.items():
        quantities = printed_arithmetic(row)
        shares = [100 * quantities[f"gnss_cost_{which}"] / row.epsilon for which in _FORMULAS]
        place = "section3.5", task, aggregator, "sanitising_share_below"
        how = f"the exact cost over epsilon; Theorem 23 as printed: {shares[1]:.3g} %"
        yield claim(place, shares[0], how)
    # Two classes at a gap of 4 sigma; the difference of two noises has the variance 2 sigma^2.
    for noise, log_q in (
        ("gnmax", log_ndtr(-4 / math.sqrt(2))),
        ("lnmax", math.log(wrong_probability([4.0], 1.0))),
    ):
        place = "section5.2", "glyph", noise, "log_q_at_4_sigma"
        yield claim(place, float(log_q), "the label's own distribution, two classes")
    for row, label in (("confident", "second label"), ("confident, first label", "first label")):
        confident, lnmax = (
            digits["figure1", "glyph", f"{aggregator}, {label}", "epsilon"]
            for aggregator in ("confident", "lnmax")
        )
        how = f"Figure 1's {label}: {confident:g} over {lnmax:g}, at one number of answers"
        yield claim(("figure1", "glyph", row, "share_below"), 100 * confident / lnmax, how)
    # What n labels cost grows ever more slowly with n, from no less than 0: fewer than Table 1's
    # cost at least their share of its epsilon.
    answered, cost = (
        digits["section5.3", "glyph", "round one", name] for name in ("answered", "epsilon")
    )
    least = digits["table1", "glyph", "lnmax-4000", "epsilon"] * answered / 4000
    how = f"at most: {cost:g} over LNMax's {least:.3g} or more for {answered:g} answers"
    yield claim(("figure1", "glyph", "round one", "share_below"), 100 * cost / least, how)
    round_one = digits["section5.3", "glyph", "round one", "epsilon"]
    two = digits["section5.3", "glyph", "interactive", "epsilon"]
    how = f"twice round one's epsilon; both rounds together: {two:g}"
    yield claim(("section5.3", "glyph", "two rounds", "epsilon_below"), 2 * round_one, how)
    best, baseline = (
        digits["table1", "glyph", row, column]
        for row, column in (("confident", "student_accuracy"), ("baseline", "baseline_accuracy"))
    )
    place = "section5.3", "glyph", "confident", "points_below_baseline"
    yield claim(place, baseline - best, "Table 1: the baseline less the best student")
    for teachers in (100, 5000):
        place = "section5.2", "glyph", f"{teachers} teachers", "inputs_thousands"
        yield claim(place, GLYPH_IMAGES / teachers / 1000, "65 million inputs by teachers")
