"""The data behind PATE's Figures 1 and 5; drawing is in `papers.pate.figures`.

Costs and numbers of answers depend on the votes and are not for release.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.pate.mathematics.lnmax import lnmax_rdp
from private_ensembles.papers.pate.mathematics.rdp import (
    gnmax_rdp,
    log_answer_probability,
    threshold_rdp,
)
from private_ensembles.papers.pate.orders import order_grid


def students_figure(
    counts: np.ndarray,
    bought: Mapping[str, np.ndarray],
    histories: pd.DataFrame,
    settings: Mapping,
    points: int = 30,
    bins: int = 20,
) -> pd.DataFrame:
    """Return the data behind Figure 1 of PATE for one task.

    The rows are those of three panels:

    training    aggregator, student_seed, epoch, accuracy
    cost        aggregator, answered (expected), epsilon (as published) of the first queries asked
    consensus   aggregator, share_low, share_high (votes for the plurality), labels (bought)

    Args:
        counts: the pool's, (queries, classes) int.
        bought: the arrays of `experiment.release_labels`.
        histories: aggregator, student_seed, epoch, accuracy.
        settings: delta, confident, lnmax and orders. The LNMax aggregator with most queries is
            shown.
        points: points of a cost curve.
        bins: bins of the consensus.
    """
    largest = f"lnmax-{max(settings['lnmax']['queries'])}"
    shown = {largest: "lnmax", "confident": "confident"}
    training = histories[histories["aggregator"].isin(shown)].assign(panel="training")
    training["aggregator"] = training["aggregator"].map(shown)
    check = {name: settings["confident"][name] for name in ("threshold", "sigma1")}
    orders = order_grid(settings["orders"])
    sigma2, scale = settings["confident"]["sigma2"], settings["lnmax"]["scale"]
    parts = []
    for name, aggregator in shown.items():
        asked_counts = counts[bought[f"{name}_queries"]]
        checks = {"confident": check} if aggregator == "confident" else {}
        cost = answering_cost(
            asked_counts, checks, sigma2, scale, settings["delta"], orders, points
        )
        cost = cost[cost["mechanism"] == aggregator].rename(columns={"mechanism": "aggregator"})
        parts.append(cost.drop(columns="epsilon_selection"))
        is_answered = bought[f"{name}_labels"] >= 0
        shares = asked_counts.max(axis=1)[is_answered] / asked_counts[0].sum()
        edges = np.linspace(0, 1, bins + 1)
        consensus = {"panel": "consensus", "aggregator": aggregator, "share_low": edges[:-1]}
        consensus["share_high"] = edges[1:]
        consensus["labels"] = np.histogram(shares, edges)[0]
        parts.append(pd.DataFrame(consensus))
    data = pd.concat([training, *parts], ignore_index=True)
    return data.assign(release=NOT_FOR_RELEASE)


def threshold_histogram(
    counts: np.ndarray, checks: Mapping[str, Mapping[str, float]], sigma2: float, order: float
) -> pd.DataFrame:
    """Return how many queries each noisy threshold lets pass, by plurality: PATE's Figure 5, left.

    Args:
        counts: (queries, classes) int.
        checks: threshold and sigma1, by name.
        sigma2: noise of the labels, in votes.
        order: the Rényi order at which a label's mean cost is given.

    Returns:
        A frame with bin_low, bin_high (votes), mechanism, answered (expected number), label_rdp
        (mean of the bin's GNMax cost) and release. `lnmax` answers every query.
    """
    plurality, teachers = counts.max(axis=1), int(counts[0].sum())
    edges = np.linspace(0, teachers, 26)
    bin_index = np.clip(np.digitize(plurality, edges) - 1, 0, len(edges) - 2)
    cost = gnmax_rdp(counts, sigma2, [order])[:, 0]
    costs_by_bin = [cost[bin_index == i] for i in range(len(edges) - 1)]
    means = [costs.mean() if costs.size else np.nan for costs in costs_by_bin]
    passing = {"lnmax": np.ones(len(counts))}
    for name, check in checks.items():
        passing[name] = np.exp(log_answer_probability(counts, **check)[0])
    parts = []
    for name, probability in passing.items():
        bins = {"panel": "histogram", "mechanism": name, "bin_low": edges[:-1]}
        bins["bin_high"] = edges[1:]
        bins["answered"] = np.bincount(bin_index, weights=probability, minlength=len(means))
        bins["label_rdp"] = means
        parts.append(pd.DataFrame(bins))
    data = pd.concat(parts, ignore_index=True)
    return data.assign(order=order, release=NOT_FOR_RELEASE)


def answering_cost(
    counts: np.ndarray,
    checks: Mapping[str, Mapping[str, float]],
    sigma2: float,
    scale: float,
    delta: float,
    orders: np.ndarray,
    points: int,
) -> pd.DataFrame:
    """Return the cost of answering a number of queries: PATE's Figure 5, right.

    All of them are answered, or only confident ones. Queries are taken in their order; a
    threshold's answers are expected numbers.

    Args:
        counts: (queries, classes) int.
        checks: threshold and sigma1, by name.
        sigma2: noise of the labels, in votes.
        scale: LNMax's noise, in votes.
        delta: in (0, 1).
        orders: Rényi orders, (orders,).
        points: points of a curve.

    Returns:
        A frame with mechanism (`lnmax`, and the checks), asked, answered, epsilon (as published:
        data-dependent, classic conversion), epsilon_selection (the thresholds alone, NaN for lnmax)
        and release.
    """
    gnmax_costs, lnmax_costs = gnmax_rdp(counts, sigma2, orders), lnmax_rdp(counts, scale, orders)
    costs = {"lnmax": (np.ones(len(counts)), np.zeros_like(orders), lnmax_costs)}
    for name, check in checks.items():
        probability = np.exp(log_answer_probability(counts, **check)[0])
        costs[name] = probability, orders / (2 * check["sigma1"] ** 2), gnmax_costs
    rows = []
    for name, (probability, threshold_cost, label_cost) in costs.items():
        answered = np.cumsum(probability)
        spent = np.cumsum(probability[:, None] * label_cost, axis=0)
        numbers_asked = np.unique(np.linspace(0, len(counts), points + 1).astype(int))[1:]
        for asked in numbers_asked:
            thresholds = asked * threshold_cost
            row = {"panel": "cost", "mechanism": name, "asked": asked}
            row["answered"] = answered[asked - 1]
            total = thresholds + spent[asked - 1]
            row["epsilon"] = rdp_to_dp(orders, total, delta, "classic")[0]
            row["epsilon_selection"] = np.nan
            if name in checks:
                row["epsilon_selection"] = rdp_to_dp(orders, thresholds, delta, "classic")[0]
            rows.append(row)
    return pd.DataFrame(rows).assign(release=NOT_FOR_RELEASE)


def equal_answers(
    counts: np.ndarray,
    settings: Mapping,
    sigma2: float,
    delta: float,
    orders: np.ndarray,
) -> pd.DataFrame:
    """Return what Confident-GNMax and LNMax cost at the same numbers of answers: PATE's Figure 1.

    Answers behind a threshold are expected numbers.

    Args:
        counts: (queries, classes) int, in the order of the queries.
        settings: threshold, sigma1, LNMax's scale, and answers, of the figure's first and second
            pair of labelled costs.
        sigma2: noise of the labels, in votes.
        delta: in (0, 1).
        orders: Rényi orders, (orders,).

    Returns:
        A frame with label, answers, aggregator, asked, epsilon (as in the authors' code:
        data-dependent, thresholds included, with the classic conversion; NaN if the queries do not
        yield so many answers) and release.
    """
    gnmax_costs, lnmax_costs = (
        gnmax_rdp(counts, sigma2, orders),
        lnmax_rdp(counts, settings["scale"], orders),
    )
    check = {name: settings[name] for name in ("threshold", "sigma1")}
    probability = np.exp(log_answer_probability(counts, **check)[0])
    confident = threshold_rdp(counts, **check, orders=orders) + probability[:, None] * gnmax_costs
    costs = {
        "lnmax": (np.arange(1.0, len(counts) + 1), np.cumsum(lnmax_costs, axis=0)),
        "confident": (np.cumsum(probability), np.cumsum(confident, axis=0)),
    }
    rows = []
    for name, answers in zip(("first label", "second label"), settings["answers"], strict=True):
        for aggregator, (answered, spent) in costs.items():
            last = int(np.searchsorted(answered, answers))
            row = {"label": name, "answers": answers, "aggregator": aggregator}
            row |= {"asked": last + 1, "epsilon": np.nan}
            if last < len(counts):
                row["epsilon"] = rdp_to_dp(orders, spent[last], delta, "classic")[0]
            rows.append(row)
    return pd.DataFrame(rows).assign(release=NOT_FOR_RELEASE)
