"""A mechanism: a law of a label with an account of what labels cost, as the registry pairs them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any

from private_ensembles.audit.divergence import coins_delta
from private_ensembles.audit.histograms import both_counts
from private_ensembles.labels import registry
from private_ensembles.labels.accounts import groups
from private_ensembles.labels.accounts.account import Account, NothingProven
from private_ensembles.labels.laws.checked import ThresholdedLaw
from private_ensembles.labels.laws.law import Law
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.registry import Entry, Guarantee
from private_ensembles.labels.task import Task, Wanted


@dataclass(frozen=True)
class Mechanism:
    """One way to answer queries from vote counts.

    Every parameter setting that `calibrate` returns is proven to cost at most the task's epsilon at
    its delta for all labels together, whatever the votes: nothing in it looks at votes.
    """

    entry: Entry
    law: Law
    account: Account

    @property
    def name(self) -> str:
        """The mechanism's name in the registry."""
        return self.entry.name

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism's privacy claim covers."""
        return self.entry.guarantee

    def refusal(self, task: Task) -> str | None:
        """Return why the mechanism does not apply to the task, or None if it does."""
        entry, guarantee = self.entry, self.guarantee
        if not guarantee.holds:
            return "its privacy claim is false, so its labels are not released"
        if entry.offer is None:
            return "its noise is given in the configuration, not found for a budget"
        if task.protection.privacy_model not in guarantee.privacy_models:
            covered = f"private for {', '.join(sorted(guarantee.privacy_models))} only"
            return guarantee.other_model_refusal or covered
        if task.protection.adjacency not in guarantee.adjacencies:
            return f"private for {', '.join(sorted(guarantee.adjacencies))} only"
        if guarantee.teachers == "private" and task.ensemble.private is None:
            return "needs teachers that are private themselves (teacher_epsilon)"
        if self.law.n_classes == 2 and task.ensemble.classes != 2:
            return "for two classes only"
        if task.protection.reach > 1 and not self.account.covers_groups:
            return "its account is of one vote that moves, not of several"
        if guarantee.hides_votes and (reason := groups.refusal(task)):
            return reason
        if reason := self.account.refusal(self.law, self.charged_task(task)):
            return reason
        return (
            unproven_reason(entry, task.wanted.labels, task.ensemble.classes)
            if task.secure
            else None
        )

    def calibrate(self, task: Task, **free: float) -> Parameters:
        """Return parameters with which all labels together cost at most the budget.

        Args:
            task: Whose budget is to be kept.
            free: Arguments named in the account's `free_parameters`.

        Returns:
            The noise, and for how many labels.

        Raises:
            TypeError: For an argument that is not free.
            ValueError: For one below 0 or above its range, or if no noise is proven for the budget.
        """
        labels, others = self._split_arguments(task, free)
        charged = self.charged_task(task)
        try:
            parameters = self.account.find_noise(
                self.law, charged, min(labels, charged.wanted.labels), **others
            )
        except NothingProven:
            reason = f"no noise of {self.name} is proven to keep the budget"
            raise ValueError(f"noise = secure: {reason}") from None
        parameters = self._cap_at_drawn(parameters, task, labels)
        self.require_bernoulli_within_delta(task, parameters)
        return replace(
            parameters,
            n_teachers=int(task.ensemble.teachers),
            n_classes=int(task.ensemble.classes),
        )

    def guess_parameters(self, task: Task, **free: float) -> Parameters:
        """Return about what `calibrate` does, without a proof, for a search that asks often."""
        labels, others = self._split_arguments(task, free)
        charged = self.charged_task(task)
        parameters = self.account.guess_noise(
            self.law, charged, min(labels, charged.wanted.labels), **others
        )
        return self._cap_at_drawn(parameters, task, labels)

    def count_paid_labels(self, task: Task, **free: float) -> int:
        """Return how many labels `calibrate` pays for at most, so that no more can be correct."""
        return self._split_arguments(task, free)[0]

    def cost(self, task: Task, parameters: Parameters) -> Cost:
        """Return what the labels cost together at the task's delta."""
        return self.account.cost(self.law, *self.charged_task_and_noise(task, parameters))

    def charged_task(self, task: Task) -> Task:
        """Return the task as accounts see it: with the labels that the protected unit can change.

        This is the one place where labels drawn become labels charged. Where teachers vote 1 on few
        queries, the others are the same on both data sets and cost nothing, however many there are.
        That is a theorem on noise that is fresh for each label: if the teachers' own privacy
        protects, all labels are charged.

        References:
            docs/other-labels.md, theorem 4.

        >>> from private_ensembles.labels.task import Budget, Ensemble
        >>> task = Task(Ensemble(50, 2), Budget(1.0, 1e-5), Wanted(28, most_ones=3))
        >>> load_mechanism("gnmax").charged_task(task).wanted.labels
        6
        """
        if not self._charges_fewer(task):
            return task
        queries = task.changed_queries
        return replace(task, wanted=Wanted(min(task.wanted.labels, queries), queries))

    def charged_task_and_noise(self, task: Task, parameters: Parameters) -> tuple[Task, Parameters]:
        """Return the task and the noise, both for the labels that are charged (`charged_task`)."""
        if not self._charges_fewer(task):
            return task, parameters
        labels = int(parameters.labels)
        queries = max(labels, int(getattr(parameters, "queries", task.wanted.queries)))
        charged = self.charged_task(
            replace(task, wanted=Wanted(labels, queries, task.wanted.most_ones))
        )
        return charged, _replace_caps(parameters, charged.wanted.queries, charged.wanted.labels)

    def _charges_fewer(self, task: Task) -> bool:
        """Return whether fewer labels are charged than drawn."""
        return task.wanted.most_ones is not None and self.guarantee.hides_votes

    def _cap_at_drawn(self, parameters: Parameters, task: Task, labels: int) -> Parameters:
        """Return noise that was found for the labels charged, for the labels drawn."""
        return (
            _replace_caps(parameters, task.wanted.queries, labels)
            if self._charges_fewer(task)
            else parameters
        )

    def require_bernoulli_within_delta(self, task: Task, parameters: Parameters) -> None:
        """Raise ValueError if one secure label, drawn as an exact coin, costs more than delta.

        The audit proves the very coin that is drawn, where the law draws coins: parameters that
        another job found may cost more than delta, and so may rounding where delta leaves no room
        for it.
        """
        if (
            self.law.draws_exact_bernoulli
            and task.secure
            and parameters.labels == 1
            and task.ensemble.classes == 2
        ):
            table = self.law.distribution(both_counts(task.ensemble.teachers), parameters)
            spent = coins_delta(table, task.budget.epsilon, task.protection.reach)
            if spent > Decimal(task.budget.delta):
                raise ValueError(
                    f"delta = {task.budget.delta}: must be at least {spent:.17g}, which the "
                    f"coins of {self.name} cost"
                )

    def _split_arguments(
        self, task: Task, free: Mapping[str, float]
    ) -> tuple[int, dict[str, float]]:
        """Return how many labels the cap leaves, and all other free arguments.

        Raises TypeError and ValueError as `calibrate` does.
        """
        allowed = self.account.free_parameters
        unknown = sorted(set(free) - set(allowed))
        if unknown:
            names = ", ".join(allowed) or "none"
            raise TypeError(f"{self.name}: calibrate takes {names}, not {', '.join(unknown)}")
        for key, value in free.items():
            high = allowed[key][1]
            if not 0 <= value <= high:
                raise ValueError(f"{self.name}: {key} = {value}: must be in [0, {high}]")
        others = {key: value for key, value in free.items() if key != "cap"}
        cap = free.get("cap", 1.0)
        return max(1, min(task.wanted.labels, round(cap * task.wanted.labels))), others


def _replace_caps(parameters: Parameters, queries: int, labels: int) -> Parameters:
    """Return the same noise for so many labels, and queries if a threshold comes first."""
    caps: dict[str, Any] = {"labels": labels}
    if hasattr(parameters, "queries"):
        caps["queries"] = queries
    return replace(parameters, **caps)


def unproven_reason(entry: Entry, labels: int, n_classes: int) -> str | None:
    """Return why secure noise proves nothing for so many labels and classes, or None.

    The registry's column `secure` says how many labels are proven.
    """
    two_class_labels, multiclass_labels = entry.guarantee.secure
    if labels <= (two_class_labels if n_classes == 2 else multiclass_labels):
        return None
    if two_class_labels == 1:
        return "has no sampler for secure noise beyond one label of two classes"
    return f"has no sampler for secure noise beyond {two_class_labels:,} labels of two classes"


@cache
def load_mechanism(name: str) -> Mechanism:
    """Return the mechanism of this name.

    Raises:
        ValueError: If there is none.

    >>> load_mechanism("gnmax").account.free_parameters
    {'cap': (0.02, 1.0)}
    """
    entry = registry.get_entry(name)
    law = _import_object(entry.law)
    if entry.check:
        law = ThresholdedLaw(_import_object(entry.check), law)
    return Mechanism(entry, law, _import_object(entry.account))


def load_all_mechanisms() -> dict[str, Mechanism]:
    """Return all mechanisms by name, in the registry's order."""
    return {name: load_mechanism(name) for name in registry.entries()}


def _import_object(path: str) -> Any:
    """Return the object at a path in the package, such as `labels.laws.gaussian.WHOLE`."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"private_ensembles.{module}"), name)
