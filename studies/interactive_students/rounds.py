"""PATE's two rounds with a real student in between, beside one round at the same total cost.

Both ways ask the same queries with the same noise and stop after the same number of answers. Every
check has sensitivity 1 and every label that of a vote, whatever was released before, so that both
cost the same, whatever the votes (docs/pate.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from private_ensembles.accounting.composition import rdp_to_dp
from private_ensembles.base.noise_sources import NoiseSource, SecureNoise, SeededNoise
from private_ensembles.base.secure import check_mode
from private_ensembles.base.streams import generator
from private_ensembles.labels.histograms import check_counts
from private_ensembles.labels.laws.checked import CheckedNoise, apply_caps, check_and_label
from private_ensembles.labels.laws.gaussian import WHOLE
from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.labels.thresholds import (
    NO_ANSWER,
    check_confidence,
    check_scores,
    largest_disagreement,
)
from private_ensembles.papers.common.students import run_student
from private_ensembles.papers.pate.experiment import noise_of
from private_ensembles.papers.pate.mathematics.rounds import (
    Round,
    confident_round,
    interactive_round,
    worst_case_epsilon,
)
from private_ensembles.papers.pate.orders import order_grid

Released = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Repetition:
    """One of the trainings of a task's students, and where its randomness comes from.

    Attributes:
        task: its name.
        student_seed: which training.
        seed: of all streams.
        noise: of the labels, ``reproducible`` or ``secure``.

    Raises:
        ValueError: the noise is another.
    """

    task: str
    student_seed: int
    seed: int
    noise: str = "reproducible"

    def __post_init__(self) -> None:
        check_mode(self.noise)

    def noise_source(self) -> NoiseSource:
        """Return the source of the second round's noise."""
        if check_mode(self.noise) == "secure":
            return SecureNoise()
        return SeededNoise(
            generator(self.seed, self.task, "noise", "interactive", self.student_seed)
        )


def train_interactive_students(
    inputs: Mapping[str, np.ndarray],
    facts: Mapping[str, int],
    counts: np.ndarray,
    bought: Released,
    settings: Mapping,
    repetition: Repetition,
    *,
    checkpoint: str | None = None,
    **conditions,
) -> pd.DataFrame:
    """Train a student on a first round's labels, ask a second with its scores, train again.

    Args:
        inputs, facts: of `papers.common.students.read_inputs`.
        counts: the pool's votes, (pool, classes) int, which only the second round's mechanism and
            the accounts see.
        bought: queries and labels of Confident-GNMax, of which the first round is the beginning.
        settings: delta, confident, answer_cap, orders, first_share, threshold, confidence, student
            (of `papers.common.students.run_student`).
        repetition: which training, and its randomness.
        checkpoint: start of the files that killed trainings go on from.
        **conditions: other keywords of `training.student.training.Conditions`, except for `path`
            and `observe`.

    Returns:
        One row for each of `first` (round one alone), `interactive` (both rounds) and `confident`
        (all of `bought`): task, student_seed, aggregator, asked, answered (by teachers), reinforced
        (labels that the first student gave itself), right (of all labels), epsilon (as published:
        expected, one direction), certain_epsilon (at the caps, whatever the votes), and the
        student's accuracy, correct, evaluated.

    Raises:
        ValueError: as `run_student` raises it.
    """
    queries, labels = bought
    n_first = first_round_size(len(queries), settings["first_share"])
    task, student_seed = repetition.task, repetition.student_seed
    common_options = {"seed": repetition.seed, "watched": False, **conditions}

    def student_of(name: str, released: Released):
        own_options = {"path": (task, "interactive students", name, student_seed)}
        if checkpoint is not None:
            own_options["checkpoint"] = f"{checkpoint}.{name}.pt"
        return run_student(
            inputs, facts, released, settings["student"], **own_options, **common_options
        )[:2]

    first_round = queries[:n_first], labels[:n_first]
    first_student, first_summary = student_of("first", first_round)
    later_queries = queries[n_first:]
    # The scores depend on released labels and public images only, and therefore are public.
    scores = first_student.scores(inputs["test"][later_queries])
    answers, reinforced = release_second_round(
        counts[later_queries],
        scores,
        settings,
        answered=int((first_round[1] >= 0).sum()),
        source=repetition.noise_source(),
    )
    both_rounds = queries, np.concatenate([first_round[1], answers])
    _, both_summary = student_of("interactive", both_rounds)
    _, confident_summary = student_of("confident", bought)

    check = noise_of(settings["confident"])
    noise = repetition.noise
    round_one = confident_round(counts[first_round[0]], **check, noise=noise)
    check_later = check | {"threshold": settings["threshold"]}
    round_two = interactive_round(counts[later_queries], scores, **check_later, noise=noise)
    single_round = confident_round(counts[queries], **check, noise=noise)
    costs = {
        "first": [round_one],
        "interactive": [round_one, round_two],
        "confident": [single_round],
    }
    summaries = {
        "first": (first_round, first_summary),
        "interactive": (both_rounds, both_summary),
        "confident": (bought, confident_summary),
    }
    rows = []
    for name, ((asked, released), summary) in summaries.items():
        reinforced_count = int(reinforced.sum()) if name == "interactive" else 0
        rows.append(
            {
                "task": task,
                "student_seed": student_seed,
                "aggregator": name,
                "asked": len(asked),
                "answered": summary["labels"] - reinforced_count,
                "reinforced": reinforced_count,
                "right": int((released == inputs["test_labels"][asked]).sum()),
                "epsilon": expected_epsilon(costs[name], settings),
                # Both rounds together release no more than one round of all queries does.
                "certain_epsilon": worst_case_epsilon(
                    [round_one if name == "first" else single_round],
                    settings["delta"],
                    answer_cap=settings["answer_cap"],
                ),
                "student_accuracy": summary["accuracy"],
                "student_correct": summary["correct"],
                "student_evaluated": summary["evaluated"],
            }
        )
    return pd.DataFrame(rows).assign(release=NOT_FOR_RELEASE)


def summarise_students(
    rows: pd.DataFrame, tasks: Mapping[str, Mapping[str, object]]
) -> pd.DataFrame:
    """Summarise the rows of `train_interactive_students` over seeds, a row per task and aggregator.

    Args:
        rows: those of all trainings.
        tasks: stand_in and K, by name.

    Returns:
        Numbers are means over seeds; student_accuracy_sd is over seeds.
    """
    rows = rows.rename(columns={"student_seed": "student_seeds"})
    groups = rows.drop(columns="release").groupby(["task", "aggregator"], sort=False)
    table = groups.mean()
    table["student_seeds"] = groups.size()
    column = table.columns.get_loc("student_accuracy") + 1
    table.insert(column, "student_accuracy_sd", groups["student_accuracy"].std())
    table = table.reset_index()
    for name, key in (("teachers", "K"), ("stand_in", "stand_in")):
        table.insert(1, name, [tasks[task][key] for task in table["task"]])
    return table.assign(release=NOT_FOR_RELEASE)


def first_round_size(queries: int, share: float) -> int:
    """Return how many queries the first round asks: their share, rounded, each round at least 1."""
    return min(max(round(queries * share), 1), queries - 1)


def release_second_round(
    counts: np.ndarray,
    scores: np.ndarray,
    settings: Mapping,
    *,
    answered: int,
    source: NoiseSource,
) -> Released:
    """Ask the later queries of Interactive-GNMax.

    Args:
        counts: (queries, classes) int.
        scores: the student's, (queries, classes).
        settings: confident, threshold, confidence, answer_cap.
        answered: labels of the first round, which count against the cap.
        source: of the noise.

    Returns:
        Labels, (queries,), -1 for none, and which are the student's own, (queries,) bool.
    """
    cap = settings["answer_cap"]
    noise = noise_of(settings["confident"]) | {"threshold": settings["threshold"]}
    return interactive_gnmax(
        counts,
        scores,
        settings["confidence"],
        CheckedNoise(**noise),
        source,
        answer_cap=None if cap is None else cap - answered,
    )


def interactive_gnmax(
    counts: ArrayLike,
    scores: ArrayLike,
    confidence: float,
    noise: CheckedNoise,
    source: NoiseSource,
    *,
    answer_cap: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Release labels by Interactive-GNMax.

    With M teachers, a query is answered by GNMax with sigma2 if max_j (n_j - M p_j) + N(0,
    sigma1^2) >= threshold; otherwise the student's own label is reinforced if max_j p_j >
    confidence; otherwise there is no answer. One teacher changes max_j (n_j - M p_j) by at most 1,
    so the cost is Confident-GNMax's. After answer_cap answers of the teachers the mechanism stops:
    a reinforced label has looked at votes for the threshold alone. The caps of `noise` are not
    looked at. Secure noise is whole, so M p_j is rounded to a whole number there, which is public
    as well.

    Args:
        counts: (queries, classes) int.
        scores: the student's p, (queries, classes), rows summing to 1; public, as the student is
            trained on released labels only.
        confidence: score above which the student's label is reinforced.
        noise: threshold, sigma1 and sigma2, in votes.
        source: of the noise.
        answer_cap: the most answers of the teachers; None for no limit.

    Returns:
        Labels and reinforced, both (queries,).

    Raises:
        ValueError: scores, confidence, a threshold, sigma or cap is out of range, or as
            `check_counts` raises it.

    References:
        PATE 2018, Algorithm 2.
    """
    counts = check_counts(counts)
    scores = check_scores(scores, counts)
    confidence = check_confidence(confidence)
    disagreement = largest_disagreement(counts, scores, round_expected=source.secure)
    passed, labels = check_and_label(counts, disagreement, noise, WHOLE, source)
    reinforced = ~passed & (scores.max(axis=1) > confidence)
    labels = np.where(passed, labels, np.where(reinforced, scores.argmax(axis=1), NO_ANSWER))
    labels = apply_caps(labels, passed, None, answer_cap)
    return labels, reinforced & (labels != NO_ANSWER)


def expected_epsilon(rounds: list[Round], settings: Mapping) -> float:
    """Return what rounds cost by the paper: in expectation, one direction, classic conversion."""
    orders = order_grid(settings["orders"])
    cost = sum(part.threshold_rdp(orders) + part.label_rdp(orders) for part in rounds)
    return rdp_to_dp(orders, cost, settings["delta"], "classic")[0]
