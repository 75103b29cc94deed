"""The experiment of DPBag: thirds of a table, bagged teachers' votes, and what labels cost."""

import math
from dataclasses import dataclass

import numpy as np

from private_ensembles.base import checks
from private_ensembles.base.streams import generator
from private_ensembles.labels.release_marks import FUNCTION_OF_VOTES, PUBLIC
from private_ensembles.papers.dpbag.mathematics.budget import (
    LabelCount,
    affordable_cost,
    data_independent_count,
    label_count,
)
from private_ensembles.papers.dpbag.mathematics.conjectured_counts import ConjecturedCounts
from private_ensembles.papers.dpbag.mathematics.label_loss import plain_epsilon
from private_ensembles.papers.dpbag.mathematics.personalised import (
    RunningCosts,
    count_agreeing_votes,
)
from private_ensembles.papers.dpbag.votes import BaggedVotes, pack_votes
from private_ensembles.training.data.shards import draw_partitions, shard_of_record
from private_ensembles.training.data.tabular import data_bounds, scale_min_max

MODELS = ("logistic", "boosted_trees")


@dataclass(frozen=True)
class Thirds:
    """The teachers' (private), the queries' (public) and the test third of a table.

    Each is features, (records, features) float64, and labels, (records,).
    """

    teachers: tuple[np.ndarray, np.ndarray]
    queries: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def split_thirds(records, scaling, seed, repeat):
    """Split all records of a data set into thirds, in random order, as the paper does.

    Args:
        records: LabelledRecords of two classes, whose own split is not used.
        scaling: ``data`` scales to the range of all records, as the paper does (which no privacy
            claim here covers); ``public`` scales to the bounds that are known without them.
        seed: with `repeat`, the split is drawn from it.
        repeat: the number of the split.

    Returns:
        Thirds. The order of the queries is the one in which they are asked. What is left of a
        division by three goes to test.

    Raises:
        ValueError: scaling is another, there are more than two classes, or fewer than three
            records.
    """
    checks.check_choice(("data", "public"), scaling=scaling)
    if records.n_classes != 2:
        raise ValueError(f"{records.name}: n_classes = {records.n_classes}: must be 2")
    features = np.concatenate([records.train_features, records.test_features])
    labels = np.concatenate([records.train_labels, records.test_labels])
    if len(labels) < 3:
        raise ValueError(f"{records.name}: {len(labels)} records: must be at least 3")
    bounds = data_bounds(features) if scaling == "data" else (records.lower, records.upper)
    features = scale_min_max(features, *bounds).astype(np.float64)
    order = generator(seed, "dpbag", records.name, "thirds", repeat).permutation(len(labels))
    third = len(labels) // 3
    parts = order[:third], order[third : 2 * third], order[2 * third :]
    teachers, queries, test = ((features[part], labels[part]) for part in parts)
    return Thirds(teachers, queries, test)


def noise_of(settings, n):
    """Return lambda for n shards: the settings' noise / n."""
    return settings["noise"] / n


def deltas_of(settings):
    """Return both deltas: the one that the paper prints, and the one that its label counts have."""
    return list(dict.fromkeys([settings["delta"], settings["delta_of_counts"]]))


def queries_needed(settings, n, available):
    """Return how many of the available queries the teachers of n shards vote on.

    With two classes m >= 1/2, so that no record's budget pays for more than four times SAA's
    labels. `account_labels` refuses votes on too few queries.

    Args:
        settings: epsilon (list), delta, delta_of_counts, noise, order_max and queries_per_label.
        n: number of shards.
        available: number of queries.
    """
    largest = max(
        affordable_cost(
            max(settings["epsilon"]), noise_of(settings, n), delta, settings["order_max"]
        )
        for delta in deltas_of(settings)
    )
    return min(available, int(np.ceil(settings["queries_per_label"] * largest)) + 1)


def cast_votes(thirds, model, training, *, n, partitions, n_queries, seed, path, progress=None):
    """Train the teachers of some partitions and let them vote on the first n_queries queries.

    Args:
        thirds: the data.
        model: one of MODELS.
        training: the model's settings.
        n: number of shards.
        partitions: consecutive numbers.
        n_queries: number of queries.
        seed: the partitions are drawn under it at `path`, the same whatever else is trained.
        path: names of the stream.
        progress: is called with (teachers done, teachers).

    Returns:
        BaggedVotes of these partitions.

    Raises:
        ValueError: as the models raise it.
    """
    partitions = list(partitions)
    features, labels = thirds.teachers
    queries = thirds.queries[0][:n_queries]
    shards = draw_partitions(len(labels), n, partitions, seed, *path, "partition")
    if model == "logistic":
        from scipy.sparse import csr_array

        # Converted once; the fits ask for it.
        features = csr_array(features)
    packed_votes = []
    for number, part in enumerate(shards):
        if model == "logistic":
            from private_ensembles.training.teachers.logistic import fit_shards, predict

            # The preconditioner may see the public records, never those of other shards.
            teachers = fit_shards(features, labels, part, thirds.queries[0], **training)
            votes = predict(teachers, queries)
        elif model == "boosted_trees":
            from private_ensembles.training.teachers.boosted_trees import cast_shard_votes

            votes = cast_shard_votes(features, labels, part, queries, training)
        else:
            raise ValueError(f"model = {model!r}: must be one of {', '.join(MODELS)}")
        packed_votes.append(pack_votes(votes))
        if progress is not None:
            progress((number + 1) * n, len(partitions) * n)
    return BaggedVotes(
        np.stack(packed_votes), shard_of_record(shards, len(labels)), len(queries), partitions[0]
    )


def account_labels(votes, settings, k_values):
    """Return what labels cost the most expensive record, and how many of them each budget buys.

    The number of labels is a function of the votes and nothing accounts for it: with a personalised
    budget, when to stop is itself private. Nothing but the data-independent rows is for release.

    Args:
        votes: BaggedVotes.
        settings: those of `queries_needed`.
        k_values: numbers of partitions, increasing.

    Returns:
        Rows, and arrays by name. Rows have k, accounting (`personalised`, `data_independent`: SAA's
        and DPBag-'s, or `conjectured`), epsilon, delta, releasable (most labels with accounted
        epsilon <= epsilon), first_exceeding (one more, what the paper prints; None if the queries
        end first), rms_m (of the most expensive record over these labels), plain_epsilon (holds for
        everyone after as many labels, whatever the votes) and release. `conjectured`, at
        delta_of_counts alone, trusts the supplement's unproven equation 3, as the printed counts
        do: there first_exceeding is for comparison, and releasable and rms_m are None.

        The arrays are k, (sizes,), with 1 for SAA; ones, (sizes, queries) int64, the votes for 1 of
        the first k partitions; and running, (sizes, queries) int64, as `running_costs` returns it.

    Raises:
        ValueError: a budget buys a label for every query, and the teachers could have been asked
            more.
    """
    noise, order_max = noise_of(settings, votes.n_shards), settings["order_max"]
    sizes = sorted({1, *k_values})
    exceeding, running = _costs(votes, settings, sizes, k_values)
    ones = votes.count_ones()[: sizes[-1]].cumsum(axis=0)[np.array(sizes) - 1]
    rows = []
    for delta in deltas_of(settings):
        for budget in settings["epsilon"]:
            count = data_independent_count(budget, noise, delta, order_max)
            rows.append(_make_row(1, "data_independent", budget, delta, count, 1.0, noise, PUBLIC))
            for size_index, k in enumerate(sizes):
                if k not in k_values:
                    continue
                count = label_count(running[size_index], k, budget, noise, delta, order_max)
                rms = None
                if count.releasable:
                    spent = running[size_index, count.releasable - 1]
                    rms = np.sqrt(spent / count.releasable) / k
                rows.append(
                    _make_row(
                        k, "personalised", budget, delta, count, rms, noise, FUNCTION_OF_VOTES
                    )
                )
    rows += _conjectured_rows(votes, settings, k_values, exceeding)
    share = settings["queries_per_label"]
    could_ask_more = queries_needed(settings, votes.n_shards, math.inf) <= votes.n_queries
    if share < 4 and could_ask_more and any(row["first_exceeding"] is None for row in rows):
        raise ValueError(
            f"dpbag.queries_per_label = {share}: a budget buys labels for all {votes.n_queries} "
            "queries: must be larger; 4 always suffices"
        )
    return rows, {"k": np.array(sizes), "ones": ones, "running": running}


def _costs(votes, settings, sizes, k_values):
    """Return `first_exceeding` of k_values and `running_costs` of sizes, from one pass."""
    counts = ConjecturedCounts(
        votes,
        k_values,
        settings["epsilon"],
        noise_of(settings, votes.n_shards),
        settings["delta_of_counts"],
        settings["order_max"],
    )
    running = RunningCosts(votes, sizes)
    for start, size_index, agreeing_votes in count_agreeing_votes(votes, sizes):
        running.charge(start, size_index, agreeing_votes)
        if sizes[size_index] in k_values:
            counts.charge(start, k_values.index(sizes[size_index]), agreeing_votes)
    return counts.first_labels, running.largest


def _conjectured_rows(votes, settings, k_values, exceeding):
    """Return the rows of the labels that the supplement's equation 3 would buy."""
    noise, delta = noise_of(settings, votes.n_shards), settings["delta_of_counts"]
    rows = []
    for k, first_labels in zip(k_values, exceeding.tolist(), strict=True):
        for budget, first_label in zip(settings["epsilon"], first_labels, strict=True):
            # If the queries end first, all of them were bought.
            count = LabelCount(
                first_label - 1 if first_label else votes.n_queries, first_label or None
            )
            row = _make_row(k, "conjectured", budget, delta, count, None, noise, FUNCTION_OF_VOTES)
            rows.append(row | {"releasable": None})
    return rows


def _make_row(k, accounting, budget, delta, count, rms, noise, release):
    return {
        "k": k,
        "accounting": accounting,
        "epsilon": budget,
        "delta": delta,
        "releasable": count.releasable,
        "first_exceeding": count.published,
        "rms_m": rms,
        "plain_epsilon": plain_epsilon(count.releasable, noise, delta),
        "release": release,
    }


def add_facts(rows, **facts):
    """Return the rows with the same facts (data set, model, seed, ...) in front of each."""
    return [facts | dict(row) for row in rows]
