"""Adversaries against the ensembles that are trained here: how much of a proven epsilon is used.

Chadha, Jagielski, Papernot, Choquette-Choo and Nasr (Auditing Private Prediction, ICML 2024) attack
private predictions with records and queries that are natural or chosen by an adversary. Here one
record of one teacher is replaced, the teacher is trained again as the workflow trains it, and all
others keep their votes, as shards are disjoint. docs/audit.md tells what is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from private_ensembles.audit.histograms import leading_pairs
from private_ensembles.base.noise_sources import SeededNoise
from private_ensembles.base.streams import generator
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.labels.votes import Votes
from private_ensembles.papers.darrm.law import NoisyMajority
from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.shards import cut_shards
from private_ensembles.training.teachers.accounting import epsilon_group
from private_ensembles.training.teachers.ensemble import train_ensemble
from private_ensembles.training.teachers.sharded_records import ShardedRecords
from private_ensembles.training.teachers.sources import Randomness
from private_ensembles.training.teachers.training import build_training
from private_ensembles.training.teachers.voting import cast_votes
from studies.adversaries.known_pair import attack, pair_epsilon

# A record of this teacher is replaced; shards are random, so that any is as good as another.
TEACHER = 0
# So many labels are drawn at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class AttackedMechanism:
    """A mechanism under attack.

    Attributes:
        mechanism: its name.
        law: how its labels come out of votes.
        parameters: its noise.
        delta: of all labels.
        proven: epsilon at delta of all labels, for one record that is replaced.
    """

    mechanism: str
    law: Law
    parameters: Parameters
    delta: float
    proven: float

    def outcomes(self, counts: NDArray) -> NDArray[np.float64]:
        """Return Pr[outcome] on each query, (queries, outcomes)."""
        return self.law.outcome_distribution(counts, self.parameters)

    def jeffreys_divergences(self, counts: NDArray, others: NDArray) -> NDArray[np.float64]:
        """Return Jeffreys' divergence of each query's outcomes on two lists of votes, (queries,).

        Args:
            counts, others: (queries, classes) int.
        """
        divergences = np.zeros(len(counts))
        differs = (counts != others).any(axis=1)
        if differs.any():
            p, q = self.outcomes(counts[differs]), self.outcomes(others[differs])
            tiny = 1e-300
            divergences[differs] = ((p - q) * np.log((p + tiny) / (q + tiny))).sum(axis=1)
        return divergences


class ReplacingRecord(NamedTuple):
    """What takes a record's place: its index in the shard, an image and a label."""

    index: int
    image: NDArray
    label: int


class Target:
    """One teacher's shard, and its votes on all test images after training on other records."""

    def __init__(
        self,
        dataset: LabelledImages,
        votes: Votes,
        kind: str,
        training: Mapping,
        *,
        seed: int,
        training_seed: int,
        device="cpu",
    ) -> None:
        self.dataset, self.kind, self.device = dataset, kind, device
        self.training = dict(training)
        sharding = self.training.pop("shards", "permutation")
        self.K = votes.n_teachers
        source = generator(seed, dataset.name, "shards", self.K, training_seed)
        shards = cut_shards(sharding, dataset.train_images, dataset.train_labels, self.K, source)
        self.shard = shards[TEACHER]
        self.seed, self.path = seed, (dataset.name, training_seed)
        self.others = votes.histogram() - self._one_hot(votes.votes[:, TEACHER])
        self.own_votes = self.retrain(None)

    def retrain(
        self,
        record: ReplacingRecord | None,
        *stream: int | str,
        queries: slice | list = slice(None),
    ) -> NDArray[np.int64]:
        """Return the teacher's votes after one training.

        Args:
            record: what takes a record's place; None: nothing.
            *stream: names of other streams of the training's weights, batches and noise; none: the
                workflow's own.
            queries: which test images it votes on.

        Returns:
            (queries,) int.
        """
        images = self.dataset.train_images[self.shard].copy()
        labels = self.dataset.train_labels[self.shard].copy()
        if record is not None:
            images[record.index], labels[record.index] = record.image, record.label
        records = ShardedRecords(
            images,
            labels,
            [np.arange(len(labels))] * self.K,
            self.dataset.pixel_max,
            self.dataset.n_classes,
        )
        randomness = Randomness(self.seed, (*self.path, *stream))
        states = train_ensemble(
            self.kind, records, self.training, randomness, members=[TEACHER], device=self.device
        )
        return cast_votes(
            states,
            self.dataset.test_images[queries],
            model=self.training.get("model", "darrm_cnn"),
            pixel_max=self.dataset.pixel_max,
            n_classes=self.dataset.n_classes,
            device=self.device,
        )[:, 0].astype(np.int64)

    def count_votes(self, votes: NDArray) -> NDArray[np.int64]:
        """Return all votes, (queries, classes), if the teacher votes like this."""
        return self.others + self._one_hot(votes)

    def _one_hot(self, votes: NDArray) -> NDArray[np.int64]:
        return np.eye(self.dataset.n_classes, dtype=np.int64)[votes]


def natural_records(
    target: Target, number: int, source: np.random.Generator
) -> list[ReplacingRecord]:
    """Return real records: the last test images, which no query is."""
    data = target.dataset
    indices = source.choice(len(target.shard), number, replace=False)
    parts = zip(indices, data.test_images[-number:], data.test_labels[-number:], strict=True)
    return [ReplacingRecord(*part) for part in parts]


def poisoned_records(
    target: Target, number: int
) -> tuple[list[ReplacingRecord], NDArray[np.int64]]:
    """Return mislabelled records, and which queries their images are.

    The images are the queries on which the other teachers are closest to a tie, and the label is
    one of the two classes in front: the one that the teacher does not vote for.
    """
    pool = target.others[:-number]
    order = np.argsort(-pool, axis=1, kind="stable")
    leads = np.take_along_axis(pool, order, axis=1)
    closest = np.argsort(leads[:, 0] - leads[:, 1], kind="stable")[:number]
    front = order[closest, :2]
    labels = np.where(front[:, 0] == target.own_votes[closest], front[:, 1], front[:, 0])
    images = target.dataset.test_images[closest]
    records = [
        ReplacingRecord(0, image, label) for image, label in zip(images, labels, strict=True)
    ]
    return records, closest


def choose_queries(
    divergences: Sequence[NDArray], random_queries: NDArray[np.int64], queries: int
) -> Iterator[tuple[str, int, NDArray[np.int64]]]:
    """Yield the record that differs most, for each way in which queries are chosen.

    Args:
        divergences: for each record, what each query tells, (pool,).
        random_queries: indices of queries drawn at random.
        queries: how many are chosen.

    Yields:
        How queries are chosen (given, chosen, or repeated), which record, and which queries.
    """
    ways: dict[str, Callable[[NDArray], NDArray]] = {
        "given": lambda by_query: random_queries,
        "chosen": lambda by_query: np.argsort(-by_query, kind="stable")[:queries],
        "repeated": lambda by_query: np.full(queries, np.argmax(by_query)),
    }
    for name, way in ways.items():
        chosen = [way(by_query) for by_query in divergences]
        sums = [by_query[index].sum() for by_query, index in zip(divergences, chosen, strict=True)]
        best = int(np.argmax(sums))
        yield name, best, chosen[best]


def worst_votes(
    setting: AttackedMechanism, n_teachers: int, n_classes: int
) -> tuple[NDArray, NDArray]:
    """Return the histograms one vote apart, (1, classes), of `leading_pairs` that differ most."""
    rows, pairs = leading_pairs(n_teachers, n_classes)
    first, second = rows[pairs[:, 0]], rows[pairs[:, 1]]
    best = int(np.argmax(setting.jeffreys_divergences(first, second)))
    return first[[best]], second[[best]]


def draw_log_likelihood_ratios(
    setting: AttackedMechanism, here: NDArray, there: NDArray, runs: int, sources: Sequence
) -> list[NDArray[np.float64]]:
    """Return the log-likelihood ratios of all labels of `runs` releases from either votes.

    Args:
        setting: the mechanism.
        here, there: counts, (queries, classes) int. Queries on which they agree tell nothing and
            are not drawn.
        runs: number of releases.
        sources: a generator for each side.

    Returns:
        For each side, (runs,).
    """
    differs = (here != there).any(axis=1)
    here, there = here[differs], there[differs]
    if not len(here):
        return [np.zeros(runs), np.zeros(runs)]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(setting.outcomes(here)) - np.log(setting.outcomes(there))
    first = int(setting.law.may_abstain)  # no answer, -1, is the first outcome
    sides = []
    for counts, source in zip((here, there), sources, strict=True):
        total = np.empty(runs)
        size = max(1, _AT_ONCE // len(counts))
        for start in range(0, runs, size):
            number = min(size, runs - start)
            repeated_counts = np.tile(counts, (number, 1))
            labels = setting.law.draw(repeated_counts, setting.parameters, SeededNoise(source))
            labels = np.asarray(labels, dtype=np.int64).reshape(number, len(counts)) + first
            total[start : start + number] = ratios[np.arange(len(counts)), labels].sum(axis=1)
        sides.append(total)
    return sides


def pate_settings(settings: Mapping, queries: int, n_classes: int) -> list[AttackedMechanism]:
    """Return GNMax and Confident-GNMax with the noise of one of PATE's tasks.

    They are proven for labels whose queries an adversary chooses after seeing all labels so far
    (docs/many-labels.md).

    Args:
        settings: K, delta, confident (threshold, sigma1, sigma2).
        queries: number of labels.
        n_classes: number of classes.
    """
    noise = settings["confident"]
    size = {"n_teachers": settings["K"], "n_classes": n_classes}
    checked = CheckedNoise(
        noise["threshold"], noise["sigma1"], noise["sigma2"], queries, queries, **size
    )
    mechanisms = []
    for name, parameters in (
        ("gnmax", replace(checked.label_noise, **size)),
        ("confident_gnmax", checked),
    ):
        exact = load_mechanism(f"{name}_exact")
        task = Task(
            Ensemble(settings["K"], n_classes), Budget(1.0, settings["delta"]), Wanted(queries)
        )
        proven = exact.cost(task, parameters).proven
        mechanisms.append(AttackedMechanism(name, exact.law, parameters, settings["delta"], proven))
    return mechanisms


def darrm_setting(
    settings: Mapping, gamma: NDArray, queries: int, records: int
) -> AttackedMechanism:
    """Return DaRRM's labels of private teachers, K of them on disjoint shards.

    A record reaches one teacher, of which all labels are post-processing: they cost what replacing
    a record costs one teacher, however many they are.

    Args:
        settings: K, m, epsilon, Delta, delta_gamma, training.
        gamma: the noise function, (K + 1,).
        queries: number of labels.
        records: of the teacher's shard.
    """
    training_settings = {
        key: value for key, value in settings["training"].items() if key not in ("model", "shards")
    }
    training = build_training("private", training_settings)
    plan = training.schedule(records)
    proven = epsilon_group(
        training.noise_multiplier, plan.sample_rate, plan.steps, settings["Delta"]
    )
    parameters = NoisyMajority(
        settings["m"],
        queries,
        settings["K"],
        settings["delta_gamma"],
        settings["epsilon"],
        settings["Delta"],
        gamma=np.asarray(gamma),
    )
    return AttackedMechanism(
        "darrm_opt", load_mechanism("darrm_opt").law, parameters, settings["Delta"], proven
    )


@dataclass(frozen=True)
class Attacks:
    """Attacks on mechanisms of one ensemble, from natural records to a teacher that is free."""

    target: Target
    settings: Mapping
    seed: int

    def run_attacks(self, mechanisms: Sequence[AttackedMechanism], known: str) -> list[dict]:
        """Return a row for each mechanism and adversary.

        Args:
            mechanisms: those that are attacked.
            known: what of the training is known, everything or noise.

        Raises:
            ValueError: the pool has too few queries.
        """
        target, number, queries = self.target, self.settings["records"], self.settings["queries"]
        name = target.dataset.name
        pool = len(target.others) - number
        if queries > pool:
            raise ValueError(f"queries = {queries}: {name} has only {pool} to ask")
        random_queries = generator(self.seed, "adversaries", name, "queries").choice(
            pool, queries, replace=False
        )
        source = generator(self.seed, "adversaries", name, "records")
        records_by_kind = {
            "natural": natural_records(target, number, source),
            "poisoned": poisoned_records(target, number)[0],
        }
        before = target.count_votes(target.own_votes)[:pool]
        after = {
            kind: [target.count_votes(target.retrain(record))[:pool] for record in records]
            for kind, records in records_by_kind.items()
        }
        rows = []
        for setting in mechanisms:
            for kind, neighbours in after.items():
                divergences = [setting.jeffreys_divergences(before, votes) for votes in neighbours]
                for way, best, index in choose_queries(divergences, random_queries, queries):
                    pair = before[index], neighbours[best][index]
                    rows.append(self._attack_row(setting, kind, way, known, *pair))
            worst = worst_votes(setting, target.K, target.dataset.n_classes)
            pair = [np.repeat(counts, queries, axis=0) for counts in worst]
            rows.append(self._attack_row(setting, "teacher", "repeated", known, *pair))
        return rows

    def attack_hidden_training(self, setting: AttackedMechanism) -> dict:
        """Return the row of a poisoned record if the noise of DP-SGD is unknown, too.

        The teacher is trained again and again with and without the record. The query is the
        record's own image, again and again, and labels that say what the record says are counted;
        how many are taken as a sign is fixed by the votes of all others.
        """
        target, queries = self.target, self.settings["queries"]
        records, places = poisoned_records(target, 1 + self.settings["records"])
        record, query = records[0], int(places[0])
        label = int(record.label)
        path = "adversaries", target.dataset.name, setting.mechanism, "hidden"
        ones = np.eye(2, dtype=np.int64)
        probabilities = setting.outcomes(target.others[query] + ones)[:, label]
        counts_by_side = []
        for side, replaced in enumerate((record, None)):
            counts_of_side = []
            for run in range(self.settings["retrainings"]):
                vote = target.retrain(replaced, "adversary", side, run, queries=[query])[0]
                counts = np.tile(target.others[query] + ones[vote], (queries, 1))
                noise = SeededNoise(generator(self.seed, *path, side, run))
                drawn = setting.law.draw(counts, setting.parameters, noise)
                counts_of_side.append(int((np.asarray(drawn) == label).sum()))
            counts_by_side.append(counts_of_side)
        result = attack(
            counts_by_side[0],
            counts_by_side[1],
            setting.delta,
            threshold=queries * float(probabilities.mean()),
            confidence=self.settings["row_confidence"],
        )
        return self._describe_attack(setting, "poisoned", "repeated", "nothing", result) | {
            "moved_votes": None,
            "exact_epsilon": None,
            "proven_epsilon": setting.proven,
        }

    def _attack_row(
        self,
        setting: AttackedMechanism,
        record: str,
        way: str,
        known_training: str,
        here: NDArray,
        there: NDArray,
    ) -> dict:
        path = "adversaries", self.target.dataset.name, setting.mechanism, record, way
        sources = [generator(self.seed, *path, side) for side in range(2)]
        first, second = draw_log_likelihood_ratios(
            setting, here, there, self.settings["draws"], sources
        )
        result = attack(first, second, setting.delta, confidence=self.settings["row_confidence"])
        errors = setting.law.numerical_error(int(here[0].sum()), here.shape[1], setting.parameters)
        exact = pair_epsilon(
            setting.outcomes(here), setting.outcomes(there), setting.delta, **errors
        )
        # A teacher's vote is a certainty if DP-SGD's noise is known, and nothing is proven of it.
        proven = setting.proven if known_training == "everything" else None
        return self._describe_attack(setting, record, way, known_training, result) | {
            "moved_votes": int((here != there).any(axis=1).sum()),
            "exact_epsilon": exact,
            "proven_epsilon": proven,
        }

    def _describe_attack(
        self, setting: AttackedMechanism, record: str, way: str, known_training: str, result
    ) -> dict:
        return {
            "dataset": self.target.dataset.name,
            "stand_in": self.target.dataset.stand_in,
            "mechanism": setting.mechanism,
            "teachers": self.target.K,
            "record": record,
            "queries_are": way,
            "training_known": known_training,
            "queries": self.settings["queries"],
            "delta": setting.delta,
            "observed_lower": result.lower,
            "observed": result.point,
            "observed_upper": result.upper,
            "successes": f"{result.successes[0]}, {result.successes[1]}",
            "runs": result.runs,
        }


def attack_ensembles(
    plain: tuple[Target, Mapping] | None,
    private: tuple[Target, Mapping, NDArray] | None,
    settings: Mapping,
    seed: int,
    progress: Callable[[str], None] = lambda line: None,
) -> pd.DataFrame:
    """Attack PATE's plain teachers, and DaRRM's private ones, by every adversary.

    Args:
        plain: the teacher that is attacked, and K, delta and confident of its task.
        private: the same of DaRRM; K, m, epsilon, Delta, delta_gamma and training; and gamma.
        settings: queries, records, retrainings, draws, confidence (of all rows together).
        seed: of all streams.
        progress: called with what is done.

    Returns:
        A row for each mechanism and adversary. record: natural, poisoned, or the whole teacher.
        queries_are: given, chosen, or one that is repeated. training_known: everything (plain
        teachers have no noise of their own), noise (DP-SGD's, too), or nothing. observed_lower and
        observed_upper hold for all rows at once with `confidence`. exact_epsilon: of this pair of
        votes; proven_epsilon: of the mechanism, for any. The table is not for release: it depends
        on votes without noise.
    """
    mechanisms = 2 * (plain is not None) + (private is not None)
    number = 7 * mechanisms + (private is not None)
    share = (1 - settings["confidence"]) / (2 * number)  # two ends for each
    settings = dict(settings) | {"row_confidence": 1 - share}
    rows = []
    if plain is not None:
        target, task = plain
        attacks = Attacks(target, settings, seed)
        mechanisms_of_pate = pate_settings(task, settings["queries"], target.dataset.n_classes)
        rows += attacks.run_attacks(mechanisms_of_pate, "everything")
        progress("plain teachers are done")
    if private is not None:
        target, task, gamma = private
        attacks = Attacks(target, settings, seed)
        setting = darrm_setting(task, gamma, settings["queries"], len(target.shard))
        rows += attacks.run_attacks([setting], "noise")
        rows.append(attacks.attack_hidden_training(setting))
    table = pd.DataFrame(rows)
    last_columns = {
        name: table.pop(name) for name in ("moved_votes", "exact_epsilon", "proven_epsilon")
    }
    table["moved_votes"] = last_columns["moved_votes"].astype("Int64")
    table["exact_epsilon"], table["proven_epsilon"] = (
        last_columns["exact_epsilon"],
        last_columns["proven_epsilon"],
    )
    table["share_of_proven"] = table["exact_epsilon"] / table["proven_epsilon"]
    table["confidence"] = settings["confidence"]
    return table
