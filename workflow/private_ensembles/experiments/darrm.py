"""The label experiment of DaRRM section 6.2: draws of queries, released labels, their accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import replace_one
from private_ensembles.darrm.certificate import certify_problem, scale_to_allowance
from private_ensembles.darrm.gamma import check_gamma, gamma_subsampling
from private_ensembles.darrm.privacy_cost import PrivacyProblem
from private_ensembles.mechanisms.one_label import NAMES as TIGHT
from private_ensembles.mechanisms.one_label import noise_parameters
from private_ensembles.mechanisms.registry import require
from private_ensembles.mechanisms.release import expected_accuracy, label_probability, release
from private_ensembles.noise import secure as secure_noise
from private_ensembles.noise.streams import generator
from private_ensembles.votes.cache import Votes

# GNMax with the paper's sigma, and what else the same budget buys.
SIGMAS = {
    "gnmax": "sigma_rdp",
    "gnmax_improved": "sigma_improved_rdp",
    "gnmax_analytic": "sigma_analytic",
    "gnmax_exact": "sigma_exact",
}
ON_COUNTS = (*SIGMAS, *TIGHT)


def claims(settings: Mapping) -> dict[str, dict]:
    """What one released label of each mechanism costs, and in which privacy model.

    settings : epsilon, Delta (one private teacher), epsilon_query, delta_query (m epsilon and
    m Delta), delta_gamma (1 - (1 - Delta)^m), shards (permutation or keyed_hash). DaRRM's claim is
    the paper's, in the adjacency of the teachers' accountant. The noiseless majority of private
    teachers costs what one teacher does, for any number of queries, on disjoint shards only (DESIGN
    5.6). Shards that are cut from a permutation serve replace_one, so that cost is one teacher's by
    group privacy; a keyed hash serves add_remove, at the accountant's own cost. Whatever happens to
    one plain teacher moves one vote: GNMax's claim is for replace_one too, as are those of the
    tight baselines, which have GNMax's budget.
    """
    counts = (settings["epsilon_query"], settings["delta_query"], "disjoint_shards", "replace_one")
    darrm = (settings["epsilon_query"], settings["delta_gamma"], "shared_data", "add_remove")
    if settings["shards"] == "keyed_hash":
        majority = (settings["epsilon"], settings["Delta"], "disjoint_shards", "add_remove")
    else:
        one = replace_one(settings["epsilon"], settings["Delta"])
        majority = (one.epsilon, one.delta, "disjoint_shards", "replace_one")
    rows = dict.fromkeys(ON_COUNTS, counts) | {
        "darrm_sub": darrm,
        "darrm_opt": darrm,
        "majority_private": majority,
    }
    names = ("epsilon", "delta", "privacy_model", "adjacency")
    return {name: dict(zip(names, row, strict=True)) for name, row in rows.items()}


def parameters(
    settings: Mapping,
    gamma: ArrayLike,
    sigma: Mapping[str, float],
    noise: str = "reproducible",
) -> dict[str, dict]:
    """The arguments of every mechanism's `release` at one m.

    gamma : (K + 1,), the optimised one; sigma : by quantity, as `search_gnmax_sigma` writes them.
    Subsampling's closed form spends its allowance exactly, so it is scaled (by about 1e-12) until
    its certificate holds in floating point. Secure noise is discrete: the analytic sigma is raised
    until the discrete mechanism is proven, the Renyi ones serve as they are, and what is exact is
    drawn from the label's own distribution. Raises ValueError where gamma's own certificate does
    not hold.
    """
    problem = PrivacyProblem(
        settings["K"],
        settings["m"],
        settings["epsilon"],
        settings["Delta"],
        settings["delta_gamma"],
    )
    optimal = check_gamma(gamma)
    if not certify_problem(problem, optimal).holds:
        raise ValueError(f"gamma: must be private for K = {problem.K}, m = {problem.m}, and is not")
    subsampling, _ = scale_to_allowance(problem, gamma_subsampling(problem.K, problem.m))
    cost = settings["epsilon_query"], settings["delta_query"]
    noisy = {name: {"sigma": sigma[quantity]} for name, quantity in SIGMAS.items()}
    if secure_noise.check_mode(noise) == "secure":
        analytic = secure_noise.sufficient_sigma(sigma["sigma_analytic"], *cost)
        noisy["gnmax_analytic"] = {"sigma": analytic}
    return {
        **noisy,
        **noise_parameters(*cost, problem.K),
        "darrm_sub": {"gamma": subsampling},
        "darrm_opt": {"gamma": optimal},
        "majority_private": {},
    }


def ones(votes: Votes, K: int) -> NDArray[np.int64]:
    """How many of the K teachers vote 1 on each query, (queries,).

    Raises ValueError for another number of teachers or classes, or queries of unknown label.
    """
    if votes.n_classes != 2 or votes.n_teachers != K:
        raise ValueError(
            f"votes of {votes.n_teachers} teachers on {votes.n_classes} classes: "
            f"must be {K} teachers and 2 classes"
        )
    if (votes.labels < 0).any():
        raise ValueError("labels: must be known for every query, for accuracies are measured")
    return votes.histogram()[:, 1]


def run(
    dataset: str,
    settings: Mapping,
    votes: Mapping[str, Sequence[Votes]],
    parameters: Mapping[str, Mapping],
    seed: int,
    noise: str = "reproducible",
) -> tuple[list[dict], dict[str, NDArray]]:
    """Release the labels of every mechanism, training seed, number of queries and draw.

    votes : by kind of teachers ("private", "plain"), one cache per training seed.
    parameters : by mechanism, the arguments of its `release` (gamma or sigma).

    Returns the rows of `results/darrm/labels/*.csv` and the arrays of the npz: for each Q,
    `queries_Q` (draws, Q) indices into the test images, and `labels_Q` (mechanisms, seeds,
    draws, Q) released labels, mechanisms in the order of `mechanisms`.

    All mechanisms and training seeds see the same queries; every release has its own stream.
    noise : secure draws the releases from the system's entropy; queries are public and stay.
    Raises ValueError where Q exceeds the number of test images.
    """
    K, draws = settings["K"], settings["draws"]
    terms = claims(settings)
    rows: list[dict] = []
    arrays: dict[str, NDArray] = {"mechanisms": np.array(list(terms))}
    n_queries = votes["private"][0].n_queries
    for Q in settings["queries"]:
        if n_queries < Q:
            raise ValueError(f"queries = {Q}: {dataset} has only {n_queries} test images")
        chosen = np.array(
            [
                generator(seed, "queries", dataset, Q, draw).choice(n_queries, Q, replace=False)
                for draw in range(draws)
            ]
        )
        arrays[f"queries_{Q}"] = chosen.astype(np.uint32)
        released = np.zeros((len(terms), len(settings["training_seeds"]), draws, Q), np.uint8)
        for i, (name, claim) in enumerate(terms.items()):
            mechanism = require(name, claim["privacy_model"], claim["adjacency"])
            probability = label_probability(name, K, noise, **parameters[name])
            pairs = zip(settings["training_seeds"], votes[mechanism.teachers], strict=True)
            for j, (training_seed, cache) in enumerate(pairs):
                counts, labels = ones(cache, K), cache.labels
                expected = expected_accuracy(probability, counts, labels)
                for draw, index in enumerate(chosen):
                    path = ("release", dataset, settings["m"], name, training_seed, Q, draw)
                    stream = None if noise == "secure" else generator(seed, *path)
                    got = release(name, counts[index], K, stream, **parameters[name])
                    released[i, j, draw] = got
                    rows.append(
                        {
                            "dataset": dataset,
                            "stand_in": settings["stand_in"],
                            "mechanism": name,
                            "m": settings["m"],
                            **claim,
                            "training_seed": training_seed,
                            "queries": Q,
                            "draw": draw,
                            "accuracy": float((got == labels[index]).mean()),
                            "expected_accuracy": expected,
                        }
                    )
        arrays[f"labels_{Q}"] = released
    return rows, arrays


def release_labels(
    inputs: Mapping[str, object], settings: Mapping, *, name: str, seed: int, noise: str
) -> tuple[list[dict], dict[str, NDArray]]:
    """:func:`run` on what the rule of DaRRM's labels reads (`configuration.files.label_inputs`).

    inputs : Votes as `private_<training seed>` and `plain_<training seed>`, gamma (content of its
    JSON) and sigma (rows of quantity and value). name : the data set.
    """
    votes = {
        kind: [inputs[f"{kind}_{training_seed}"] for training_seed in settings["training_seeds"]]
        for kind in ("private", "plain")
    }
    sigma = {row["quantity"]: float(row["value"]) for row in inputs["sigma"]}
    given = parameters(settings, inputs["gamma"]["gamma"], sigma, noise)
    return run(name, settings, votes, given, seed, noise)
