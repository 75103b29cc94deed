"""NZC's experiments on votes: which labels are asked, what is claimed and true, what is right.

Takes votes and parameters and returns rows; drawing is in `papers.nzc.figures`. Nothing here is for
release: NZC's labels are not private (docs/nzc.md), and accuracies are measured on exact votes.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

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
# Labels that need no noise: the exact plurality, and what is true.
CLEAN, TRUTH = "clean", "truth"


def aggregators(settings: Mapping) -> dict[str, tuple[int, int]]:
    """Return what labels queries, by name: (teachers, queries); truth has no teachers (0).

    settings: K, few, pool, lnmax.
    """
    K, few, pool = settings["K"], settings["few"], settings["pool"]
    asked = {f"lnmax-{queries}": (K, queries) for queries in settings["lnmax"]["queries"]}
    for name in ("nzc", CLEAN):
        asked |= {name: (K, pool), f"{name}-{few}": (few, pool)}
    return asked | {TRUTH: (0, pool)}


def release_labels(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict[str, object]], dict[str, np.ndarray]]:
    """Ask every aggregator of the task `name` for labels, once: what its students learn from.

    inputs: the votes of `many` and of `few` teachers. settings: K, few, pool, lnmax, mechanism
    (constant, gamma, noise, ties). Returns rows (task, aggregator, teachers, asked, correct,
    release) and arrays `<aggregator>_queries`, `<aggregator>_labels`. Raises ValueError for secure
    noise: nothing here has an exact sampler.
    """
    votes, labels = _pools(inputs, settings, noise)
    rows, arrays = [], {}
    for aggregator, (teachers, queries) in aggregators(settings).items():
        asked = draw_queries(settings["pool"], queries, seed, name, 0)
        stream = generator(seed, name, "labels", aggregator.partition("-")[0], teachers)
        if aggregator == TRUTH:
            answers = labels[asked]
        elif aggregator.startswith(CLEAN):
            answers = votes[teachers][asked].argmax(axis=1)
        elif aggregator.startswith("nzc"):
            mechanism = _mechanism(settings["mechanism"])
            answers = immutable_noisy_argmax(votes[teachers][asked], stream, **mechanism)
        else:
            answers = lnmax(votes[teachers][asked], settings["lnmax"]["scale"], stream)
        row = {"task": name, "aggregator": aggregator, "teachers": teachers, "asked": queries}
        row["correct"] = int((answers == labels[asked]).sum())
        rows.append(row | {"release": NOT_FOR_RELEASE})
        arrays[f"{aggregator}_queries"] = asked
        arrays[f"{aggregator}_labels"] = answers.astype(np.int64)
    return rows, arrays


def account_votes(
    inputs: Mapping[str, Votes], settings: Mapping, *, name: str, seed: int, noise: str
) -> pd.DataFrame:
    """Claimed and true cost of every aggregator, and Table 2's accuracy of labels.

    Arguments and errors as for :func:`release_labels`, and settings["delta"]. One row per quantity:
    task, aggregator, quantity, value, release. For LNMax:

    claimed_epsilon                 data-dependent, as PATE 2017 computes it
    independent_moments             PATE 2017's bound for all data sets
    proven_epsilon                  optimal composition of labels that are 2 / scale-DP

    For NZC: claimed_epsilon (Theorem 4, or PATE's bound for Gaussian noise; gamma read as a scale),
    claimed_epsilon_inverse_scale (as defined), true_epsilon (of a single label: the exact value at
    a lead of one vote), lemma1_constant. For NZC and `clean`: label_accuracy (expected, over the
    whole pool), label_accuracy_<ties> for each rule, tied (queries), unprotected (queries with a
    lead of at most 2).
    """
    votes, labels = _pools(inputs, settings, noise)
    rows = []

    def add(aggregator, release, **quantities):
        for quantity, value in quantities.items():
            what = {"task": name, "aggregator": aggregator, "quantity": quantity}
            rows.append(what | {"value": float(value), "release": release})

    scale, delta = settings["lnmax"]["scale"], settings["delta"]
    for aggregator, (teachers, queries) in aggregators(settings).items():
        if aggregator.startswith("lnmax"):
            asked = votes[teachers][draw_queries(settings["pool"], queries, seed, name, 0)]
            claimed = lnmax_as_published(asked, scale, delta).epsilon
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
    return pd.DataFrame(rows)


def claims(mechanism: Mapping, queries: int, delta: float, counts: np.ndarray) -> dict[str, float]:
    """What NZC claims for `queries` labels, and what one label costs; both readings of gamma.

    mechanism: constant, gamma, noise, ties. counts: any of the votes, for the number of classes.
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
    """Table 2's share of right labels over the pool: NZC by every rule for ties, LNMax, clean."""
    parameters = _mechanism(settings["mechanism"])
    distributions = {}
    for ties in TIES:
        chosen = parameters | {"ties": ties}
        distributions[ties] = label_distribution(counts, **chosen)[0]
    distributions["lnmax"] = lnmax_distribution(counts, settings["lnmax"]["scale"])
    right = label_accuracies(counts, labels, distributions)
    lead = leads(counts)
    return {
        "label_accuracy": right[parameters["ties"]],
        **{f"label_accuracy_{name}": right[name] for name in (*TIES, "lnmax", CLEAN)},
        "tied": int((lead == 0).sum()),
        "unprotected": int((lead <= 2).sum()),
    }


def _mechanism(settings: Mapping) -> dict[str, object]:
    """The configuration's words as the mechanism has them: gamma as printed is a scale."""
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
