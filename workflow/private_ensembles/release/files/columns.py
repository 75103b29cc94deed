"""What the columns of somebody's table hold, by their names alone: votes, counts, labels, names.

The cells say nothing here: whether a table is refused must not depend on votes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from private_ensembles.base import checks
from private_ensembles.base.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.release.class_names import read_class_names

SAY_VOTES_KIND = "say votes_kind=votes or votes_kind=counts"
_NAME_THEM = "id_column=NAME, truth_column=NAME, ignore_columns=NAME,NAME"
_LABELS = ("label", "labels")
# Columns that hold identifiers of the queries; the last one is what pandas calls an unnamed index
# in Parquet. In a CSV that has no name at all.
_IDS = ("id", "query", "query_id", "index", "__index_level_0__")
# class0, class 0, class_0 and class cat, but not classifier0, which is a teacher.
_CLASS = re.compile(r"class(?![^\W\d_])")
# Names of columns that are no teacher's, by the option that says what they are; of others, such as
# prediction and fold, nobody needs more than that they are none.
_STRANGERS = {
    "truth_column": r"(y_?)?(true|truth|gold|target|label)s?(_label)?|ground_?truth|y|class",
    "id_column": r"(\w+_)?(u?id|key|index)|(image|file|sample|item|case|patient)(_?name)?|path",
    "ignore_columns": r"unnamed:.*|.*(predict|major|plural|consensus|ensemble|score|fold|split).*",
}
# What the columns of a file with one vote a line are called: the query's, the teacher's, the vote.
_LONG = (
    r"(task|item|query|question|example|image|object|text|row|doc|document|record|hit)?s?_?(id)?",
    r"(worker|annotator|user|rater|teacher|performer|labell?er|coder|model|site|variable)s?_?(id)?",
    r"(label|vote|answer|response|choice|annotation|class|value|rating|result)s?",
)


@dataclass(frozen=True)
class FileDescription:
    """What the owner of a file says of it; all of it is public. ValueError for what cannot be.

    n_classes: None: as many as class_names. kind: ``votes`` (queries x teachers), ``counts``
    (queries x classes), or ``auto``: an npz by the name of its array, a table by the names of its
    columns, and else votes. class_names: of classes 0, 1, ..., by which cells may call them.
    first_class: 1 if cells count classes from 1. teachers: how many there are; the promise rests on
    it, so that only votes that are `public` may leave it to the file. id_column, truth_column,
    ignore_columns: what is no teacher's. long_columns: of query, teacher and vote, if each line
    holds one vote. absent: ballots may be missing, as where nothing, NaN or -1 stands; absent_as:
    what stands there instead of -1. most_ones: as in `votes.Votes`.
    """

    n_classes: int | None = None
    kind: str = "auto"
    class_names: str | Sequence[str] | None = None
    first_class: int = 0
    teachers: int | None = None
    id_column: str | None = None
    truth_column: str | None = None
    ignore_columns: str | Sequence[str] | None = None
    long_columns: str | Sequence[str] | None = None
    absent: bool = False
    absent_as: str | None = None
    most_ones: int | None = None
    public: bool = False

    def __post_init__(self):
        """Take texts apart, and count the classes by their names."""
        checks.check_choice(("auto", "votes", "counts"), votes_kind=self.kind)
        checks.check_choice((0, 1), first_class=self.first_class)
        names, n_classes = self.class_names, self.n_classes
        if names is not None:
            names = read_class_names(names)
            if n_classes not in (None, len(names)):
                wanted = f"must be {len(names)}, as many as class_names"
                raise ValueError(f"n_classes = {n_classes}: {wanted}")
            n_classes = len(names)
        checks.check_integer(n_classes=n_classes, at_least=2, at_most=MOST_CLASSES)
        if self.teachers is not None:
            checks.check_integer(n_teachers=self.teachers, at_least=2, at_most=MOST_TEACHERS)
        if self.absent_as is not None and not self.absent:
            raise ValueError(f"absent_as = {self.absent_as!r}: must be stated with absent=yes")
        long, ignored = map(_split_names, (self.long_columns, self.ignore_columns))
        if long and (len(set(long)) != 3 or self.kind == "counts"):
            raise ValueError(
                f"long_columns = {','.join(long)!r}: must be three columns of votes: the queries', "
                "the teachers' and the votes', as in long_columns=task,worker,label"
            )
        values = {"class_names": names, "n_classes": n_classes}
        values |= {"long_columns": long, "ignore_columns": ignored}
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _split_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    some = names.split(",") if isinstance(names, str) else names or ()
    return tuple(map(str.strip, some))


@dataclass(frozen=True)
class Columns:
    """Which columns hold what: places in the header; matrix: of votes, or of counts by class.

    worker: the teachers' column of a table with one vote a line, whose queries are in `id`.
    """

    kind: str
    matrix: list[int]
    label: int | None = None
    id: int | None = None
    worker: int | None = None


def identify_columns(header: Sequence[str], stated: FileDescription) -> Columns:
    """Return what the columns with these names hold.

    The column that `stated` names, or one called label, holds the labels; the one that it names, or
    one called id, query, query_id or index, or a first one without a name, holds identifiers. All
    that are not to be ignored must be one for each class (``class...``, or the names of the
    classes): counts; or one for each of the teachers: votes.

    >>> identify_columns(["image", "anna", "ben", "label"], FileDescription(3, teachers=2, id_column="image"))
    Columns(kind='auto', matrix=[1, 2], label=3, id=0, worker=None)

    Raises ValueError, one line, for names that leave that open, or that two columns have, and for
    another number of teachers than is stated.
    """
    header = [name.strip() for name in header]
    lower = [name.lower() for name in header]
    if twice := [name for name in lower if lower.count(name) > 1]:
        raise ValueError(
            f"has two columns called {shorten(twice[0])!r}: every name must be another one (or if "
            "line 1 holds votes say class_names=NAME,NAME,...)"
        )
    if long := stated.long_columns:
        task, worker, vote = (
            _find_column(header, [name], "long_columns", required=True) for name in long
        )
        return Columns("votes", [vote], None, task, worker)
    # One that is not there does no harm: the others must be as many as is stated.
    ignored = [_find_column(header, [name], "ignore_columns") for name in stated.ignore_columns]
    left = [name if at not in ignored else "" for at, name in enumerate(header)]
    truth, id_ = stated.truth_column, stated.id_column
    label = _find_column(left, _LABELS if truth is None else [truth], "truth_column")
    id_ = _find_column(left, _IDS if id_ is None else [id_], "id_column", required=id_ is not None)
    if id_ is None and not header[0]:
        id_ = 0
    others = [at for at in range(len(header)) if at not in (label, id_, *ignored)]
    if not others:
        raise ValueError("has no column of votes or counts")
    if "" in (called := [header[at] for at in others]):
        at = others[called.index("")] + 1
        raise ValueError(
            f"has no name for column {at}: only a first column of identifiers needs none"
        )
    names = [lower[at] for at in others]
    classes = {name.lower() for name in stated.class_names or ()}
    odd = [name for name in names if not (_CLASS.match(name) or name in classes)]
    kind = "votes" if all(name.startswith("teacher") for name in names) else stated.kind
    if stated.kind != "votes" and len(names) - len(odd) in (len(names), stated.n_classes):
        kind = "counts"
    if stated.kind not in ("auto", kind):
        raise ValueError(f"has a header of {kind}, and votes_kind = {stated.kind} is asked for")
    if kind == "counts":
        _require_column_count(called, stated.n_classes, "n_classes", odd)
        others = [others[at] for at in _class_positions(names, stated)]
    else:
        _refuse_long_format(header, others, stated)
    if stated.teachers is None and not stated.public:
        raise ValueError(missing_teachers_message(kind, list_names(header)))
    if kind != "counts" and not stated.public:
        _require_column_count(called, stated.teachers, "n_teachers", [])
    return Columns(kind, others, label, id_)


def missing_teachers_message(kind: str, contents: str) -> str:
    """Return what to say if the number of teachers, on which the promise rests, is not stated.

    has: what the file has.
    """
    why = "every row adds up to it" if kind == "counts" else f"the file has {contents}"
    return (
        f"n_teachers = None: must be the number of teachers; {why}: say n_teachers=NUMBER, and "
        f"which columns, if any, are no teacher's with {_NAME_THEM}"
    )


def is_side_column(position: int, name: str, stated: FileDescription) -> bool:
    """Return whether a column, by its place and name, holds no votes or counts."""
    named = (stated.id_column or "", stated.truth_column or "", *stated.ignore_columns)
    usual = (*_LABELS, *_IDS, *(text.strip().lower() for text in named if text))
    return name.lower() in usual or (position == 0 and not name)


def _find_column(
    header: Sequence[str], wanted: Sequence[str], option: str, *, required: bool = False
) -> int | None:
    """Return the place of the column of a wanted name, or of its letters; None if there is none."""
    wanted = [name.strip() for name in wanted if name.strip()]
    found = [at for at, name in enumerate(header) if name in wanted] or [
        at for at, name in enumerate(header) if name.lower() in map(str.lower, wanted)
    ]
    if len(found) > 1:
        several = ", ".join(header[at] for at in found)
        raise ValueError(f"has columns called {several}: say {option}=NAME, ignore_columns=NAME")
    if required and not found:
        hint = checks.did_you_mean(wanted[0], header) or f"it has {list_names(header)}"
        raise ValueError(f"has no column called {wanted[0]!r} ({option}); {hint}")
    return found[0] if found else None


def _require_column_count(names: list[str], number: int, option: str, odd: Sequence[str]) -> None:
    """ValueError that lists columns which are not as many as is stated, and the likely strangers.

    odd: those; else columns beside as many as there are teachers whose names only differ by a
    number; or else those whose own names say so, unless too many do.
    """
    what = "votes" if option == "n_teachers" else "counts"
    said = f"has {len(names)} columns of {what} ({list_names(names)}), and {option} = {number}: "
    if len(names) < number:
        raise ValueError(f"{said}must be {number}; a teacher that never voted has a column, too")
    family = next((some for some in group_numbered_names(names) if len(some) == number), [])
    strangers: dict[str, list[str]] = {}
    for name in names:
        known = [key for key, form in _STRANGERS.items() if re.fullmatch(form, name.lower())]
        if name.lower() in odd or (not odd and name not in family and (known or family)):
            key = known[0] if known and known[0] not in strangers else "ignore_columns"
            strangers.setdefault(key, []).append(name)
    none = [shorten(name) for some in strangers.values() for name in some]
    if 0 < len(none) <= len(names) - number:
        say = " ".join(f"{key}={shlex.quote(','.join(some))}" for key, some in strangers.items())
        are = "is" if len(none) == 1 else "are"
        raise ValueError(f"{said}if {', '.join(map(repr, none))} {are} none say {say}")
    if len(names) > number:
        raise ValueError(f"{said}say which are none with {_NAME_THEM}")


def _refuse_long_format(header: Sequence[str], others: list[int], stated: FileDescription) -> None:
    """ValueError that says how to read one vote a line, if the columns are called like that."""
    named = [
        next((at for at, name in enumerate(header) if re.fullmatch(form, name.lower())), None)
        for form in _LONG
    ]
    if None in named or len(set(named)) < 3:
        return
    if len(others) != stated.teachers or {named[0], named[2]} & {*others}:
        say = ",".join(header[at] for at in named)
        raise ValueError(
            f"has {list_names(header)}: if each line holds one vote say long_columns={say}"
        )


def _class_positions(names: list[str], stated: FileDescription) -> list[int]:
    """Return where class 0, 1, ... is among columns called by number or name, in small letters."""
    bare = [name.removeprefix("class").strip(" _") for name in names]
    first = stated.first_class
    numbers = [str(first + at) for at in range(len(names))]
    for called in ([name.lower() for name in stated.class_names or ()], numbers):
        for some in (names, bare):
            if sorted(some) == sorted(called):
                return [some.index(name) for name in called]
    if not all(name.isdigit() for name in bare):
        return list(range(len(names)))
    hint = ", or say first_class=1" if set(bare) == {*numbers, str(len(names))} - {"0"} else ""
    raise ValueError(
        f"has columns for classes {min(bare, key=int)} to {max(bare, key=int)}: must be {first} to "
        f"{numbers[-1]}, each once{hint}"
    )


def group_numbered_names(names: Iterable[str]) -> list[list[str]]:
    """Return names in groups, of neighbours that only differ by a number."""
    return [list(some) for _, some in groupby(names, lambda name: re.sub(r"\d+", "#", name))]


def list_names(names: Iterable[str]) -> str:
    """Return names in a line; of many that only differ by a number, the first and the last one.

    >>> list_names(["id", "site00", "site01", "site02", "site03", "truth"])
    'id, site00 ... site03, truth'
    """
    said = []
    for some in group_numbered_names(shorten(name) or "(no name)" for name in names):
        said += [f"{some[0]} ... {some[-1]}"] if len(some) > 3 else some
    return ", ".join(said if len(said) <= 24 else [*said[:12], "...", *said[-12:]])


def shorten(cell: str) -> str:
    """Return a cell as a message quotes it."""
    return cell if len(cell) <= 40 else f"{cell[:37]}..."
