"""What PATE's printed numbers imply about each other, from the transcribed tables alone.

Needs no votes, so these comparisons are in earnest: ``pate.yaml`` puts them beside the printed
digits.
"""

import math
from collections.abc import Iterator

import pandas as pd
from scipy.special import log_ndtr

from private_ensembles.papers.compare.declarations import load_paper
from private_ensembles.papers.dpbag.mathematics.conjecture import wrong_probability
from private_ensembles.papers.pate.mathematics.sanitize import tune_sigma
from private_ensembles.papers.pate.mathematics.small_print import (
    corollary11,
    count_unanswered,
    data_independent_candidates,
    exchanged_numbers,
    round_one_threshold_epsilon,
    unanimous_condition,
)
from private_ensembles.papers.pate.mathematics.table2 import PrintedRow, Sanitisation, recompute_row

_GNSS = ("order", "beta", "smooth_sensitivity", "sigma_ss")
GLYPH_IMAGES = 65_000_000
_FORMULAS = ("exact", "printed_formula")
_AS_THE_CODE = "Rényi, classic: with thresholds, 10,422 answers"


def printed_rows(published: pd.DataFrame) -> dict[tuple[str, str], PrintedRow]:
    """Return Table 2 as transcribed, by task and aggregator.

    Args:
        published: the printed numbers, as `read_published` returns them.
    """
    table = published[(published["paper"] == "pate") & (published["item"] == "table2")]
    rows = {}
    for (task, aggregator), cells in table.groupby(["dataset", "row"], sort=False):
        value = dict(zip(cells["column"], cells["published"].astype(float), strict=True))
        rounds = [""] if "beta" in value else ["_1", "_2"]
        parts = tuple(
            Sanitisation(*(value.get(f"{name}{suffix}", value.get(name)) for name in _GNSS))
            for suffix in rounds
        )
        rows[task, aggregator] = PrintedRow(value["epsilon"], _delta(task), parts)
    return rows


def _delta(task: str) -> float:
    return load_paper("pate").parameters[task]["delta"]


def recompute_printed_numbers(published: pd.DataFrame) -> pd.DataFrame:
    """Recompute printed numbers from printed numbers.

    These are Table 2's, the two examples of strong composition (section 4.1), the conversion of
    appendix B.6, and what the text claims in words (`claims`).

    Args:
        published: the printed numbers, as `read_published` returns them.

    Returns:
        A frame with item, task, row, column, value (what the paper's own formula gives), exact
        (what holds in its place, if that differs) and how.
    """
    rows = []

    def add(item, task, row, column, value, how, exact=math.nan):
        where = {"item": item, "task": task, "row": row, "column": column}
        rows.append(where | {"value": value, "exact": exact, "how": how})

    for (task, aggregator), printed in printed_rows(published).items():
        where = "table2", task, aggregator
        quantities = recompute_row(printed)
        for suffix, part in zip(
            ("_1", "_2") if len(printed.gnss) > 1 else ("",), printed.gnss, strict=True
        ):
            how = "the next of 0.30, 0.31, ..., 0.49 over the order, as the public code searches"
            add(*where, f"beta{suffix}", part.searched_beta, how)
            sigma = tune_sigma(part.order, part.beta, part.smooth_sensitivity, formula="paper")
            add(*where, f"sigma_ss{suffix}", sigma, "least cost plus two sd at the printed SS")
        fixed = quantities["sanitized_fixed_part"], quantities["sanitized_fixed_part_exact"]
        how = "printed epsilon + Theorem 23; exact: + the exact cost"
        add(*where, "sanitized_epsilon", fixed[0], how, fixed[1])
        add(*where, "sanitized_sd", quantities["sanitized_sd"], "printed SS times sigma_ss")
        if (task, aggregator) == ("mnist", "confident"):
            where = "appendixB.6", "mnist", "gnss"
            costs = quantities["gnss_cost_printed_formula"], quantities["gnss_cost_exact"]
            add(*where, "rdp", costs[0], "Theorem 23; exact: the exact cost", costs[1])
            add(*where, "sanitized_epsilon", fixed[0], how, fixed[1])
            add(*where, "sanitized_sd", quantities["sanitized_sd"], "printed SS times sigma_ss")
    _add_appendix(add, published)
    rows += [claim | {"exact": math.nan} for claim in claims(published, printed_rows(published))]
    return pd.DataFrame(rows)


def _add_appendix(add, published: pd.DataFrame) -> None:
    """Add the text's own conversion and its number of training images."""
    text = published[(published["paper"] == "pate") & (published["item"] == "appendixB.6")]
    rdp = float(text.loc[text["column"] == "rdp", "published"].iloc[0])
    by_theorem = rdp - math.log(_delta("mnist")) / 13
    add("appendixB.6", "mnist", "confident", "epsilon", by_theorem, "printed rdp, Theorem 5")
    images = int(60000 / 250)  # as `partition_dataset` of the authors' code has it
    add("appendixB.6", "mnist", "teachers", "training_images", images, "60,000 by 250")
    confident, rounds = data_independent_candidates()[_AS_THE_CODE]
    where, how = ("section4.1", "glyph"), "Theorem 5, 10,762 and 10,422 answers: small_print.csv"
    add(*where, "confident", "epsilon_strong_composition", confident, how)
    add(*where, "interactive", "epsilon_strong_composition", rounds, how)


def claims(published: pd.DataFrame, rows: dict[tuple[str, str], PrintedRow]) -> Iterator[dict]:
    """Yield what the text claims in words: item, task, row, column, value and how.

    A column that ends in ``_below`` is a claim that the value is less.

    Args:
        published: the printed numbers, as `read_published` returns them.
        rows: Table 2 by task and aggregator.

    Yields:
        Rows as `recompute_printed_numbers` has them; value is what is compared with the claim.
    """
    pate = published[published["paper"] == "pate"]
    digits = pate.set_index(["item", "dataset", "row", "column"])["published"].astype(float)

    def claim(key, value, how):
        names = dict(zip(("item", "task", "row", "column"), key, strict=True))
        return names | {"value": value, "how": how}

    for (task, aggregator), row in rows.items():
        quantities = recompute_row(row)
        shares = [100 * quantities[f"gnss_cost_{which}"] / row.epsilon for which in _FORMULAS]
        key = "section3.5", task, aggregator, "sanitising_share_below"
        how = f"the exact cost over epsilon; Theorem 23 as printed: {shares[1]:.3g} %"
        yield claim(key, shares[0], how)
    # There are two classes at a gap of 4 sigma; two noises differ with the variance 2 sigma^2.
    for noise, log_q in (
        ("gnmax", log_ndtr(-4 / math.sqrt(2))),
        ("lnmax", math.log(wrong_probability([4.0], 1.0))),
    ):
        key = "section5.2", "glyph", noise, "log_q_at_4_sigma"
        yield claim(key, float(log_q), "the label's own distribution, two classes")
    for row, label in (("confident", "second label"), ("confident, first label", "first label")):
        confident, lnmax = (
            digits["figure1", "glyph", f"{aggregator}, {label}", "epsilon"]
            for aggregator in ("confident", "lnmax")
        )
        how = f"Figure 1's {label}: {confident:g} over {lnmax:g}, at one number of answers"
        yield claim(("figure1", "glyph", row, "share_below"), 100 * confident / lnmax, how)
    # The cost of n labels grows ever more slowly with n, from no less than 0. So fewer labels than
    # Table 1's cost at least their share of its epsilon.
    answered, cost = (
        digits["section5.3", "glyph", "round one", name] for name in ("answered", "epsilon")
    )
    least = digits["table1", "glyph", "lnmax-4000", "epsilon"] * answered / 4000
    how = f"at most: {cost:g} over LNMax's {least:.3g} or more for {answered:g} answers"
    yield claim(("figure1", "glyph", "round one", "share_below"), 100 * cost / least, how)
    round_one = digits["section5.3", "glyph", "round one", "epsilon"]
    both_rounds = digits["section5.3", "glyph", "interactive", "epsilon"]
    how = f"both rounds together; twice round one's epsilon is {2 * round_one:g}"
    yield claim(("section5.3", "glyph", "two rounds", "epsilon_below"), both_rounds, how)
    best, baseline = (
        digits["table1", "glyph", row, column]
        for row, column in (("confident", "student_accuracy"), ("baseline", "baseline_accuracy"))
    )
    key = "section5.3", "glyph", "confident", "points_below_baseline"
    yield claim(key, baseline - best, "Table 1: the baseline less the best student")
    for teachers in (100, 5000):
        key = "section5.2", "glyph", f"{teachers} teachers", "inputs_thousands"
        yield claim(key, GLYPH_IMAGES / teachers / 1000, "65 million inputs by teachers")


def small_print() -> pd.DataFrame:
    """Return claims made in passing, worked out: claim, case, quantity, value.

    PATE's section 4.1 (strong composition, everything that was tried), section 5.3 (unanswered
    queries, round one), Corollary 11, and DaRRM's remark on Algorithm 6 that the condition of the
    data-dependent bound is never met at K = 11 and two classes.
    """
    rows = []

    def add(claim, case, **quantities):
        for quantity, value in quantities.items():
            case_of = {"claim": claim, "case": case, "quantity": quantity}
            rows.append(case_of | {"value": float(value)})

    for name, (confident, rounds) in data_independent_candidates().items():
        add("PATE section 4.1: 8.42 and 10.14", name, confident=confident, two_rounds=rounds)
    exchanged = exchanged_numbers()
    add(
        "PATE section 4.1: 8.42 and 10.14",
        "Rényi, classic: the answers of the public code, and the rounds' noise exchanged",
        confident=exchanged["interactive"],
        two_rounds=exchanged["confident"],
    )
    add("PATE section 5.3: roughly 1,300 unanswered", "Table 1", unanswered=count_unanswered())
    cost = round_one_threshold_epsilon()
    add("PATE section 5.3: 0.59 for round one", "thresholds alone", epsilon=cost, share=cost / 0.59)
    for gap, rivals in ((120, 1), (200, 1), (160, 149)):
        corollary = corollary11(gap, 40, rivals=rivals)
        case = f"sigma 40, gap {gap}, {rivals} in second place"
        add(
            "PATE Corollary 11",
            case,
            **{name: getattr(corollary, name) for name in ("claimed", "exact", "theorem6")},
            independent=corollary.independent,
        )
    for sigma, order in ((21.46, 34.31), (22.46, 35.74), (4.0, 3.0)):
        condition = unanimous_condition(11, sigma, order)
        conditions = {"q_small": condition.q_small, "order_covered": condition.order_covered}
        add(
            "DaRRM Algorithm 6: never met at K = 11",
            f"sigma {sigma:g}, order {order:g}, 11 to 0",
            **conditions,
            improves=condition.improves,
        )
    return pd.DataFrame(rows)
