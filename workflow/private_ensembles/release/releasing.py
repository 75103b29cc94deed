"""A release is made once: drawn where nobody sees it, charged, and shown only then.

The workflow's rule and the command both do it here, each inside the lock of its folder (`Place`);
the API does, too, but for the record, which it does not keep:

1. Ask whether the record allows it, or whether the last release on it is the one asked for.
2. Draw the labels into a folder of their own in `private`, which nobody else can read.
3. Compute all that will be said of them: what all releases cost, the statement, the certificate.
4. Charge: write the release, with the hash of these labels, into the record.
5. Show them.

Whatever ends the process, what was seen is charged. What was charged stays in `private`, where
nothing of ours deletes it and no rule has an output: Snakemake removes the files of a job that
failed. So the same request puts it into place, without a draw and without a charge.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io as text_io
import json
import math
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from private_ensembles import checks
from private_ensembles.configuration.naming import at_least
from private_ensembles.jobs import io, provenance
from private_ensembles.release import pool, record
from private_ensembles.release.pool import labels_text
from private_ensembles.release.record import RELEASES, Release, Total

if TYPE_CHECKING:  # jobs and Snakemake's start need none
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

# Of the planner's settings, those that a plan rests on.
_PLANNED = (
    "mechanisms",
    "adjacency",
    "teacher_epsilon",
    "teacher_Delta",
    "profile",
)
_ASKED = ("noise", "epsilon", "delta", "labels_wanted", "n_classes", "votes_kind", "seed")
_ASKED += ("shards", "unit", "reach")
_UNCHARGED, _CHARGED, _FACTS = "uncharged-", "charged-", "release.json"


@dataclass(frozen=True)
class Place:
    """Where labels of somebody's votes go, and what stands beside.

    folder: ``release``, in which each release has a folder of its own, by its number on the record;
    or, for what is drawn with noise from a seed, ``rehearsal``.
    """

    folder: Path = Path(RELEASES).parent

    @property
    def lock(self) -> Path:
        """Return the file that whoever releases or rehearses here holds (`io.alone`).

        It is not in the folder that may be published, because its time tells when the work began.
        """
        return self.folder.with_name(".lock")

    @property
    def record(self) -> Path:
        """Return the record of releases; a rehearsal is not on it."""
        return self.folder.with_name("release") / Path(RELEASES).name

    @property
    def private(self) -> Path:
        """Return the folder that nobody else can read; may not be there."""
        return self.folder.with_name("private")

    def kept(self, *states: str) -> list[Path]:
        """Return the folders of draws that were charged (`_CHARGED`), were not, or both."""
        return sorted(path for state in states for path in self.private.glob(f"{state}*"))


@dataclass(frozen=True)
class Request:
    """What is asked for: votes, and all that the plan and the draw depend on.

    votes: their file. config: the checked configuration, of which `again` and `anyway` are no part
    of it. allow: the option that sets `again`, for messages.
    """

    votes: Path
    config: Mapping
    allow: str = "--config again=yes"

    @property
    def files(self) -> dict[str, object]:
        """What may be files that are read, by name."""
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
        """What all releases on record may cost together, as epsilon; None for no limit."""
        return self.config["total_budget"]

    def budget(self) -> Total:
        """Return what the labels may cost at most."""
        config = self.config
        adjacency = config["planner"]["adjacency"]
        return Total(config["epsilon"], config["delta"], adjacency, config["reach"])

    def digest(self, salt: str) -> str:
        """Return a hash of the request and the votes' bytes; OSError if they cannot be read.

        A hash of the votes would tell them to whoever knows all but one, so it never leaves
        `private`, and the salt makes it none that could be met elsewhere.
        """
        asked = {name: self.config[name] for name in _ASKED}
        asked |= {name: self.config["planner"][name] for name in _PLANNED}
        asked |= pool.stated(self.config)
        text = json.dumps(_canonical(asked), sort_keys=True)
        return hashlib.sha256(
            f"{salt}\n{text}\n{provenance.sha256_of(self.votes)}".encode()
        ).hexdigest()


def _canonical(value):
    """Write numbers in one way: 5 and 5.0 ask for the same."""
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    return value


@dataclass(frozen=True)
class Labels:
    """Labels that may be shown, for they are charged; or those of a rehearsal, which cost nothing.

    text: their CSV, as it is charged. folder: where to show them, None if nobody asked. total: what
    all releases on record cost together, None if they are on no record. note: what to say about it,
    None for a first release. joint: what they cost if as many had been planned from the start
    (`record.jointly`), None if that is no less. left: of the total budget, None if there is none.
    documents: the texts that are handed over with them, by name (`statement.documents`). told: what
    else is said of them, as whoever asked has computed it (`release`). All of it was there before
    they were charged.
    """

    text: str
    folder: Path | None = None
    total: Total | None = None
    note: str | None = None
    joint: Total | None = None
    left: float | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    told: object = None

    def table(self) -> pd.DataFrame:
        """Return a row for each label: query (from 0), label, and what else `labels_text` says.

        >>> Labels("query,label\\n0,2\\n2,0\\n").table()["label"].tolist()
        [2, 0]
        """
        import pandas as pd

        return pd.read_csv(text_io.StringIO(self.text), keep_default_na=False)

    def by_query(self, queries: int) -> NDArray[np.int64]:
        """Return the label of each query, (queries,), -1 for a query without one.

        >>> Labels("query,label\\n0,2\\n2,0\\n").by_query(4).tolist()
        [2, -1, 0, -1]
        """
        import numpy as np

        labels = np.full(queries, -1, dtype=np.int64)
        for row in csv.DictReader(text_io.StringIO(self.text)):
            labels[int(row["query"])] = int(row["label"])
        return labels


def permission(request: Request, place: Place) -> str | None:
    """Return what to say before any work, None if there is nothing to say.

    Raises ValueError if labels were released before, others than those asked for, and `again` does
    not say that they may be once more; for a record that cannot be understood, or that lacks labels
    that were charged; and for a file that is read from where labels are written.
    """
    return _standing(request, place)[1]


def release(
    request: Request | None,
    place: Place | None,
    chosen: Mapping,
    draw: Callable[[], NDArray[np.int64]],
    text: Callable[[NDArray[np.int64]], str] = labels_text,
    tell: Callable[[Labels], object] | None = None,
) -> Labels:
    """Return the labels asked for: drawn and charged, or those that were charged last.

    request, place: None if no record is kept of what was asked before. chosen: the row of
    `own_votes.public_rows` that was chosen. draw: called once at most, and not if these labels were
    charged already. text: writes them as CSV, with what is public beside them. tell: makes of the
    labels what will be said of them (`Labels.told`), before they are charged: whatever it raises,
    nothing is. To be called by who holds the place's lock (`io.alone`). Raises ValueError as
    `permission` does, and if another version of this program made the labels that were charged for
    this request; OSError if something cannot be written, before the charge.
    """

    def said_of(labels: Labels) -> Labels:
        return labels if tell is None else replace(labels, told=tell(labels))

    if request is None or not request.secure:
        return said_of(Labels(text(draw()), None if place is None else place.folder))
    _tidy(place)  # what an earlier try left
    kept, note = _standing(request, place)

    def labels_of(shown: str, releases: list[Release]) -> Labels:
        """Return the labels of the last of these releases, with all that is said of them."""
        last, total, joint = releases[-1], record.together(releases), record.jointly(releases)
        limit = request.total_budget
        labels = Labels(
            shown,
            place.record.with_name(record.numbered(len(releases))),
            total,
            note,
            joint,
            None if limit is None else _left(limit, releases),
            _documents(last, total, joint),
        )
        return said_of(labels)

    def drawn() -> str:
        return text(draw())

    if kept is None:
        return _charge(request, place, chosen, drawn, labels_of)
    if not _planned_as(chosen, kept):
        raise ValueError(
            f"{place.record}: labels for this request are out already, drawn by another version of "
            f"this program ({kept.mechanism}); they are in {_folder_of(kept, place)}: keep them, "
            f"or allow other ones with {request.allow}"
        )
    shown = (_folder_of(kept, place) / "labels.csv").read_text(encoding="utf-8")
    return labels_of(shown, record.read(place.record))


def _documents(release: Release, total: Total, joint: Total | None) -> dict[str, str]:
    """Return the statement and the certificate; none for a plan of another version's."""
    from private_ensembles.release import release_plan, statement  # late: SciPy

    try:
        release_plan.read(release.terms)
    except ValueError:
        return {}
    return statement.documents(release, total, joint)


def permission_or_exit(jobs: Iterable, config: Mapping) -> None:
    """Say what a further release costs before Snakemake removes the files of the one before.

    jobs: those of Snakemake that will run. If the further release was not allowed, prints one
    line `error: ...` and ends the process with status 1.
    """
    if not any(job.rule.name == "apply_votes" for job in jobs):
        return
    try:
        text = permission(Request(Path(config["votes"]), config), Place())
    except (OSError, ValueError) as error:
        print(f"error: {io.describe(error)}", file=sys.stderr, flush=True)
        sys.exit(1)
    if text is not None:
        print(text, file=sys.stderr, flush=True)


def _standing(request: Request, place: Place) -> tuple[Release | None, str | None]:
    """Return the last release if it is the one asked for, else None; and what to say."""
    checks.apart([place.folder, place.record.parent, place.private], **request.files)
    if not request.secure:
        return None, None  # a rehearsal releases nothing
    earlier = record.read(place.record)
    _all_on_record(place, earlier)
    if not earlier:
        _within_total_budget(request, place, earlier)
        return None, None
    last, shown = earlier[-1], _shows(place, earlier[-1])
    if _answers(last, request, place) and not (request.again and shown):
        return last, "These labels were drawn and charged before: they cost nothing more."
    before = record.together(earlier)
    after = record.together([*earlier, request.budget()])
    _within_total_budget(request, place, earlier)
    number = f"{len(earlier)} release{'s' * (len(earlier) > 1)}"
    if request.again:
        return None, f"Releasing again. With the {number} before: at most {after} together."
    folder = _folder_of(last, place)
    where = "that are there"
    if not shown:
        where = f"in {folder}, which the same request puts there" if folder else "that you have"
    raise ValueError(
        f"{place.record}: labels of your votes are out already ({number}, at most {before}); drawn "
        f"again, all together may cost {after}: keep those {where}, or allow it with "
        f"{request.allow}"
    )


def _within_total_budget(request: Request, place: Place, earlier: list[Release]) -> None:
    """Refuse a release with which all on record may cost more than they may together."""
    if request.total_budget is None:
        return
    after = record.together([*earlier, request.budget()])
    if after.epsilon > request.total_budget:
        raise ValueError(
            f"{place.record}: with this release all on record may cost {after}: must be at most "
            f"total_budget = {request.total_budget:g}; epsilon = "
            f"{at_least(_left(request.total_budget, earlier))} is left"
        )


def _left(total_budget: float, releases: list[Release]) -> float:
    """Return what is left of a total budget, rounded down."""
    spent = record.together(releases).epsilon if releases else 0.0
    left = Fraction(total_budget) - Fraction(spent)
    below = float(left)
    return max(0.0, below if Fraction(below) <= left else math.nextafter(below, 0.0))


def _all_on_record(place: Place, earlier: list[Release]) -> None:
    """Refuse a record that was lost, cut or replaced by an older copy of it."""
    root = place.record.parent
    unknown = [path for path in root.glob("[0-9]*/labels.csv") if path.parent.name.isdecimal()]
    lacking = [path for path in unknown if int(path.parent.name) > len(earlier)]
    for path in place.kept(_CHARGED):
        stated = _facts(path).get("release")
        if stated not in map(asdict, earlier):
            lacking.append(path)
    if lacking:
        raise ValueError(
            f"{place.record}: lacks the release of {lacking[0]}: restore the record of what was "
            "released, or move these labels away"
        )


def _shows(place: Place, last: Release) -> bool:
    """Return whether the labels of a release are where they are shown, undamaged."""
    with contextlib.suppress(OSError):
        return provenance.sha256_of(place.record.parent / last.file) == last.labels_sha256
    return False


def _facts(folder: Path) -> dict:
    """What was noted about a draw; empty if the process ended before all of it was."""
    with contextlib.suppress(OSError, ValueError):
        facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
        if isinstance(facts, dict):
            return facts
    return {}


def _folder_of(release: Release, place: Place) -> Path | None:
    """The folder that holds a release's labels, undamaged; None if there is none."""
    for folder in place.kept(_CHARGED, _UNCHARGED):
        with contextlib.suppress(OSError):
            same = asdict(release) == _facts(folder).get("release")
            labels = folder / "labels.csv"
            if same and provenance.sha256_of(labels) == release.labels_sha256:
                return folder
    return None


def _answers(release: Release, request: Request, place: Place) -> bool:
    folder = _folder_of(release, place)
    if folder is None:
        return False
    facts = _facts(folder)
    with contextlib.suppress(OSError):  # votes that are gone: what they said is not known
        return facts.get("request") == request.digest(str(facts.get("salt")))
    return False


def _planned_as(chosen: Mapping, release: Release) -> bool:
    names = ("mechanism", "epsilon", "delta", "privacy_model", "adjacency")
    return all(chosen[name] == getattr(release, name) for name in names)


def _charge(
    request: Request,
    place: Place,
    chosen: Mapping,
    draw: Callable[[], str],
    labels_of: Callable[[str, list[Release]], Labels],
) -> Labels:
    """Draw labels, note them in `private`, compute what is said of them, and put them on record.

    labels_of: returns the labels of the last of some releases.
    """
    place.private.mkdir(parents=True, exist_ok=True)
    place.private.chmod(0o700)
    place.record.parent.mkdir(parents=True, exist_ok=True)
    if place.private.stat().st_dev != place.record.parent.stat().st_dev:
        raise ValueError(
            f"{place.private}: is on another disk than {place.record.parent}: must be on the same, "
            "so that labels are charged at one moment"
        )
    try:
        folder = Path(tempfile.mkdtemp(prefix=_UNCHARGED, dir=place.private))
        shown = draw()
        _write(folder / "labels.csv", shown)
        earlier = record.read(place.record)
        drawn = record.release_of(chosen, folder / "labels.csv", len(earlier) + 1)
        labels = labels_of(shown, [*earlier, drawn])
        salt = secrets.token_hex(16)
        facts = {"release": asdict(drawn), "salt": salt, "request": request.digest(salt)}
        _write(folder / _FACTS, json.dumps(facts, indent=2) + "\n")
        for written in (folder, place.private, place.private.parent):
            record.synced(written)
        record.append(drawn, place.record, workshop=folder)
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(place.private)) from None  # a full disk
    finally:
        _tidy(place)
    return labels


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    record.synced(path)


def _tidy(place: Place) -> None:
    """Mark draws that are on record as charged; remove the others, which nobody has seen."""
    with contextlib.suppress(OSError, ValueError):  # without the record nobody knows: it stays
        charged = record.read(place.record)
        for folder in place.kept(_UNCHARGED):
            stated = _facts(folder).get("release")
            if stated in map(asdict, charged):
                folder.rename(folder.with_name(folder.name.replace(_UNCHARGED, _CHARGED)))
            else:
                shutil.rmtree(folder, ignore_errors=True)
