"""What was released from somebody's own votes, and what all of it costs together: a ledger, read.

Every release costs what its batch says, and all of them together at most the sum (basic
composition; each may depend on what those before it showed). If as many had been planned from the
start, those with the same noise cost what the account of all their labels says, which is much less.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from private_ensembles.base.parameter_names import write_upper_bound
from private_ensembles.release.ledger_file import (
    RELEASES,
    Batch,
    LedgerFile,
    State,
)

if TYPE_CHECKING:  # these load NumPy
    from private_ensembles.release.release_plan import ReleasePlan
    from private_ensembles.release.session_terms import Terms


class Release(NamedTuple):
    """One release: a batch, and its terms (the plan, what labels are called, the proof)."""

    batch: Batch
    terms: Terms

    @property
    def plan(self) -> ReleasePlan:
        """Return its plan."""
        return self.terms.plan

    @property
    def cost(self) -> Total:
        """Return what its labels cost together at most."""
        task = self.plan.task
        protection = task.protection
        return Total(self.batch.epsilon, task.budget.delta, protection.adjacency, protection.reach)


@dataclass(frozen=True)
class Total:
    """What several releases cost together at most, for one adjacency.

    Attributes:
        epsilon: The cost at delta.
        delta: Its delta.
        adjacency: How neighbouring data sets differ.
        reach: The cost holds for a unit that reaches so many shards.
        mixed: Whether some of the releases hold for a unit that reaches more; this total does not.
    """

    epsilon: float
    delta: float
    adjacency: str
    reach: int = 1
    mixed: bool = False

    def __str__(self) -> str:
        """Return the cost in words, rounded up."""
        epsilon, delta = write_upper_bound(self.epsilon), write_upper_bound(self.delta)
        whom = f"; for a unit with reach {self.reach}, the least stated" if self.mixed else ""
        return f"epsilon = {epsilon} and delta = {delta} ({self.adjacency}{whom})"


@dataclass(frozen=True)
class Record:
    """All releases on a ledger.

    Attributes:
        releases: In the order of their charges.
        already_spent: What was spent on the same teachers before the ledger was made; None if
            nothing was.
        path: The ledger's file, None if there is none yet.
        state: What was charged by it, None if there is none yet.
    """

    releases: tuple[Release, ...] = ()
    already_spent: Total | None = None
    path: Path | None = None
    state: State | None = None

    @classmethod
    def read(cls, file: LedgerFile) -> Record:
        """Return what a ledger of releases holds, as it is at one moment."""
        # This is imported late, because it loads SciPy.
        from private_ensembles.release import session_terms

        with file.read_transaction():
            state, batches, (first, *plans) = file.state(), list(file.batches()), file.plans()
        terms = map(session_terms.read_terms, plans)
        releases = tuple(map(Release, batches, terms))
        already = json.loads(first)["already_spent"]
        return cls(releases, already and Total(**already), file.path, state)

    @classmethod
    def read_verified(cls, path: str | Path, head: str | None = None) -> Record | None:
        """Return what a ledger of releases holds, its hashes checked; None if it is of a session.

        Args:
            path: The ledger's file.
            head: A hash that was noted earlier, as for `LedgerFile.verify`, which raises the same.
        """
        with contextlib.closing(LedgerFile.open(path, None, write=False)) as file:
            if file.kind != RELEASES:
                return None
            file.verify(head)
            return cls.read(file)

    def opening_entry(self) -> str:
        """Return the ledger's first entry, which stands before all releases, as JSON."""
        return json.dumps({"already_spent": self.already_spent and asdict(self.already_spent)})

    @property
    def costs(self) -> list[Total]:
        """Return all costs that add up: what was spent before, and each release."""
        before = [] if self.already_spent is None else [self.already_spent]
        return [*before, *(release.cost for release in self.releases)]

    @property
    def total(self) -> Total | None:
        """Return what everything costs together, None if nothing was spent."""
        return compose_totals(self.costs) if self.costs else None

    @property
    def joint(self) -> Total | None:
        """Return what all releases cost if as many labels had been planned from the start.

        Releases with the same noise for an ensemble of the same size, taken to be the same
        ensemble, are charged by the account of all their labels together; the others are added up.
        It is None if nothing is gained. It does not hold if labels that were seen decided how many
        releases there would be, or how large; `total` does.

        References:
            docs/own-votes.md.
        """
        groups: dict[object, list[Release]] = {}
        for index, release in enumerate(self.releases):
            key = release.plan.account_key if release.plan.has_fresh_noise else index
            groups.setdefault(key, []).append(release)
        if len(groups) == len(self.releases):
            return None
        joint = compose_totals(
            [*self.costs[: -len(self.releases)], *map(_compose_same_noise, groups.values())]
        )
        total = self.total
        assert total is not None  # there is a release
        return joint if joint.epsilon < total.epsilon else None


def compose_totals(releases: Sequence[Total]) -> Total:
    """Return what releases cost together: the sums, rounded up (basic composition).

    If adjacencies differ, what holds for add_remove is brought to replace_one by group privacy. If
    reaches differ, the sum holds for the least, which every account covers.

    Args:
        releases: At least one.
    """
    reaches = {release.reach for release in releases}
    mixed = len(reaches) > 1 or any(release.mixed for release in releases)
    adjacencies = {release.adjacency for release in releases}
    if len(adjacencies) > 1:
        releases = [_to_replace_one(release) for release in releases]
        adjacencies = {"replace_one"}
    (adjacency,) = adjacencies
    # This is imported late, because it loads NumPy.
    from private_ensembles.base.rounding import round_fraction_up

    epsilon = round_fraction_up(sum(Fraction(release.epsilon) for release in releases))
    delta = round_fraction_up(sum(Fraction(release.delta) for release in releases))
    return Total(epsilon, min(1.0, delta), adjacency, min(reaches), mixed)


def _compose_same_noise(releases: Sequence[Release]) -> Total:
    """Return what releases of the same noise cost together, if that is less than the sum."""
    total = compose_totals([release.cost for release in releases])
    if len(releases) == 1 or total.delta >= 1:
        return total
    plans = [release.plan for release in releases]
    queries = sum(plan.queries for plan in plans)
    labels = sum(plan.labels for plan in plans)
    epsilon = plans[0].epsilon(queries, labels, total.delta)
    return replace(total, epsilon=min(epsilon, total.epsilon))


def _to_replace_one(release: Total) -> Total:
    # This is imported late, because it loads NumPy.
    from private_ensembles.accounting.composition import replace_one_from_add_remove

    if release.adjacency == "replace_one":
        return release
    cost = replace_one_from_add_remove(release.epsilon, release.delta)
    return Total(cost.epsilon, cost.delta, "replace_one", release.reach)
