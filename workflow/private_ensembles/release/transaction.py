"""A release is made once: charged to the ledger before it is drawn, and shown from there.

The workflow's rule and the command both do it here, each holding the ledger's lock
(`OutputFolder.lock`). The API does, too, but keeps no ledger:

1. Ask whether the ledger allows it, or whether what is asked for is on it.
2. Compute all that will be said, for as many made-up labels, so that what is missing fails now.
3. Charge: write the plan and what it costs into the ledger.
4. Draw, and write the labels into the ledger.
5. Show them, from the ledger.

Whatever ends the process, what was seen is charged. What was drawn stays in the ledger, which is no
rule's output, because Snakemake removes the files of a job that failed. So the same request puts
the labels into place, without a draw and without a charge. If the process ends between steps 3 and
4, the labels are charged and lost.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io as text_io
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from private_ensembles.base import checks, files, provenance
from private_ensembles.base.parameter_names import write_lower_bound, write_upper_bound
from private_ensembles.release import pool, record
from private_ensembles.release.ledger_file import (
    RELEASES,
    Batch,
    LedgerFile,
    files_of,
    lock_of,
)
from private_ensembles.release.record import Record, Release, Total

if TYPE_CHECKING:  # jobs and Snakemake's start need none of these, whose imports take time
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from private_ensembles.labels.votes import Votes
    from private_ensembles.release.pool import Pool
    from private_ensembles.release.release_plan import ReleasePlan

# A plan rests on these of the planner's settings.
_PLANNED = (
    "mechanisms",
    "adjacency",
    "teacher_epsilon",
    "teacher_Delta",
    "profile",
)
# A plan and a draw rest on these keys of the configuration.
_ASKED = (
    "noise",
    "epsilon",
    "delta",
    "labels_wanted",
    "n_classes",
    "votes_kind",
    "seed",
    "shards",
    "unit",
    "reach",
)


@dataclass(frozen=True)
class OutputFolder:
    """Where labels of somebody's votes go, and what stands beside.

    Attributes:
        folder: ``release``, in which each release has a folder of its own, by its number in the
            ledger; or, for what is drawn with noise from a seed, ``rehearsal``.
    """

    folder: Path = Path("results/own/release")

    @property
    def releases_folder(self) -> Path:
        """Return the folder of all releases; a rehearsal is beside it."""
        return self.folder.with_name("release")

    @property
    def ledger(self) -> Path:
        """Return the ledger, which is not in a folder that may be published."""
        return self.folder.with_name("ledger.sqlite")

    @property
    def lock(self) -> Path:
        """Return the file that whoever releases or rehearses here holds (`files.hold_lock`)."""
        return lock_of(self.ledger)

    def numbered_folder(self, number: int) -> Path:
        """Return the folder of a release; the first one is number 1.

        >>> OutputFolder().numbered_folder(12).as_posix()
        'results/own/release/0012'
        """
        return self.releases_folder / f"{number:04}"


@dataclass(frozen=True)
class Request:
    """What is asked for: votes, and all that the plan and the draw depend on.

    Attributes:
        votes: Their file.
        config: The checked configuration; `again` and `anyway` do not make another request.
        again_option: The option that sets `again`, for messages.
        already_spent_option: The option that states what was spent without the ledger, for
            messages.
    """

    votes: Path
    config: Mapping
    again_option: str = "--config again=yes"
    already_spent_option: str = "--config already_spent="

    @property
    def files(self) -> dict[str, object]:
        """Return what may be files that are read, by name."""
        keys = ("class_names", "answer", "profile_from")
        return {"votes": self.votes} | {key: self.config.get(key) for key in keys}

    @property
    def secure(self) -> bool:
        """Whether it is for a release, not for a rehearsal."""
        return self.config["noise"] == "secure"

    @property
    def again(self) -> bool:
        """Whether one more release is allowed."""
        return bool(self.config["again"])

    @property
    def total_budget(self) -> float | None:
        """Return what all releases on the ledger may cost together, as epsilon; None: no limit."""
        return self.config["total_budget"]

    @property
    def already_spent(self) -> Total | None:
        """Return what was spent before there was a ledger; None if that is not said."""
        spent = self.config["already_spent"]
        return None if spent is None else replace(self.budget(), epsilon=spent[0], delta=spent[1])

    def budget(self) -> Total:
        """Return what the labels may cost at most."""
        config = self.config
        adjacency = config["planner"]["adjacency"]
        return Total(config["epsilon"], config["delta"], adjacency, config["reach"])

    def digest(self, salt: str) -> str:
        """Return a hash of the request and the votes' bytes.

        A hash of the votes would tell the last vote to whoever knows all others, so it never leaves
        the ledger's file, and the salt sees to it that the same hash is met nowhere else.

        Args:
            salt: The ledger's salt.

        Raises:
            OSError: If the votes cannot be read.
        """
        facts = {name: self.config[name] for name in _ASKED}
        facts |= {name: self.config["planner"][name] for name in _PLANNED}
        facts |= pool.collect_file_facts(self.config)
        text = json.dumps(_canonicalize(facts), sort_keys=True)
        return hashlib.sha256(
            f"{salt}\n{text}\n{provenance.sha256_of(self.votes)}".encode()
        ).hexdigest()


def _canonicalize(value: object) -> object:
    """Return a value whose numbers are written in one way, because 5 and 5.0 ask for the same."""
    if isinstance(value, Mapping):
        return {str(key): _canonicalize(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonicalize(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    return value


@dataclass(frozen=True)
class Labels:
    """Labels that may be shown, for they are charged; or those of a rehearsal, which cost nothing.

    Attributes:
        text: Their CSV.
        folder: Where to show them; None if no folder was given.
        total: What all releases on the ledger cost together; None if they are on none.
        note: What to say about the release; None for a first one.
        joint: What releases cost if as many had been planned from the start (`Record.joint`); None
            if that is no less.
        remaining_budget: What is left of the total budget; None if there is none.
        documents: The texts that are handed over with them, by name (`statement.documents`).
        time: The time of the charge, in seconds since 1970; None for a rehearsal.
        summary: What else is said of them, as `release_once` was asked to compute it.
    """

    text: str
    folder: Path | None = None
    total: Total | None = None
    note: str | None = None
    joint: Total | None = None
    remaining_budget: float | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    time: int | None = None
    summary: object = None

    def table(self) -> pd.DataFrame:
        """Return a row for each label: query (from 0), label, and what else `labels_text` writes.

        >>> Labels("query,label\\n0,2\\n2,0\\n").table()["label"].tolist()
        [2, 0]
        """
        import pandas as pd

        return pd.read_csv(text_io.StringIO(self.text), keep_default_na=False)

    def label_of_each_query(self, queries: int) -> NDArray[np.int64]:
        """Return the label of each query, (queries,), -1 for a query without one.

        >>> Labels("query,label\\n0,2\\n2,0\\n").label_of_each_query(4).tolist()
        [2, -1, 0, -1]
        """
        import numpy as np

        labels = np.full(queries, -1, dtype=np.int64)
        for row in csv.DictReader(text_io.StringIO(self.text)):
            labels[int(row["query"])] = int(row["label"])
        return labels


def check_permission(request: Request, output_folder: OutputFolder) -> str | None:
    """Check that labels may be released, and return what to say before any work, or None.

    Whoever holds the folder's lock may be drawing what seems to be lost, so that nothing is said
    of that.

    Args:
        request: What is asked for.
        output_folder: The folder of the ledger and the labels.

    Raises:
        ValueError: If other labels than those asked for were released before, or if labels were
            charged and lost, unless `again` says that labels may be released once more; if the
            ledger cannot be understood, or lacks labels that are there; or if a file is read from
            where labels are written.
    """
    return _check_request(request, output_folder, holds_lock=False).note


def release_once(
    request: Request | None,
    output_folder: OutputFolder | None,
    plan_and_epsilon: tuple[ReleasePlan, float] | None,
    query_pool: Pool,
    draw: Callable[[Votes], NDArray[np.int64]],
    summarize: Callable[[Labels], object] | None = None,
) -> Labels:
    """Return the labels asked for: charged and drawn, or those that were charged for this request.

    The caller holds the folder's lock (`files.hold_lock`).

    Args:
        request: What is asked for; None if no ledger is kept of what was asked before.
        output_folder: The folder of the ledger and the labels; None if no ledger is kept.
        plan_and_epsilon: The plan, and what all of its labels cost at most.
        query_pool: The votes, and how labels are written.
        draw: Returns labels for votes. It is called at most once for these votes, and not if these
            labels were charged already.
        summarize: Returns what will be said of labels (`Labels.summary`); called before the charge
            with made-up ones.

    Raises:
        ValueError: As `check_permission` does, and if another version of this program made the
            labels that were charged for this request.
        OSError: If something cannot be written: the labels are then either not charged, or charged
            and lost.
    """

    def add_summary(labels: Labels) -> Labels:
        return labels if summarize is None else replace(labels, summary=summarize(labels))

    if request is None or not request.secure:
        folder = None if output_folder is None else output_folder.folder
        return add_summary(Labels(query_pool.to_csv(draw(query_pool.votes)), folder))
    assert output_folder is not None  # whoever states a request keeps a ledger
    history, number, note = _check_request(request, output_folder, holds_lock=True)
    assert plan_and_epsilon is not None
    plan, epsilon = plan_and_epsilon

    def labels_of(history: Record, number: int) -> Labels:
        return add_summary(_labels(history, number, note, request, output_folder))

    if number is not None:
        before = history.releases[number - 1]
        if (before.plan.name, before.batch.epsilon) != (plan.name, epsilon):
            raise ValueError(
                f"{output_folder.ledger}: labels for this request are out already, drawn by "
                f"another version of this program ({before.plan.name}); they are in the ledger "
                f"(session export): keep them, or allow other ones with {request.again_option}"
            )
        return labels_of(history, number)

    # This is imported late, because it loads NumPy.
    from private_ensembles.accounting.adaptive_composition.account import Bounds

    offered = _prepare_release(plan_and_epsilon, query_pool, draw, len(history.releases) + 1)
    labels_of(replace(history, releases=(*history.releases, offered)), offered.batch.number)
    batch = offered.batch
    with contextlib.closing(_open_or_create_ledger(output_folder, history)) as file:
        number = file.release(
            lambda: query_pool.to_file_order(draw(query_pool.votes)).tolist(),
            output_folder.numbered_folder(batch.number).name,
            batch.queries,
            batch.most,
            before=file.state() if history.state is None else history.state,
            cost=Bounds(0.0, epsilon),
            ids=batch.ids,
            plan=offered.terms.to_json(),
            request=(salt := file.salt(), request.digest(salt)),
        ).number
        del offered, batch  # their names and labels are as many as those that are read now
        history = Record.read(file)
    return labels_of(history, number)


def _prepare_release(
    plan_and_epsilon: tuple[ReleasePlan, float],
    query_pool: Pool,
    draw: Callable[[Votes], NDArray[np.int64]],
    number: int,
) -> Release:
    """Return the release as it will be, but for its labels, which are made up.

    It draws once for made-up votes: if something is missing, it must fail before the charge.
    """
    import numpy as np

    from private_ensembles.release.session_terms import Terms

    plan, epsilon = plan_and_epsilon
    terms = Terms.from_plan(plan, query_pool.names, epsilon)
    votes, queries = query_pool.votes, query_pool.votes.n_queries
    counts = np.zeros((1, votes.n_classes), int)
    counts[0, 0] = votes.n_teachers
    unknown = np.array([-1])
    if votes.votes is None:
        draw(replace(votes, labels=unknown, ids=None, counts=counts))
    else:
        ballots = np.zeros((1, votes.n_teachers), int)
        draw(replace(votes, labels=unknown, ids=None, votes=ballots))
    most = min(plan.labels, queries)
    ids = None if query_pool.ids is None else list(query_pool.ids)
    labels = query_pool.to_file_order([0] * most + [-1] * (queries - most)).tolist()
    sizes = (number, "", 1, int(time.time()), queries, most)
    return Release(Batch(*sizes, epsilon, 0.0, ids, labels), terms)


def _open_or_create_ledger(output_folder: OutputFolder, history: Record) -> LedgerFile:
    """Open the ledger to write on it; make it if there is none."""
    if history.state is not None:
        return LedgerFile.open(output_folder.ledger, RELEASES)
    output_folder.ledger.parent.mkdir(parents=True, exist_ok=True)
    return LedgerFile.create(output_folder.ledger, history.opening_entry(), RELEASES)


def _labels(
    history: Record, number: int, note: str | None, request: Request, output_folder: OutputFolder
) -> Labels:
    """Return the labels of a release, with all that is said of them."""
    # This is imported late, because it loads SciPy.
    from private_ensembles.release import statement

    batch, terms = release = history.releases[number - 1]
    text, limit = terms.labels_text(batch), request.total_budget
    total, joint = history.total, history.joint
    charged = statement.LedgerEntry(
        release.cost.epsilon,
        release.cost.delta,
        time=batch.charge_time,
        labels=batch.answers,
        labels_sha256=hashlib.sha256(text.encode()).hexdigest(),
        total=total,
        joint=joint,
    )
    return Labels(
        text,
        output_folder.numbered_folder(number),
        note=note,
        remaining_budget=None if limit is None else _remaining_budget(limit, history),
        documents=statement.documents(terms.plan, terms.proof, charged),
        time=batch.time,
        total=total,
        joint=joint,
    )


def check_permission_or_exit(jobs: Iterable, config: Mapping) -> None:
    """Say what a further release costs before Snakemake removes the files of the one before.

    If a further release is not allowed, this prints one line `error: ...` and ends the process
    with status 1.

    Args:
        jobs: The jobs of Snakemake that will run.
        config: The checked configuration, with the file of votes as `votes`.
    """
    if not any(job.rule.name == "apply_votes" for job in jobs):
        return
    try:
        text = check_permission(Request(Path(config["votes"]), config), OutputFolder())
    except (OSError, ValueError) as error:
        print(f"error: {files.describe(error)}", file=sys.stderr, flush=True)
        sys.exit(1)
    if text is not None:
        print(text, file=sys.stderr, flush=True)


class _Permission(NamedTuple):
    """What is on the ledger, the number of the release asked for, if any, and what to say."""

    history: Record
    number: int | None = None
    note: str | None = None


def _check_request(
    request: Request, output_folder: OutputFolder, *, holds_lock: bool
) -> _Permission:
    """Return what may be released, or raise ValueError as `check_permission` says.

    holds_lock: whether the caller holds the folder's lock.
    """
    written = [
        output_folder.folder,
        output_folder.releases_folder,
        output_folder.folder.with_name("private"),
    ]
    checks.check_separate_files(
        [*written, *files_of(output_folder.ledger).values()], **request.files
    )
    if not request.secure:
        return _Permission(Record())  # a rehearsal releases nothing
    history, number = _read(request, output_folder)
    if number is not None:
        release = history.releases[number - 1]
        if release.batch.labels is not None:
            if not (request.again and _is_shown(output_folder, release)):
                note = "These labels were drawn and charged before: they cost nothing more."
                return _Permission(history, number, note)
        elif not request.again:
            # Whoever holds the lock may be drawing these labels.
            if not holds_lock and files.is_held(output_folder.lock):
                return _Permission(history)
            epsilon = write_upper_bound(release.batch.epsilon)
            raise ValueError(
                f"{output_folder.ledger}: these labels were charged (epsilon = {epsilon}), and "
                "were lost when the process ended: they cannot be had; allow a new charge with "
                f"{request.again_option}"
            )
    after = record.compose_totals([*history.costs, request.budget()])
    if request.total_budget is not None and after.epsilon > request.total_budget:
        raise ValueError(
            f"{output_folder.ledger}: with this release all on the ledger may cost {after}: must "
            f"be at most total_budget = {request.total_budget:g}; epsilon = "
            f"{write_lower_bound(_remaining_budget(request.total_budget, history))} is left"
        )
    if not history.releases:
        return _Permission(history)
    before = f"{len(history.releases)} release{'s' * (len(history.releases) > 1)}"
    if request.again:
        note = f"Releasing again. With the {before} before: at most {after} together."
        return _Permission(history, None, note)
    where = f"in {output_folder.ledger}, which the same request puts into place"
    if any(_is_shown(output_folder, release) for release in history.releases):
        where = "that are there"
    raise ValueError(
        f"{output_folder.ledger}: labels of your votes are out already ({before}, at most "
        f"{history.total}); drawn again, all together may cost {after}: keep those "
        f"{where}, or allow it with {request.again_option}"
    )


def _read(request: Request, output_folder: OutputFolder) -> tuple[Record, int | None]:
    """Return what is on the ledger, and the last release that was charged for this request.

    Raises ValueError if the ledger was lost, or replaced by an older copy of it.
    """

    def digest(salt: str) -> str:
        with contextlib.suppress(OSError):  # if votes are gone, nobody knows what they said
            return request.digest(salt)
        return ""

    history, number = Record(already_spent=request.already_spent), None
    if output_folder.ledger.exists():
        with contextlib.closing(
            LedgerFile.open(output_folder.ledger, RELEASES, write=False)
        ) as file:
            history, number = Record.read(file), file.find_request(digest)
    elif (old := output_folder.releases_folder / "releases.csv").exists():
        raise ValueError(
            f"{old}: is the record of version 0.3: move {output_folder.releases_folder} away, and "
            f"carry over the sums of its columns with {request.already_spent_option}EPSILON,DELTA"
        )
    stated, noted = request.already_spent, history.already_spent
    if stated is not None and (noted is None or astuple(stated)[:2] != astuple(noted)[:2]):
        how = "without it" if noted is None else f"with {noted}"
        raise ValueError(
            f"{output_folder.ledger}: was made {how}: already_spent must be the same, or left out"
        )
    shown = output_folder.releases_folder.glob("[0-9]*/labels.csv")
    numbers = [int(path.parent.name) for path in shown if path.parent.name.isdecimal()]
    if max(numbers, default=0) > len(history.releases):
        folder = output_folder.numbered_folder(max(numbers))
        raise ValueError(
            f"{output_folder.ledger}: lacks the release of {folder}: restore it, or move these "
            "labels away"
        )
    return history, number


def _is_shown(output_folder: OutputFolder, release: Release) -> bool:
    """Return whether the labels of a release are where they are shown, undamaged."""
    labels = output_folder.numbered_folder(release.batch.number) / "labels.csv"
    with contextlib.suppress(OSError):
        return labels.read_bytes() == release.terms.labels_text(release.batch).encode()
    return False


def _remaining_budget(total_budget: float, history: Record) -> float:
    """Return what is left of a total budget, rounded down."""
    spent = 0.0 if history.total is None else history.total.epsilon
    remaining = Fraction(total_budget) - Fraction(spent)
    rounded = float(remaining)
    return max(0.0, rounded if Fraction(rounded) <= remaining else math.nextafter(rounded, 0.0))
