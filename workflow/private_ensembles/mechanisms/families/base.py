"""A mechanism: its facts, what it costs, how likely each label is, and how to draw one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.limits import check_size
from private_ensembles.mechanisms.families.audited import Audited, OnCounts
from private_ensembles.mechanisms.families.task import ADJACENCIES, Budget, Task
from private_ensembles.noise.sources import Secure, Seeded
from private_ensembles.votes.cache import Votes

Source = Seeded | Secure
# With fewer labels each may cost more: with many classes, more of them may be right in total.
CAP = {"cap": (0.02, 1.0)}


@dataclass(frozen=True)
class Parameters:
    """What a mechanism was calibrated to; labels: how many queries it answers at most.

    continuous: the proof covers continuous noise only, so that labels drawn from discrete noise
    are not released (`Mechanism.secure_refusal`). n_teachers: of the task that it was calibrated
    for; None if it was given.
    """

    continuous: bool = field(default=False, kw_only=True, repr=False)
    n_teachers: int | None = field(default=None, kw_only=True, repr=False, compare=False)

    def for_labels(self, labels: int) -> Parameters:
        """Return the same noise for other numbers of labels; for fewer it costs no more."""
        return replace(self, labels=labels)

    def shown(self) -> dict[str, float]:
        """Return what a table says of the parameters; None and arrays are left out."""
        given = asdict(self)
        del given["continuous"], given["n_teachers"]
        return {key: one for key, one in given.items() if one is not None and np.ndim(one) == 0}


@dataclass(frozen=True)
class Cost:
    """Total epsilon of all labels at the task's delta, upper bounds.

    claimed: by the mechanism's own analysis. proven: the least that this package proves.
    """

    claimed: float
    proven: float


def require_counts(counts: NDArray, parameters: Parameters) -> NDArray[np.int64]:
    """Return counts of votes of the teachers that the parameters are for; ValueError for others.

    An ensemble of as many teachers passes or fails whatever its votes: rows of others, or with too
    many teachers for any sampler, are no counts of it.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        kind = f"{counts.dtype} {counts.shape}"
        raise ValueError(f"counts: {kind}: must be integers (queries, classes)")
    if counts.min() < 0:
        raise ValueError("counts: must be numbers of votes, at least 0")
    sums = counts.sum(axis=1, dtype=np.int64)
    wanted = sums[0] if parameters.n_teachers is None else parameters.n_teachers
    if (sums != wanted).any():
        raise ValueError(
            f"counts: rows add up to {sums.min()} to {sums.max()}: must add up to the {wanted} "
            "teachers for which the noise was found"
        )
    check_size(int(wanted), counts.shape[1])
    return counts.astype(np.int64)


class Mechanism(ABC):
    """One way to answer queries from vote counts, with parameters that keep a budget.

    Facts. name: also that of its file. order: its place in lists. family, analysis: mechanisms that
    differ only in how their noise is found share a family; analyses in `ANALYSES`. teachers: whose
    votes, "plain" or "private". privacy_models, adjacencies: for which its guarantee can be stated.
    n_classes: 2 if it serves two classes only. releasable: its labels may leave the workflow.
    data_dependent: its published cost is itself a function of the votes. proof: page#anchor in docs
    that proves its claim. color: the colour that it has in figures. aggregator: place among PATE's
    aggregators, whose noise its configuration gives. keeps_budget: its noise can be found for a
    budget. free: names of what `calibrate` takes beside the task, each with the range from which
    the planner chooses. hides_votes: the privacy comes from noise on the votes (and can be audited
    on their histograms), not from the teachers. costs_once: any number of labels costs the same.

    Every parameter setting that `calibrate` returns is proven to cost at most the task's epsilon at
    its delta for all labels together, whatever the votes: nothing in it looks at votes.
    """

    name: str
    label: str
    paper: str
    source: str
    order: int
    proof: str
    color: str
    family: str = ""
    analysis: str = "paper"
    teachers: str = "plain"
    privacy_models: frozenset[str] = frozenset({"disjoint_shards"})
    adjacencies: frozenset[str] = ADJACENCIES
    n_classes: int | None = None
    releasable: bool = True
    data_dependent: bool = False
    aggregator: int | None = None
    keeps_budget: bool = True
    hides_votes: bool = True
    costs_once: bool = False
    free: Mapping[str, tuple[float, float]] = {}

    def require(self, privacy_model: str, adjacency: str) -> None:
        """Raise ValueError unless the guarantee covers the privacy model and the adjacency."""
        for what, value, allowed in (
            ("privacy_model", privacy_model, self.privacy_models),
            ("adjacency", adjacency, self.adjacencies),
        ):
            if value not in allowed:
                names = ", ".join(sorted(allowed))
                raise ValueError(f"{what} = {value!r}: must be one of {names} for {self.name}")

    def refusal(self, task: Task) -> str | None:
        """Return why the mechanism does not apply to the task, or None if it does."""
        if not self.releasable:
            return "its privacy claim is false, so its labels are not released"
        if not self.keeps_budget:
            return "its noise is given in the configuration, not found for a budget"
        if task.privacy_model not in self.privacy_models:
            return f"private for {', '.join(sorted(self.privacy_models))} only"
        if task.adjacency not in self.adjacencies:
            return f"private for {', '.join(sorted(self.adjacencies))} only"
        if self.teachers == "private" and task.teacher_epsilon is None:
            return "needs teachers that are private themselves (teacher_epsilon)"
        return self.further_refusal(task)

    def further_refusal(self, task: Task) -> str | None:
        """Return what else rules the task out, beyond the facts above: first, other classes."""
        if self.n_classes == 2 and task.n_classes != 2:
            return "for two classes only"
        return None

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Return parameters with which all labels together cost at most the budget.

        Raises TypeError for an argument that is not in `free`, and ValueError for one below 0 or
        above its range there.
        """
        labels, free = self.given(task, free)
        return replace(self.find(task, labels, **free), n_teachers=int(task.n_teachers))

    def guess(self, task: Task, **free: float) -> Parameters:
        """Return about what `calibrate` does, for a search that asks often."""
        return self.calibrate(task, **free)

    def given(self, task: Task, free: Mapping[str, float]) -> tuple[int, dict[str, float]]:
        """Return how many labels the cap leaves, and all other arguments; raises as `calibrate`."""
        unknown = sorted(set(free) - set(self.free))
        if unknown:
            known = ", ".join(self.free) or "none"
            raise TypeError(f"{self.name}: calibrate takes {known}, not {', '.join(unknown)}")
        for key, value in free.items():
            high = self.free[key][1]
            if not 0 <= value <= high:
                raise ValueError(f"{self.name}: {key} = {value}: must be in [0, {high}]")
        others = {key: value for key, value in free.items() if key != "cap"}
        cap = free.get("cap", 1.0)
        return max(1, min(task.labels, round(cap * task.labels))), others

    def searched(self, task: Task) -> tuple[str, ...]:
        """Return the names in `free` that a planner chooses for the task: all of them."""
        return tuple(self.free)

    def find(self, task: Task, labels: int, **free: float) -> Parameters:
        """Return `calibrate`'s parameters for that many labels; free: without `cap`."""
        raise ValueError(f"{self.name}: its noise is given, not found for a budget")

    @abstractmethod
    def cost(self, task: Task, parameters: Parameters) -> Cost:
        """Return what the labels cost together at the task's delta."""

    @abstractmethod
    def distribution(
        self, counts: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with class j], (queries, classes).

        counts: (queries, classes), each row adding up to the teachers. secure: whether labels are
        drawn from secure noise, which is discrete. Rows add up to at most 1. Limits on how many
        queries are looked at are left to `expected`.
        """

    def error(
        self, n_teachers: int, n_classes: int, parameters: Parameters, secure: bool = False
    ) -> dict[str, float]:
        """Return relative_error and absolute_error of `outcomes`."""
        return {"relative_error": 1e-10, "absolute_error": 1e-300}

    def outcomes(
        self, counts: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[outcome] of all outcomes of a query, as `outcome_names` lists them."""
        return self.distribution(counts, parameters, secure)

    def outcome_names(self, n_classes: int) -> tuple[int, ...]:
        """Return the outcomes of a query: labels, and -1 for no answer if there can be none."""
        return tuple(range(n_classes))

    def law(self, parameters: Parameters) -> tuple[str, float | Fraction] | None:
        """Return the closed form that two classes have, as certificates name it, and its scale."""
        return None

    @abstractmethod
    def sample(self, counts: NDArray, parameters: Parameters, noise: Source) -> NDArray[np.int64]:
        """Draw one outcome per query, (queries,), however many labels are paid for."""

    def release(self, counts: NDArray, parameters: Parameters, noise: Source) -> NDArray[np.int64]:
        """Release one label for each of the first `labels` queries, -1 if there is no answer.

        counts: (queries, classes), whole numbers >= 0; each row adds up to the teachers for which
        the parameters were calibrated. Whatever they are beyond that, labels are drawn. Raises
        ValueError for other counts, and for secure noise of which the parameters prove nothing.
        """
        counts = require_counts(counts, parameters)
        self.require_proof(parameters, counts.shape[1], secure=noise.secure)
        return self.capped(counts, parameters, noise)

    def require_proof(self, parameters: Parameters, n_classes: int, *, secure: bool) -> None:
        """Raise ValueError if labels would be drawn from noise of which nothing is proven."""
        reason = self.secure_refusal(parameters, n_classes) if secure else None
        if reason:
            raise ValueError(f"noise = secure: {self.name} {reason}")

    def secure_refusal(self, parameters: Parameters, n_classes: int) -> str | None:
        """Return why secure noise at these parameters proves nothing, or None if it does."""
        if not self.releasable:
            return "has a false privacy claim, so its labels are not released"
        if parameters.continuous:
            return "was calibrated for continuous noise: calibrate it for a task with secure=True"
        return None

    def answer(self, votes: Votes, parameters: Parameters, noise: Source) -> NDArray[np.int64]:
        """Draw one outcome per query of an ensemble, (queries,), however many are paid for.

        What is drawn once for all queries, such as a committee, is drawn here.
        """
        return self.sample(votes.histogram(), parameters, noise)

    def release_votes(
        self, votes: Votes, parameters: Parameters, noise: Source
    ) -> NDArray[np.int64]:
        """Do what `release` does, given the votes of an ensemble."""
        return self.release(votes.histogram(), parameters, noise)

    def capped(self, counts: NDArray, parameters: Parameters, noise: Source) -> NDArray[np.int64]:
        """Draw what `release` releases: `sample`, stopped at the caps."""
        labels = np.array(self.sample(counts, parameters, noise), dtype=np.int64)
        labels[int(parameters.labels) :] = -1
        return labels

    @abstractmethod
    def weaker(self, parameters: Parameters, factor: float) -> Parameters:
        """Return the same with less noise, factor < 1 of it: a twin that the audit must catch."""

    def neighbours(self, n_teachers: int, parameters: Parameters) -> NDArray[np.int64] | None:
        """Return pairs of counts of ones between which one record moves; None: by one vote."""
        return None

    def audited(self, task: Task, parameters: Parameters) -> Audited:
        """Return one label as the exact audit sees it."""
        size = task.n_teachers, task.n_classes
        return OnCounts(self, parameters, *size, secure=task.secure)

    # What the planner and own votes ask.

    def expected(
        self, counts: NDArray, labels: NDArray, task: Task, parameters: Parameters
    ) -> tuple[float, float]:
        """Return the expected numbers of answers and of right ones over the task's pool.

        counts: (some queries, classes), a sample of the pool or all of it, in random order; labels:
        their truth. A mechanism that answers every query answers as many as its parameter `labels`.
        """
        asked, answers = parameters.labels, 1.0
        if -1 in self.outcome_names(task.n_classes):
            answers = self.distribution(counts, parameters, task.secure).sum(axis=1).mean()
        right = self.right(counts, labels, parameters, task.secure).mean()
        return float(answers * asked), float(right * asked)

    def right(
        self, counts: NDArray, labels: NDArray, parameters: Parameters, secure: bool = False
    ) -> NDArray[np.float64]:
        """Return Pr[a query is answered with its label], (queries,), entries of `distribution`."""
        return self.distribution(counts, parameters, secure)[np.arange(len(labels)), labels]

    def search_score(
        self, counts: NDArray, labels: NDArray, task: Task
    ) -> Callable[[Parameters], float]:
        """Return the expected right labels as a function of parameters, for a search."""
        return lambda parameters: self.expected(counts, labels, task, parameters)[1]

    # What the papers' sections ask.

    def terms(self, budget: Budget) -> Task:
        """Return the one label of two classes that the budget pays for, and in which model."""
        given = (budget.epsilon, budget.delta, 1, 1, budget.K, 2)
        return Task(*given, secure=budget.secure)

    def for_budget(self, budget: Budget, found: Mapping) -> Parameters:
        """Return the parameters of one label within the budget.

        found: what other jobs have found for it: gamma, the optimised one, and GNMax's sigmas by
        quantity, as `search_gnmax_sigma` writes them. What is missing is calibrated here.
        """
        return self.calibrate(self.terms(budget))

    def at_noise(self, noise: Mapping, n_classes: int) -> Parameters | None:
        """Return the parameters that a task of PATE gives; None if it gives none.

        noise: a task's sections, and student_score.
        """
        return None

    def cost_at_noise(self, task: Task, parameters: Parameters) -> Cost:
        """Return the cost at given noise: as the paper claims it, and as it is proven."""
        return self.cost(task, parameters)

    def audited_bound(self, task: Task, parameters: Parameters) -> float:
        """Return an epsilon that one label has, for teachers as private as the task says."""
        return self.cost(task, parameters).proven

    def printed_totals(self, task: Mapping, secure: bool = False) -> dict[str, tuple[int, float]]:
        """Return queries and proven total epsilon of a task, by row of PATE's Table 1.

        None of what has no account for secure noise.
        """
        return {}
