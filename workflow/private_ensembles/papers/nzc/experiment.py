"""NZC's experiments on votes: which labels are drawn, what is claimed and true, what is right.

Takes votes and parameters and returns rows; drawing is in `papers.nzc.figures`. Nothing here is for
release: NZC's labels are not private (docs/nzc.md), and accuracies are measured on exact votes.
"""

from collections.abc import Mapping

import numpy as np

from private_ensembles.accounting.composition import optimal_composition
from private_ensembles.base.streams import generator
from private_ensembles.labels.laws.laplace import lnmax
from private_ensembles.labels.lnmax_quadrature import lnmax_distribution
from private_ensembles.labels.release_marks import FREE_OF_VOTES, NOT_FOR_RELEASE
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.nzc.mathematics.claims_and_truth import (
    claimed_epsilon,
    claimed_readings,
    immutability_constant,
    lead_one_epsilon,
)
from private_ensembles.papers.nzc.mathematics.ensembles import label_accuracies, leads
from private_ensembles.papers.nzc.mathematics.mechanism import (
    TIES,
    immutable_noisy_argmax,
    label_distribution,
)
from private_ensembles.papers.pate.experiment import draw_queries, lnmax_as_published

# Lemma 1's failure probability tau, which the paper leaves open ("close to 0").
FAILURE = 1e-5
# Two kinds of labels need no noise: the exact plurality, and the true labels.
CLEAN, TRUTH = "clean", "truth"


def aggregators(settings: Mapping) -> dict[str, tuple[int, int]]:
    """Return what labels queries, by name: (teachers, queries); the truth has no teachers (0).

    Args:
        settings: K, few, pool and lnmax.
    """
    K, few, pool = settings["K"], settings["few"], settings["pool"]
    sizes = {f"lnmax-{queries}": (K, queries) for queries in settings["lnmax"]["queries"]}
    for name in ("nzc", CLEAN):
        sizes |= {name: (K, pool), f"{name}-{few}": (few, pool)}
    return sizes | {TRUTH: (0, pool)}


def release_labels(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict[str, object]], dict[str, np.ndarray]]:
    """Draw labels by every aggregator of the task `name`, once: what its students learn from.

    Args:
        inputs: the votes of `many` and of `few` teachers.
        settings: K, few, pool, lnmax, and mechanism (constant, gamma, noise, ties).
        name: the task.
        seed: the run's seed.
        noise: must be ``reproducible``.

    Returns:
        Rows (task, aggregator, teachers, asked, correct, release), and the int64 arrays
        `<aggregator>_queries` and `<aggregator>_labels`.

    Raises:
        ValueError: noise is secure, as nothing here has an exact sampler.
    """
    votes, labels = _pools(inputs, settings, noise)
    rows, arrays = [], {}
    for aggregator, (teachers, queries) in aggregators(settings).items():
        chosen_queries = draw_queries(settings["pool"], queries, seed, name, 0)
        stream = generator(seed, name, "labels", aggregator.partition("-")[0], teachers)
        if aggregator == TRUTH:
            answers = labels[chosen_queries]
        elif aggregator.startswith(CLEAN):
            answers = votes[teachers][chosen_queries].argmax(axis=1)
        elif aggregator.startswith("nzc"):
            mechanism = _mechanism(settings["mechanism"])
            answers = immutable_noisy_argmax(votes[teachers][chosen_queries], stream, **mechanism)
        else:
            answers = lnmax(votes[teachers][chosen_queries], settings["lnmax"]["scale"], stream)
        row = {"task": name, "aggregator": aggregator, "teachers": teachers, "asked": queries}
        row["correct"] = int((answers == labels[chosen_queries]).sum())
        rows.append(row | {"release": NOT_FOR_RELEASE})
        arrays[f"{aggregator}_queries"] = chosen_queries
        arrays[f"{aggregator}_labels"] = answers.astype(np.int64)
    return rows, arrays


def account_votes(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> list[dict]:
    """Return claimed and true cost of every aggregator, and Table 2's accuracy of labels.

    For LNMax:

    claimed_epsilon                 data-dependent, as PATE 2017 computes it
    independent_moments             PATE 2017's bound for all data sets
    proven_epsilon                  optimal composition of labels that are 2 / scale-DP

    For NZC: claimed_epsilon (Theorem 4, or PATE's bound for Gaussian noise; gamma read as a scale),
    claimed_epsilon_inverse_scale (gamma as defined), true_epsilon (of a single label: the exact
    value at a lead of one vote), lemma1_constant. For NZC and `clean`: label_accuracy (expected,
    over the whole pool), label_accuracy_<ties> for each rule, tied (queries), unprotected (queries
    with a lead of at most 2).

    Args:
        inputs: as `release_labels` takes them.
        settings: those of `release_labels`, and delta.
        name: the task.
        seed: the run's seed.
        noise: must be ``reproducible``.

    Returns:
        One row per quantity: task, aggregator, quantity, value, release.

    Raises:
        ValueError: noise is secure.
    """
    votes, labels = _pools(inputs, settings, noise)
    rows = []

    def add(aggregator, release, **quantities):
        for quantity, value in quantities.items():
            row = {"task": name, "aggregator": aggregator, "quantity": quantity}
            rows.append(row | {"value": float(value), "release": release})

    scale, delta = settings["lnmax"]["scale"], settings["delta"]
    for aggregator, (teachers, queries) in aggregators(settings).items():
        if aggregator.startswith("lnmax"):
            asked_counts = votes[teachers][draw_queries(settings["pool"], queries, seed, name, 0)]
            claimed = lnmax_as_published(asked_counts, scale, delta).epsilon
            add(aggregator, NOT_FOR_RELEASE, claimed_epsilon=claimed)
            proven = optimal_composition(2 / scale, 0.0, queries, delta).epsilon
            moments = claimed_epsilon(1 / scale, queries, delta)
            add(aggregator, FREE_OF_VOTES, independent_moments=moments, proven_epsilon=proven)
        elif aggregator.startswith("nzc"):
            add(
                aggregator,
                FREE_OF_VOTES,
                **claims(settings["mechanism"], queries, delta, votes[teachers]),
            )
            add(aggregator, NOT_FOR_RELEASE, **_accuracy(votes[teachers], labels, settings))
    return rows


def claims(mechanism: Mapping, queries: int, delta: float, counts: np.ndarray) -> dict[str, float]:
    """Return what NZC claims for `queries` labels by both readings of gamma, and one label's cost.

    Args:
        mechanism: constant, gamma, noise and ties.
        queries: number of labels.
        delta: the claim's delta.
        counts: (queries, classes); used for the number of classes only.
    """
    readings = claimed_readings(mechanism["gamma"], queries, delta, noise=mechanism["noise"])
    scale, constant = mechanism["gamma"], mechanism["constant"]
    noise = {"gamma": 1 / scale} if mechanism["noise"] == "laplace" else {"sigma": scale}
    return {
        "claimed_epsilon": readings["scale"],
        "claimed_epsilon_inverse_scale": readings["inverse_scale"],
        "true_epsilon": lead_one_epsilon(constant, scale, delta, noise=mechanism["noise"]),
        "lemma1_constant": immutability_constant(counts.shape[1], FAILURE, **noise),
    }


def _accuracy(counts: np.ndarray, labels: np.ndarray, settings: Mapping) -> dict[str, float]:
    """Return Table 2's share of right labels over the pool: NZC by each rule for ties, others."""
    parameters = _mechanism(settings["mechanism"])
    distributions = {}
    for ties in TIES:
        options = parameters | {"ties": ties}
        distributions[ties] = label_distribution(counts, **options)[0]
    distributions["lnmax"] = lnmax_distribution(counts, settings["lnmax"]["scale"])
    accuracies = label_accuracies(counts, labels, distributions)
    lead = leads(counts)
    return {
        "label_accuracy": accuracies[parameters["ties"]],
        **{f"label_accuracy_{name}": accuracies[name] for name in (*TIES, "lnmax", CLEAN)},
        "tied": int((lead == 0).sum()),
        "unprotected": int((lead <= 2).sum()),
    }


def _mechanism(settings: Mapping) -> dict[str, object]:
    """Return the settings as the mechanism names them: gamma as printed is a scale."""
    parameters = dict(settings)
    return {"noise_scale": parameters.pop("gamma")} | parameters


def _pools(
    inputs: Mapping[str, Votes], settings: Mapping, noise: str
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Return the pool's counts (pool, C) by number of teachers, and its labels (pool,)."""
    if noise != "reproducible":
        raise ValueError(f"noise = {noise!r}: must be reproducible, NZC has no exact sampler")
    pool = slice(settings["pool"])
    many, few = inputs["many"], inputs["few"]
    counts = {settings["K"]: many.histogram()[pool], settings["few"]: few.histogram()[pool]}
    return counts, many.labels[pool]
