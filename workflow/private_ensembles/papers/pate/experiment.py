"""PATE's experiments on a vote matrix: which queries are asked, what they cost, what is right.

Everything here takes votes and parameters and returns rows; drawing is in `papers.pate.figures`.
Costs that depend on the votes are not for release (PATE, appendix B).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

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


def draw_queries(pool: int, queries: int, seed: int, task: str, draw: int) -> np.ndarray:
    """Which of the pool's queries are asked, (queries,) distinct indices in the order asked.

    One permutation of the pool per draw, cut off: fewer queries are the first of more. Raises
    ValueError if the pool has too few.
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
    """Privacy against accuracy of LNMax and GNMax: the data behind PATE's Figure 4.

    ensembles: (number of teachers, counts (Q, C), labels (Q,)). scales: noise of `lnmax` and
    `gnmax` as a share of the number of teachers. Both noises are compared on the ensemble of
    laplace_teachers, GNMax on all. Columns: mechanism, teachers, scale (votes), epsilon (all Q
    labels, data-dependent, as published: classic conversion), epsilon_improved,
    data_independent_epsilon (improved), accuracy (expected, exact up to quadrature), release.
    """
    mechanisms = [load_mechanism(name) for name in registry.entries() if name in scales]
    rows = []
    for teachers, counts, labels in ensembles:
        for mechanism in mechanisms:
            if mechanism.law is laplace.LAW and teachers != laplace_teachers:
                continue
            for share in scales[mechanism.name]:
                scale = share * teachers
                right = mechanism.law.probability_correct(
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
                        "accuracy": float(right.mean()),
                        "release": NOT_FOR_RELEASE,
                    }
                )
    return pd.DataFrame(rows)


def release_labels(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict[str, object]], dict[str, np.ndarray]]:
    """Ask each aggregator of the task `name` for labels, once: what its students learn from.

    inputs: votes, of which the first settings["pool"] queries are the pool. settings: pool,
    confident, lnmax, answer_cap.
    Returns rows (task, aggregator, asked, answered, correct) and arrays by name:
    `<aggregator>_queries` (int64, the pool's indices in the order asked) and `<aggregator>_labels`
    (int64, -1 if there was no answer). How many are right is known only if the truth is.

    noise: `secure` draws from the system's entropy: Confident-GNMax's by exact samplers, LNMax's,
    which has none and is here for comparison, in floating point.
    """
    secure = check_mode(noise) == "secure"
    counts, labels = _pool(inputs, settings)
    rows, arrays = [], {}
    for aggregator, queries in aggregators(settings).items():
        asked = draw_queries(settings["pool"], queries, seed, name, 0)
        stream = generator(seed, name, "noise", aggregator.partition("-")[0])
        if aggregator == "confident":
            cap = settings["answer_cap"]
            caps = {"queries": queries, "labels": queries if cap is None else cap}
            released = load_mechanism("confident_gnmax").law.draw_capped(
                counts[asked],
                CheckedNoise(**noise_of(settings["confident"]), **caps),
                SecureNoise() if secure else SeededNoise(stream),
            )
        else:
            stream = system_generator() if secure else stream
            released = laplace.lnmax(counts[asked], settings["lnmax"]["scale"], stream)
        answered = released >= 0
        right = int((released == labels[asked])[answered].sum())
        row = {"task": name, "aggregator": aggregator, "asked": queries}
        rows.append(row | {"answered": int(answered.sum()), "correct": right})
        arrays |= {f"{aggregator}_queries": asked, f"{aggregator}_labels": released}
    return rows, arrays


def aggregators(settings: Mapping, two_rounds: Mapping | None = None) -> dict[str, int]:
    """Return the aggregators of a task by name, with the number of queries each is asked."""
    asked = {f"lnmax-{queries}": queries for queries in settings["lnmax"]["queries"]}
    asked["confident"] = settings["confident"]["queries"]
    if two_rounds is not None:
        asked["interactive"] = sum(two_rounds[name]["queries"] for name in ("first", "second"))
    return asked


def account_votes(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> pd.DataFrame:
    """Cost of every aggregator of the task `name`, over draws of queries: Tables 1 and 2 of PATE.

    inputs: as for :func:`release_labels`. settings: pool, delta, confident, lnmax,
    printed, draws, orders, two_rounds (or None). noise: the labels' and thresholds' that are
    accounted for, discrete with `secure`. One row per quantity: task, aggregator, draw, quantity,
    value, release. For `confident`:

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
    """
    counts, labels = _pool(inputs, settings)
    rows = []
    for draw in range(settings["draws"]):
        permuted = draw_queries(settings["pool"], settings["pool"], seed, name, draw)
        for aggregator, queries in aggregators(settings, settings["two_rounds"]).items():
            asked = permuted[:queries]
            if aggregator == "interactive":
                source = generator(seed, name, "student of round two", draw)
                quantities = _two_rounds_account(
                    counts[asked], labels[asked], settings, source, noise
                )
            elif aggregator == "confident":
                round_one = confident_round(
                    counts[asked], **noise_of(settings["confident"]), noise=noise
                )
                quantities = confident_account([round_one], settings, settings["printed"])
            else:
                quantities = _lnmax_account(counts[asked], settings)
            for quantity, (value, release) in quantities.items():
                rows.append((name, aggregator, draw, quantity, value, release))
    columns = ["task", "aggregator", "draw", "quantity", "value", "release"]
    return pd.DataFrame(rows, columns=columns)


def _pool(inputs: Mapping[str, Votes], settings: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Return the pool's counts, (pool, C), and labels, (pool,)."""
    pool = slice(settings["pool"])
    return inputs["votes"].histogram()[pool], inputs["votes"].labels[pool]


def confident_account(rounds, settings, printed) -> dict[str, tuple[float, str]]:
    """Quantities of one or two rounds; printed: order, beta and sigma_ss, or None."""
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
    free = {
        "asked": tuned.queries,
        "data_independent_epsilon": tuned.data_independent_epsilon,
        "exact_data_independent_epsilon": tuned.exact_data_independent_epsilon,
    }
    if len(rounds) == 1 and answers:
        capped = worst_case_epsilon(rounds, delta, answer_cap=answers)
        free["exact_data_independent_epsilon_at_printed_answers"] = capped
    # Tuned parameters depend on the votes, printed ones do not.
    chosen = {
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
        chosen |= {f"beta{suffix}": printed_part.beta, f"sigma_ss{suffix}": printed_part.sigma_ss}
    (free if stated else private).update(chosen)
    return _mark_release(free, private)


def _two_rounds_account(counts, labels, settings, source, noise) -> dict[str, tuple[float, str]]:
    """A confident round, then an interactive one on other queries with a student's scores."""
    rounds = settings["two_rounds"]
    first, second = rounds["first"]["queries"], rounds["second"]["queries"]
    confident = confident_round(counts[:first], **noise_of(rounds["first"]), noise=noise)
    scores = simulate_student_scores(labels[first:], counts.shape[1], rounds, source)
    later = counts[first : first + second]
    interactive = interactive_round(later, scores, **noise_of(rounds["second"]), noise=noise)
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
    """Scores (Q, C) of a student that is right as often as stated, on labels (Q,).

    student: student_accuracy, and student_score for the class that it predicts; the other classes
    share the rest evenly. A wrong prediction is uniform over the other classes.
    """
    wrong = source.random(len(labels)) >= student["student_accuracy"]
    other = (labels + source.integers(1, n_classes, len(labels))) % n_classes
    predicted = np.where(wrong, other, labels)
    scores = np.full((len(labels), n_classes), (1 - student["student_score"]) / (n_classes - 1))
    scores[np.arange(len(labels)), predicted] = student["student_score"]
    return scores


def noise_of(confident: Mapping[str, float]) -> dict[str, float]:
    """Return the threshold and noise scales of a confident aggregator's settings."""
    return {key: confident[key] for key in ("threshold", "sigma1", "sigma2")}


def lnmax_as_published(counts: np.ndarray, scale: float, delta: float):
    """Cost of one LNMax label per row of counts (Q, C), as PATE 2017 computes it."""
    return lnmax_privacy(
        counts, scale, delta, conversion="classic", bounds="paper", orders=PAPER_ORDERS
    )


def _lnmax_account(counts, settings) -> dict[str, tuple[float, str]]:
    delta, scale = settings["delta"], settings["lnmax"]["scale"]
    paper = lnmax_as_published(counts, scale, delta)
    ours = lnmax_privacy(counts, scale, delta)
    private = {"epsilon": paper.epsilon, "order": paper.order, "epsilon_improved": ours.epsilon}
    free = {
        "asked": len(counts),
        "answered": len(counts),
        "data_independent_epsilon": ours.data_independent_epsilon,
    }
    return _mark_release(free, private)


def _mark_release(free: Mapping, private: Mapping) -> dict[str, tuple[float, str]]:
    """Quantities with what they rest on; those that do not exist (None) are NaN."""
    marked = {}
    for values, mark in ((free, FREE_OF_VOTES), (private, NOT_FOR_RELEASE)):
        for name, value in values.items():
            marked[name] = (np.nan if value is None else float(value), mark)
    return marked
