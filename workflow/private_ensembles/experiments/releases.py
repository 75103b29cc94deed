"""The record of what was released from somebody's own votes, so that a release is made once.

Every release costs what its row says, and all of them together at most the sum (basic composition;
each may depend on what those before it showed). The record is beside the labels and holds only
what they and the plan say. It is only ever added to: no rule has it as an output, so Snakemake
removes it neither before a job nor with --delete-all-output.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from fractions import Fraction
from math import inf
from pathlib import Path

from private_ensembles.configuration.files import RELEASES
from private_ensembles.configuration.naming import at_most
from private_ensembles.jobs import io, provenance


@dataclass(frozen=True)
class Release:
    """One release: what its labels cost together, and the hash of their file.

    time: when it was drawn, UTC. epsilon, delta: upper bounds for the adjacency.
    """

    time: str
    mechanism: str
    epsilon: float
    delta: float
    privacy_model: str
    adjacency: str
    labels_sha256: str


_COLUMNS = [field.name for field in fields(Release)]


@dataclass(frozen=True)
class Total:
    """What several releases cost together at most, for one adjacency."""

    epsilon: float
    delta: float
    adjacency: str

    def __str__(self) -> str:
        """The cost in words, rounded up."""
        epsilon, delta = at_most(self.epsilon), at_most(self.delta)
        return f"epsilon = {epsilon} and delta = {delta} ({self.adjacency})"


def release_of(chosen: Mapping, labels: Path) -> Release:
    """Return the release of a file of labels, now.

    chosen: the row of `own_votes.public_rows` that was chosen.
    """
    return Release(
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        mechanism=chosen["mechanism"],
        epsilon=float(chosen["epsilon"]),
        delta=float(chosen["delta"]),
        privacy_model=chosen["privacy_model"],
        adjacency=chosen["adjacency"],
        labels_sha256=provenance.sha256_of(labels),
    )


def read(path: str | Path = RELEASES) -> list[Release]:
    """Return all releases on record, the oldest first; none if there is no record.

    Raises ValueError, naming the file, for a record that cannot be understood.
    """
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
    found = []
    for line, row in enumerate(rows, start=2):
        try:
            costs = {name: float(row[name]) for name in ("epsilon", "delta")}
            one = Release(**row | costs)
            good = 0 <= one.epsilon < inf and 0 <= one.delta <= 1
        except (KeyError, TypeError, ValueError):
            good = False
        if not good or None in row.values():
            raise ValueError(f"{path}: line {line} is not a release: restore the file")
        found.append(one)
    return found


def append(release: Release, path: str | Path = RELEASES) -> None:
    """Add a release to the record, whole or not at all; those who may read its folder may read it.

    Do so before anybody sees the labels: a release that is recorded and then lost costs too much,
    one that is seen and not recorded too little.
    """
    path = Path(path)
    rows = [asdict(one) for one in (*read(path), release)]
    unfinished = path.with_name(f".{path.stem}.part{path.suffix}")
    io.write_csv(unfinished, rows, _COLUMNS)
    unfinished.chmod(path.parent.stat().st_mode & 0o666)
    with open(unfinished, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def together(releases: Sequence[Release | Total]) -> Total:
    """Return what releases cost together: the sums, rounded up.

    If adjacencies differ, what holds for add_remove is brought to replace_one by group privacy.
    """
    adjacencies = {one.adjacency for one in releases}
    if len(adjacencies) > 1:
        releases = [_replacing(one) for one in releases]
        adjacencies = {"replace_one"}
    (adjacency,) = adjacencies
    from private_ensembles.accounting.rounding import fraction_above  # late: NumPy

    epsilon, delta = (
        fraction_above(sum(Fraction(getattr(one, name)) for one in releases))
        for name in ("epsilon", "delta")
    )
    return Total(epsilon, min(1.0, delta), adjacency)


def _replacing(one: Release | Total) -> Total:
    from private_ensembles.accounting.composition import replace_one  # late: NumPy

    if one.adjacency == "replace_one":
        return Total(one.epsilon, one.delta, one.adjacency)
    found = replace_one(one.epsilon, one.delta)
    return Total(found.epsilon, found.delta, "replace_one")


def permission(
    config: Mapping, path: str | Path = RELEASES, allow: str = "--config again=yes"
) -> str | None:
    """Return what to say before labels are drawn, None if these are the first.

    config: the checked configuration. allow: the option that sets `again`, for the message. Raises
    ValueError if labels were released before and `again` does not say that they may be once
    more.
    """
    earlier = read(path) if config["noise"] == "secure" else []  # a rehearsal releases nothing
    if not earlier:
        return None
    budget = Total(config["epsilon"], config["delta"], config["planner"]["adjacency"])
    before, after = together(earlier), together([*earlier, budget])
    number = f"{len(earlier)} release{'s' * (len(earlier) > 1)}"
    if config["again"]:
        return f"Releasing again. With the {number} before: at most {after} together."
    raise ValueError(
        f"{path}: labels of your votes are out already ({number}, at most {before}); drawn again, "
        f"all together may cost {after}: keep those that are there, or allow it with "
        f"{allow}"
    )


def permission_or_exit(jobs: Iterable, config: Mapping) -> None:
    """Say what a further release costs before Snakemake removes the files of the one before.

    jobs: those of Snakemake that will run. If the further release was not allowed, prints one
    line `error: ...` and ends the process with status 1.
    """
    if not any(job.rule.name == "apply_votes" for job in jobs):
        return
    try:
        text = permission(config)
    except (OSError, ValueError) as error:
        print(f"error: {io.describe(error)}", file=sys.stderr, flush=True)
        sys.exit(1)
    if text is not None:
        print(text, file=sys.stderr, flush=True)
