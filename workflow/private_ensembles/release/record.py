"""The record of what was released from somebody's own votes, and what all of it costs together.

Every release costs what its row says, and all of them together at most the sum (basic composition;
each may depend on what those before it showed). If as many had been planned from the start, those
with the same noise cost what the account of all their labels says, which is much less.

The record is beside the labels and holds only what they and the plan say. It is only ever added to:
no rule has it as an output, so Snakemake removes it neither before a job nor with
--delete-all-output.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from private_ensembles.configuration.naming import at_most
from private_ensembles.jobs import io, provenance

if TYPE_CHECKING:  # NumPy
    from private_ensembles.release.release_plan import ReleasePlan

# What was released of somebody's own votes; no rule's output, which Snakemake would remove.
RELEASES = "results/own/release/releases.csv"


@dataclass(frozen=True)
class Release:
    """One release: what its labels cost together, and the hash of their file.

    time: when it was drawn, UTC. epsilon, delta: upper bounds for the adjacency. terms: the plan,
    as `release_plan.ReleasePlan.text`. labels: how many there are. file: theirs, as seen from the
    record's folder.
    """

    time: str
    mechanism: str
    epsilon: float
    delta: float
    privacy_model: str
    adjacency: str
    labels_sha256: str
    terms: str
    labels: int
    file: str

    @property
    def reach(self) -> int:
        """How many shards one unit may reach, as the plan has it."""
        return json.loads(self.terms)["task"]["reach"]


_COLUMNS = [field.name for field in fields(Release)]


@dataclass(frozen=True)
class Total:
    """What several releases cost together at most, for one adjacency.

    reach: for a unit that reaches so many shards. mixed: whether some of the releases hold for a
    unit that reaches more, of which nothing is said of all of them.
    """

    epsilon: float
    delta: float
    adjacency: str
    reach: int = 1
    mixed: bool = False

    def __str__(self) -> str:
        """The cost in words, rounded up."""
        epsilon, delta = at_most(self.epsilon), at_most(self.delta)
        whom = f"; for a unit with reach {self.reach}, the least stated" if self.mixed else ""
        return f"epsilon = {epsilon} and delta = {delta} ({self.adjacency}{whom})"


def numbered(number: int) -> str:
    """Return the name of the folder of a release; the first one is number 1.

    >>> numbered(12)
    '0012'
    """
    return f"{number:04}"


def release_of(chosen: Mapping, labels: Path, number: int) -> Release:
    """Return the release of a file of labels, now.

    chosen: the row of `own_votes.public_rows` that was chosen. number: of releases, with this one.
    """
    with open(labels, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return Release(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        mechanism=chosen["mechanism"],
        epsilon=float(chosen["epsilon"]),
        delta=float(chosen["delta"]),
        privacy_model=chosen["privacy_model"],
        adjacency=chosen["adjacency"],
        labels_sha256=provenance.sha256_of(labels),
        terms=chosen["terms"],
        labels=len(rows) - 1,
        file=f"{numbered(number)}/{labels.name}",
    )


def read(path: str | Path = RELEASES) -> list[Release]:
    """Return all releases on record, the oldest first; none if there is no record.

    Raises ValueError, naming the file, for a record that cannot be understood, holds no release, or
    is a link: an addition would replace the link and not what it leads to.
    """
    if os.path.islink(path):
        raise ValueError(f"{path}: is a link to {os.readlink(path)}: must be the record itself")
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            known = reader.fieldnames == _COLUMNS
            rows = list(reader)
    except FileNotFoundError:
        return []
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: not a readable record of releases: {error}") from None
    if not known:
        raise ValueError(f"{path}: is not a record of releases: restore the file")
    releases = []
    for line, row in enumerate(rows, start=2):
        try:
            row["epsilon"] = float(row["epsilon"])
            row["delta"] = float(row["delta"])
            row["labels"] = int(row["labels"])
            release = Release(**row)
            complete = None not in row.values() and release.reach >= 1
            good = complete and 0 <= release.epsilon < inf and 0 <= release.delta <= 1
        except (KeyError, TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"{path}: line {line} is not a release: restore the file")
        releases.append(release)
    if not releases:
        raise ValueError(f"{path}: holds no release: restore the file")
    return releases


def append(
    release: Release, path: str | Path = RELEASES, *, workshop: str | Path | None = None
) -> None:
    """Add a release to the record, whole or not at all; those who may read its folder may read it.

    Do so before anybody sees the labels: a release that is recorded and then lost costs too much,
    one that is seen and not recorded too little. When this returns, the disk has it.

    workshop: a folder on the same disk where the new record is written; the record's own by
    default. What is written there tells the hash of labels that are not charged yet.
    """
    path = Path(path)
    rows = [asdict(recorded) for recorded in (*read(path), release)]
    unfinished = (path.parent if workshop is None else Path(workshop)) / f".{path.stem}.part.csv"
    unfinished.touch(mode=0o600)
    try:
        io.write_csv(unfinished, rows, _COLUMNS)
        unfinished.chmod(path.parent.stat().st_mode & 0o666)
        now = int(time.time())  # a whole second, as in the rows: how long a draw took is private
        os.utime(unfinished, (now, now))
        synced(unfinished)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    synced(path.parent)


def synced(path: str | Path) -> None:
    """Wait until the disk has a file, or the names in a folder; OSError if it has not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def together(releases: Sequence[Release | Total]) -> Total:
    """Return what releases cost together: the sums, rounded up.

    If adjacencies differ, what holds for add_remove is brought to replace_one by group privacy. If
    reaches differ, the sum holds for the least, which every account covers.
    """
    reaches = {release.reach for release in releases}
    mixed = len(reaches) > 1 or any(isinstance(one, Total) and one.mixed for one in releases)
    adjacencies = {release.adjacency for release in releases}
    if len(adjacencies) > 1:
        releases = [_replacing(release) for release in releases]
        adjacencies = {"replace_one"}
    (adjacency,) = adjacencies
    from private_ensembles.accounting.rounding import fraction_above  # late: NumPy

    epsilon = fraction_above(sum(Fraction(release.epsilon) for release in releases))
    delta = fraction_above(sum(Fraction(release.delta) for release in releases))
    return Total(epsilon, min(1.0, delta), adjacency, min(reaches), mixed)


def jointly(releases: Sequence[Release]) -> Total | None:
    """Return what releases cost if as many, of as many labels, had been planned from the start.

    Those with the same noise for an ensemble of the same size, taken to be the same ensemble, are
    charged by the account of all their labels together; what is left is added up. None if nothing
    is gained. It does not hold if labels that were seen decided how many releases there would be,
    or how large; `together` does. Source: docs/sessions.md.
    """
    if len(releases) < 2:
        return None
    groups: dict[object, list[Release]] = {}
    for place, release in enumerate(releases):
        plan = _plan_of(release)
        of_labels = plan is not None and plan.fresh
        groups.setdefault(plan.family if of_labels else place, []).append(release)
    costs = [_of_group(group) for group in groups.values()]
    joint, apart = together(costs), together(releases)
    return joint if joint.epsilon < apart.epsilon else None


def _plan_of(release: Release) -> ReleasePlan | None:
    """Return a release's plan; None if this version of the program cannot read it."""
    from private_ensembles.release import release_plan  # late: NumPy

    with contextlib.suppress(ValueError):
        return release_plan.read(release.terms)
    return None


def _of_group(releases: Sequence[Release]) -> Total:
    """Return what releases of the same noise cost together, if that is less than the sum."""
    total = together(releases)
    if len(releases) == 1 or total.delta >= 1:
        return total
    plans = [_plan_of(release) for release in releases]
    queries = sum(plan.queries for plan in plans)
    labels = sum(plan.labels for plan in plans)
    epsilon = plans[0].epsilon(queries, labels, total.delta)
    return replace(total, epsilon=min(epsilon, total.epsilon))


def _replacing(release: Release | Total) -> Total:
    from private_ensembles.accounting.composition import replace_one  # late: NumPy

    if release.adjacency == "replace_one":
        return Total(release.epsilon, release.delta, release.adjacency, release.reach)
    cost = replace_one(release.epsilon, release.delta)
    return Total(cost.epsilon, cost.delta, "replace_one", release.reach)
