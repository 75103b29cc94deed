"""PATE's experiments on a vote matrix: which queries are drawn, what they cost, what is right.

Everything here takes votes and parameters and returns rows; drawing is in `papers.pate.figures`.
Costs that depend on the votes are not for release (PATE, appendix B).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.secure import check_mode
from private_ensembles.base.streams import generator, system_generator
from private_ensembles.labels import registry
from private_ensembles.labels.laws import gaussian, laplace
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.lnmax import lnmax_independent_rdp
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.pate.mathematics.confident import compose_rounds
from private_ensembles.papers.pate.mathematics.lnmax import PAPER_ORDERS, lnmax_privacy, lnmax_rdp
from private_ensembles.papers.pate.mathematics.rdp import gnmax_rdp
from private_ensembles.papers.pate.mathematics.rounds import (
    confident_round,
    interactive_round,
    worst_case_epsilon,
)
from private_ensembles.papers.pate.orders import order_grid

if TYPE_CHECKING:
    import pandas as pd


def draw_queries(pool: int, queries: int, seed: int, task: str, draw: int) -> np.ndarray:
    """Draw which of the pool's queries the teachers answer, in their order.

    There is one permutation of the pool per draw, cut off: fewer queries are the first of more.

    Args:
        pool: number of queries of the pool.
        queries: how many to draw.
        seed, task, draw: name the permutation.

    Returns:
        Distinct indices, (queries,) int.

    Raises:
        ValueError: the pool has too few queries.
    """
    if not 1 <= queries <= pool:
        raise ValueError(f"queries = {queries}: must be 1 to the pool's {pool}")
    return generator(seed, task, "queries", draw).permutation(pool)[:queries]


def noise_comparison(
    ensembles: Sequence[tuple[int, np.ndarray, np.ndarray]],
    scales: Mapping[str, Sequence[float]],
    laplace_teachers: int,
    delta: float,
    orders: np.ndarray,
) -> pd.DataFrame:
    """Compare privacy and accuracy of LNMax and GNMax: the data behind PATE's Figure 4.

    Both noises are compared on the ensemble of laplace_teachers, GNMax on all.

    Args:
        ensembles: (number of teachers, counts (queries, classes), labels (queries,)).
        scales: noise of `lnmax` and `gnmax` as a share of the number of teachers.
        laplace_teachers: number of teachers.
        delta: in (0, 1).
        orders: Rényi orders, (orders,).

    Returns:
        A frame with mechanism, teachers, scale (votes), epsilon (all labels, data-dependent, as
        published: classic conversion), epsilon_improved, data_independent_epsilon (improved),
        accuracy (expected, exact up to quadrature) and release.
    """
    mechanisms = [load_mechanism(name) for name in registry.entries() if name in scales]
    rows = []
    for teachers, counts, labels in ensembles:
        for mechanism in mechanisms:
            if mechanism.law is laplace.LAW and teachers != laplace_teachers:
                continue
            for share in scales[mechanism.name]:
                scale = share * teachers
                correct = mechanism.law.probability_correct(
                    counts, labels, mechanism.law.noise_at_scale(scale)
                )
                if mechanism.law is gaussian.WHOLE:
                    cost = gnmax_rdp(counts, scale, orders).sum(axis=0)
                    independent = len(counts) * orders / scale**2
                else:
                    cost = lnmax_rdp(counts, scale, orders).sum(axis=0)
                    independent = len(counts) * lnmax_independent_rdp(scale, orders)
                rows.append(
                    {
                        "mechanism": mechanism.name,
                        "teachers": teachers,
                        "scale": scale,
                        "epsilon": rdp_to_dp(orders, cost, delta, "classic")[0],
                        "epsilon_improved": rdp_to_dp(orders, cost, delta)[0],
                        "data_independent_epsilon": rdp_to_dp(orders, independent, delta)[0],
                        "accuracy": float(correct.mean()),
                        "release": NOT_FOR_RELEASE,
                    }
                )
    import pandas as pd  # late: jobs that release or account for labels would wait for it

    return pd.DataFrame(rows)


def release_labels(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict[str, object]], dict[str, np.ndarray]]:
    """Draw labels by each aggregator of the task `name`, once: what its students learn from.

    Args:
        inputs: votes, of which the first settings["pool"] queries are the pool.
        settings: pool, confident, lnmax and answer_cap.
        name: the task.
        seed: the run's seed.
        noise: ``secure`` draws from the system's entropy: Confident-GNMax's by exact samplers,
            LNMax's, which has none and is here for comparison, in floating point.

    Returns:
        Rows (task, aggregator, asked, answered, correct), and int64 arrays by name:
        `<aggregator>_queries` (the pool's indices in the order asked) and `<aggregator>_labels` (-1
        if there was no answer). How many are right is known only if the truth is.
    """
    secure = check_mode(noise) == "secure"
    counts, labels = _pool(inputs, settings)
    rows, arrays = [], {}
    for aggregator, queries in aggregators(settings).items():
        chosen_queries = draw_queries(settings["pool"], queries, seed, name, 0)
        stream = generator(seed, name, "noise", aggregator.partition("-")[0])
        if aggregator == "confident":
            cap = settings["answer_cap"]
            caps = {"queries": queries, "labels": queries if cap is None else cap}
            released = load_mechanism("confident_gnmax").law.draw_capped(
                counts[chosen_queries],
                CheckedNoise(**noise_of(settings["confident"]), **caps),
                SecureNoise() if secure else SeededNoise(stream),
            )
        else:
            stream = system_generator() if secure else stream
            released = laplace.lnmax(counts[chosen_queries], settings["lnmax"]["scale"], stream)
        answered = released >= 0
        correct = int((released == labels[chosen_queries])[answered].sum())
        row = {"task": name, "aggregator": aggregator, "asked": queries}
        rows.append(row | {"answered": int(answered.sum()), "correct": correct})
        arrays |= {f"{aggregator}_queries": chosen_queries, f"{aggregator}_labels": released}
    return rows, arrays


def aggregators(settings: Mapping, two_rounds: Mapping | None = None) -> dict[str, int]:
    """Return the number of queries that each aggregator of a task is asked, by its name."""
    queries_of = {f"lnmax-{queries}": queries for queries in settings["lnmax"]["queries"]}
    queries_of["confident"] = settings["confident"]["queries"]
    if two_rounds is not None:
        queries_of["interactive"] = sum(two_rounds[name]["queries"] for name in ("first", "second"))
    return queries_of


def account_votes(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> list[dict]:
    """Return the cost of every aggregator of the task `name`, by draw of queries: Tables 1 and 2.

    For `confident`:

    asked, answered (expected), rdp, epsilon, order      as published: classic conversion
    epsilon_improved, order_improved                     by the improved conversion
    data_independent_epsilon, exact_...                  at the caps: every query answered
    tuned_beta, tuned_sigma_ss                           what the paper's search finds on our votes
    printed_order, beta, smooth_sensitivity, sigma_ss    at the printed parameters, or the tuned
                                                         ones if none are printed
    gnss_rdp_paper, gnss_rdp                             cost of publishing, Theorem 23 and exact
    sanitized_epsilon, sanitized_sd                      as published
    sanitized_epsilon_exact, sanitized_upper_exact       with the exact cost; 95 % upper bound
    best_sanitized_epsilon, best_sanitized_sd            improved conversion, exact cost, best
                                                         order, beta and sigma_ss for our votes

    exact_data_independent_epsilon_at_printed_answers    if it stopped after Table 1's answers

    `interactive`, two rounds, has those of one value per round as ..._1 and ..._2, and of the first
    alone answered_first and epsilon_first.

    Args:
        inputs: as `release_labels` takes them.
        settings: pool, delta, confident, lnmax, printed, draws, orders and two_rounds (or None).
        name: the task.
        seed: the run's seed.
        noise: the labels' and thresholds' that are accounted for, discrete with ``secure``.

    Returns:
        One row per quantity: task, aggregator, draw, quantity, value, release.
    """
    counts, labels = _pool(inputs, settings)
    rows = []
    for draw in range(settings["draws"]):
        permuted = draw_queries(settings["pool"], settings["pool"], seed, name, draw)
        for aggregator, queries in aggregators(settings, settings["two_rounds"]).items():
            chosen_queries = permuted[:queries]
            if aggregator == "interactive":
                source = generator(seed, name, "student of round two", draw)
                quantities = _two_rounds_account(
                    counts[chosen_queries], labels[chosen_queries], settings, source, noise
                )
            elif aggregator == "confident":
                round_one = confident_round(
                    counts[chosen_queries], **noise_of(settings["confident"]), noise=noise
                )
                quantities = confident_account([round_one], settings, settings["printed"])
            else:
                quantities = _lnmax_account(counts[chosen_queries], settings)
            for quantity, (value, release) in quantities.items():
                row = {"task": name, "aggregator": aggregator, "draw": draw, "quantity": quantity}
                rows.append(row | {"value": float(value), "release": release})
    return rows


def _pool(inputs: Mapping[str, Votes], settings: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Return the pool's counts, (pool, C), and labels, (pool,)."""
    pool = slice(settings["pool"])
    return inputs["votes"].histogram()[pool], inputs["votes"].labels[pool]


def confident_account(rounds, settings, printed) -> dict[str, tuple[float, str]]:
    """Return the quantities of one or two rounds, each with its mark for release.

    Args:
        rounds: Round, one or two.
        settings: delta and orders.
        printed: order, beta, sigma_ss and perhaps answers; None if nothing is printed.
    """
    delta, orders = settings["delta"], order_grid(settings["orders"])

    def privacy(**options):
        return compose_rounds(rounds, delta, **options)

    tuned = privacy(conversion="classic", formula="paper", orders=orders)
    best = privacy(orders=orders)
    stated = dict(printed) if printed else {}
    answers = stated.pop("answers", None)
    pinned = stated
    if not stated:
        pinned = {
            "order": tuned.sanitized_order,
            "beta": [part.beta for part in tuned.rounds],
            "sigma_ss": [part.sigma_ss for part in tuned.rounds],
        }
    paper = privacy(conversion="classic", formula="paper", **pinned)
    exact = privacy(conversion="classic", formula="exact", **pinned)
    private = {
        "answered": tuned.expected_answers,
        "epsilon": tuned.epsilon,
        "order": tuned.order,
        "rdp": tuned.threshold_rdp + tuned.label_rdp,
        "epsilon_improved": best.epsilon,
        "order_improved": best.order,
        "sanitized_epsilon": paper.sanitized_epsilon,
        "sanitized_sd": paper.sanitized_sd,
        "sanitized_epsilon_exact": exact.sanitized_epsilon,
        "sanitized_upper_exact": exact.sanitized_upper,
        "best_sanitized_epsilon": best.sanitized_epsilon,
        "best_sanitized_sd": best.sanitized_sd,
    }
    public = {
        "asked": tuned.queries,
        "data_independent_epsilon": tuned.data_independent_epsilon,
        "exact_data_independent_epsilon": tuned.exact_data_independent_epsilon,
    }
    if len(rounds) == 1 and answers:
        capped = worst_case_epsilon(rounds, delta, answer_cap=answers)
        public["exact_data_independent_epsilon_at_printed_answers"] = capped
    # Tuned parameters depend on the votes, printed ones do not.
    published_at = {
        "printed_order": pinned["order"],
        "gnss_rdp_paper": paper.gnss_rdp,
        "gnss_rdp": exact.gnss_rdp,
    }
    for i, (tuned_part, printed_part) in enumerate(
        zip(tuned.rounds, paper.rounds, strict=True), start=1
    ):
        suffix = f"_{i}" if len(rounds) > 1 else ""
        private[f"tuned_beta{suffix}"] = tuned_part.beta
        private[f"tuned_sigma_ss{suffix}"] = tuned_part.sigma_ss
        private[f"smooth_sensitivity{suffix}"] = printed_part.smooth_sensitivity
        published_at |= {
            f"beta{suffix}": printed_part.beta,
            f"sigma_ss{suffix}": printed_part.sigma_ss,
        }
    (public if stated else private).update(published_at)
    return _mark_release(public, private)


def _two_rounds_account(counts, labels, settings, source, noise) -> dict[str, tuple[float, str]]:
    """Account for a confident round, and an interactive one with a student's scores."""
    rounds = settings["two_rounds"]
    first, second = rounds["first"]["queries"], rounds["second"]["queries"]
    confident = confident_round(counts[:first], **noise_of(rounds["first"]), noise=noise)
    scores = simulate_student_scores(labels[first:], counts.shape[1], rounds, source)
    second_counts = counts[first : first + second]
    interactive = interactive_round(
        second_counts, scores, **noise_of(rounds["second"]), noise=noise
    )
    quantities = confident_account([confident, interactive], settings, rounds["printed"])
    orders = order_grid(settings["orders"])
    cost = confident.threshold_rdp(orders) + confident.label_rdp(orders)
    first_round = {
        "answered_first": confident.answer_probability.sum(),
        "epsilon_first": rdp_to_dp(orders, cost, settings["delta"], "classic")[0],
    }
    return quantities | _mark_release({}, first_round)


def simulate_student_scores(
    labels: np.ndarray, n_classes: int, student: Mapping, source: np.random.Generator
) -> np.ndarray:
    """Return scores of a student that is right as often as stated, (queries, classes).

    A wrong prediction is uniform over the other classes.

    Args:
        labels: true labels, (queries,) int.
        n_classes: number of classes.
        student: student_accuracy, and student_score for the class that it predicts; the other
            classes share the rest evenly.
        source: the source of randomness.
    """
    is_wrong = source.random(len(labels)) >= student["student_accuracy"]
    other_classes = (labels + source.integers(1, n_classes, len(labels))) % n_classes
    predicted = np.where(is_wrong, other_classes, labels)
    scores = np.full((len(labels), n_classes), (1 - student["student_score"]) / (n_classes - 1))
    scores[np.arange(len(labels)), predicted] = student["student_score"]
    return scores


def noise_of(confident: Mapping[str, float]) -> dict[str, float]:
    """Return the threshold and noise scales of a confident aggregator's settings."""
    return {key: confident[key] for key in ("threshold", "sigma1", "sigma2")}


def lnmax_as_published(counts: np.ndarray, scale: float, delta: float):
    """Return the cost of one LNMax label per query, as PATE 2017 computes it.

    Args:
        counts: (queries, classes) int.
        scale: of the Laplace noise, in votes.
        delta: in (0, 1).

    Returns:
        LnmaxPrivacy.
    """
    return lnmax_privacy(
        counts, scale, delta, conversion="classic", bounds="paper", orders=PAPER_ORDERS
    )


def _lnmax_account(counts, settings) -> dict[str, tuple[float, str]]:
    delta, scale = settings["delta"], settings["lnmax"]["scale"]
    paper = lnmax_as_published(counts, scale, delta)
    ours = lnmax_privacy(counts, scale, delta)
    private = {"epsilon": paper.epsilon, "order": paper.order, "epsilon_improved": ours.epsilon}
    public = {
        "asked": len(counts),
        "answered": len(counts),
        "data_independent_epsilon": ours.data_independent_epsilon,
    }
    return _mark_release(public, private)


def _mark_release(public: Mapping, private: Mapping) -> dict[str, tuple[float, str]]:
    """Return quantities with what they rest on; those that do not exist (None) are NaN."""
    marked = {}
    for values, mark in ((public, FREE_OF_VOTES), (private, NOT_FOR_RELEASE)):
        for name, value in values.items():
            marked[name] = (np.nan if value is None else float(value), mark)
    return marked
