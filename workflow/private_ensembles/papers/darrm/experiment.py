"""The label experiment of DaRRM section 6.2: draws of queries, released labels, their accuracy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.audit.histograms import both_counts
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.base.secure import check_mode
from private_ensembles.base.streams import generator
from private_ensembles.labels import registry, release_gate
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.darrm.one_label import LabelBudget, calibrate_label, make_label_task


def budget_of(settings: Mapping, noise: str = "reproducible") -> LabelBudget:
    """Return what one label may cost.

    Args:
        settings: K, m, epsilon, Delta (one private teacher), epsilon_query, delta_query (m epsilon
            and m Delta), delta_gamma (1 - (1 - Delta)^m), shards (permutation or keyed_hash).
        noise: reproducible or secure.
    """
    return LabelBudget(
        K=settings["K"],
        m=settings["m"],
        teacher_epsilon=settings["epsilon"],
        teacher_Delta=settings["Delta"],
        epsilon=settings["epsilon_query"],
        delta=settings["delta_query"],
        delta_gamma=settings["delta_gamma"],
        keyed_hash=settings["shards"] == "keyed_hash",
        secure=check_mode(noise) == "secure",
    )


def claims(budget: LabelBudget) -> dict[str, dict]:
    """Return what one released label of each mechanism costs, and in which privacy model.

    DaRRM's claim is the paper's, in the adjacency of the teachers' accountant. Whatever happens to
    one plain teacher moves one vote: claims of noise on counts are for replace_one too.

    Returns:
        By mechanism its epsilon, delta, privacy_model and adjacency.
    """
    rows = {}
    for name in registry.single_label_mechanisms():
        entry = registry.get_entry(name)
        task = make_label_task(entry, budget)
        entry.require_coverage(task.protection.privacy_model, task.protection.adjacency)
        rows[name] = {
            "epsilon": task.budget.epsilon,
            "delta": task.budget.delta,
            "privacy_model": task.protection.privacy_model,
            "adjacency": task.protection.adjacency,
        }
    return rows


def calibrate_mechanisms(
    budget: LabelBudget, gamma: ArrayLike, sigma: Mapping[str, float]
) -> dict[str, Parameters]:
    """Return the parameters of every mechanism's label.

    Args:
        budget: what a label may cost.
        gamma: (K + 1,), the optimised one.
        sigma: GNMax's by quantity, as `search_gnmax_sigma` writes them.

    Raises:
        ValueError: gamma's own certificate does not hold.
    """
    numbers = {"gamma": gamma, **sigma}
    return {
        name: calibrate_label(load_mechanism(name), budget, numbers)
        for name in registry.single_label_mechanisms()
    }


def expected_accuracy(probability: NDArray[np.float64], counts: NDArray, labels: NDArray) -> float:
    """Return the exact expected share of correct labels over queries with known labels.

    Args:
        probability: (K + 1,), Pr[release 1 | n of K teachers say 1].
        counts: (queries,) int, n of each query.
        labels: (queries,), 0 or 1.
    """
    probability_correct = np.where(
        np.asarray(labels) == 1, probability[counts], 1 - probability[counts]
    )
    return float(probability_correct.mean())


def count_ones(votes: Votes, K: int) -> NDArray[np.int64]:
    """Count the teachers that vote 1 on each query, (queries,).

    Raises:
        ValueError: another number of teachers or classes, or queries of unknown label.
    """
    if votes.n_classes != 2 or votes.n_teachers != K:
        raise ValueError(
            f"votes of {votes.n_teachers} teachers on {votes.n_classes} classes: "
            f"must be {K} teachers and 2 classes"
        )
    if (votes.labels < 0).any():
        raise ValueError("labels: must be known for every query, to measure accuracies")
    return votes.histogram()[:, 1]


def release_labels(
    inputs: Mapping[str, object], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict], dict[str, NDArray]]:
    """Release the labels of every mechanism, training seed, number of queries and draw.

    All mechanisms and training seeds see the same queries; every release has its own stream.

    Args:
        inputs: what the rule reads (`targets.label_inputs`): Votes as `private_<training seed>` and
            `plain_<training seed>`, gamma (content of its JSON) and sigma (rows of quantity and
            value).
        settings: as `section.Darrm.label_experiment` returns them.
        name: the data set.
        seed: of the run.
        noise: secure draws the releases from the system's entropy; queries are public and stay.

    Returns:
        The rows of `results/darrm/labels/*.csv`, and the arrays of the npz: for each Q, `queries_Q`
        (draws, Q) indices into the test images, and `labels_Q` (mechanisms, seeds, draws, Q)
        released labels, mechanisms in the order of `mechanisms`.

    Raises:
        ValueError: Q exceeds the number of test images.
    """
    sigma = {row["quantity"]: float(row["value"]) for row in inputs["sigma"]}
    budget, seeds = budget_of(settings, noise), settings["training_seeds"]
    by_mechanism = calibrate_mechanisms(budget, inputs["gamma"]["gamma"], sigma)
    K, draws = settings["K"], settings["draws"]
    claimed = claims(budget)
    rows: list[dict] = []
    arrays: dict[str, NDArray] = {"mechanisms": np.array(list(claimed))}
    n_queries = inputs[f"private_{seeds[0]}"].n_queries
    for Q in settings["queries"]:
        if n_queries < Q:
            raise ValueError(f"queries = {Q}: {name} has only {n_queries} test images")
        drawn_queries = np.array(
            [
                generator(seed, "queries", name, Q, draw).choice(n_queries, Q, replace=False)
                for draw in range(draws)
            ]
        )
        arrays[f"queries_{Q}"] = drawn_queries.astype(np.uint32)
        released = np.zeros((len(claimed), len(seeds), draws, Q), np.uint8)
        for i, (mechanism_name, claim) in enumerate(claimed.items()):
            mechanism = load_mechanism(mechanism_name)
            label_parameters = by_mechanism[mechanism_name]
            secure = noise == "secure"
            release_gate.require_proof(mechanism, label_parameters, 2, secure=secure)
            probability = mechanism.law.distribution(
                both_counts(K), label_parameters, secure=secure
            )[:, 1]
            for j, training_seed in enumerate(seeds):
                cache = inputs[f"{mechanism.guarantee.teachers}_{training_seed}"]
                counts, labels = count_ones(cache, K), cache.labels
                expected = expected_accuracy(probability, counts, labels)
                for draw, index in enumerate(drawn_queries):
                    path = (name, settings["m"], mechanism_name, training_seed, Q, draw)
                    seeded = SeededNoise(generator(seed, "release", *path), by_class=True)
                    source = SecureNoise() if secure else seeded
                    outcomes = release_gate.draw_outcomes(
                        mechanism, cache.select_queries(index), label_parameters, source
                    )
                    released[i, j, draw] = outcomes
                    rows.append(
                        {
                            "dataset": name,
                            "stand_in": settings["stand_in"],
                            "mechanism": mechanism_name,
                            "m": settings["m"],
                            **claim,
                            "training_seed": training_seed,
                            "queries": Q,
                            "draw": draw,
                            "accuracy": float((outcomes == labels[index]).mean()),
                            "expected_accuracy": expected,
                        }
                    )
        arrays[f"labels_{Q}"] = released
    return rows, arrays
