"""The experiment of DPBag: thirds of a table, bagged teachers' votes, and what labels cost."""

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
    """Features float64 (., d) and labels (.,) of teachers (private), queries (public) and test."""

    teachers: tuple[np.ndarray, np.ndarray]
    queries: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def split_thirds(records, scaling, seed, repeat):
    """Split all records of a data set into thirds, in random order, as the paper does.

    records: LabelledRecords of two classes, whose own split is not used. scaling: `data`, to the
    range of all records as the paper does (which no privacy claim here covers), or `public`, to
    the bounds that are known without them. The split is drawn from seed and repeat; it is also the
    order in which the queries are asked. What is left of a division by three goes to test.

    Raises ValueError for another scaling, more than two classes, or fewer than three records.
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
    """lambda for n shards: settings' noise / n."""
    return settings["noise"] / n


def deltas_of(settings):
    """Both deltas: the one that the paper prints, and the one that its label counts have."""
    return list(dict.fromkeys([settings["delta"], settings["delta_of_counts"]]))


def queries_needed(settings, n, available):
    """How many queries n shards can need: with two classes m >= 1/2, at most four times SAA's."""
    largest = max(
        affordable_cost(
            max(settings["epsilon"]), noise_of(settings, n), delta, settings["order_max"]
        )
        for delta in deltas_of(settings)
    )
    return min(available, int(np.ceil(4 * largest)) + 1)


def cast_votes(thirds, model, training, *, n, partitions, n_queries, seed, path, progress=None):
    """Train the teachers of some partitions and let them vote on the first n_queries queries.

    model: in MODELS, with its training settings. n: shards. partitions: consecutive numbers, which
    are drawn at `path` under `seed`: the same whatever else is trained. progress: called with
    (teachers done, teachers). Returns a BaggedVotes. Raises ValueError as the models do.
    """
    partitions = list(partitions)
    features, labels = thirds.teachers
    queries = thirds.queries[0][:n_queries]
    shards = draw_partitions(len(labels), n, partitions, seed, *path, "partition")
    if model == "logistic":
        from scipy.sparse import csr_array

        # Converted once; the fits ask for it.
        features = csr_array(features)
    bits = []
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
        bits.append(pack_votes(votes))
        if progress is not None:
            progress((number + 1) * n, len(partitions) * n)
    return BaggedVotes(
        np.stack(bits), shard_of_record(shards, len(labels)), len(queries), partitions[0]
    )


def account_labels(votes, settings, k_values):
    """What labels cost the most expensive record, and how many of them each budget buys.

    votes: a BaggedVotes. settings: epsilon (list), delta, delta_of_counts, noise, order_max.
    k_values: numbers of partitions, increasing. Returns (rows, arrays); both but the
    data-independent rows are not for release.

    rows: k, accounting (`personalised`, `data_independent`: SAA's and DPBag-'s, or `conjectured`),
    epsilon, delta, releasable (most labels with accounted epsilon <= epsilon), first_exceeding (one
    more, what the paper prints; None if the queries end first), rms_m (of the most expensive
    record over these labels), plain_epsilon (holds for everyone after as many labels, whatever the
    votes), release. The number of labels is a function of the votes and nothing accounts for it:
    with a personalised budget, when to stop is itself private.

    `conjectured`, at delta_of_counts alone, trusts the supplement's unproven equation 3, as the
    printed counts do: first_exceeding is for comparison, releasable and rms_m are None.

    arrays: k (S,), with 1 for SAA; ones int64 (S, Q), votes for 1 of the first k partitions;
    running int64 (S, Q), `running_costs`.
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
            for place, k in enumerate(sizes):
                if k not in k_values:
                    continue
                count = label_count(running[place], k, budget, noise, delta, order_max)
                rms = None
                if count.releasable:
                    spent = running[place, count.releasable - 1]
                    rms = np.sqrt(spent / count.releasable) / k
                rows.append(
                    _make_row(
                        k, "personalised", budget, delta, count, rms, noise, FUNCTION_OF_VOTES
                    )
                )
    rows += _conjectured_rows(votes, settings, k_values, exceeding)
    return rows, {"k": np.array(sizes), "ones": ones, "running": running}


def _costs(votes, settings, sizes, k_values):
    """`first_exceeding` of k_values and `running_costs` of sizes, from votes added up once."""
    counts = ConjecturedCounts(
        votes,
        k_values,
        settings["epsilon"],
        noise_of(settings, votes.n_shards),
        settings["delta_of_counts"],
        settings["order_max"],
    )
    running = RunningCosts(votes, sizes)
    for start, place, most in count_agreeing_votes(votes, sizes):
        running.charge(start, place, most)
        if sizes[place] in k_values:
            counts.charge(start, k_values.index(sizes[place]), most)
    return counts.first_labels, running.largest


def _conjectured_rows(votes, settings, k_values, exceeding):
    """Rows of the labels that the supplement's equation 3 would buy."""
    noise, delta = noise_of(settings, votes.n_shards), settings["delta_of_counts"]
    rows = []
    for k, of_budgets in zip(k_values, exceeding.tolist(), strict=True):
        for budget, labels in zip(settings["epsilon"], of_budgets, strict=True):
            # If the queries end first, all of them were bought.
            count = LabelCount(labels - 1 if labels else votes.n_queries, labels or None)
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
