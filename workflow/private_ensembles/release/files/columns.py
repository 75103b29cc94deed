"""What the columns of somebody's table hold, by their names alone: votes, counts, labels, names.

The cells say nothing here: whether a table is refused must not depend on votes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from private_ensembles.base import checks
from private_ensembles.base.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.release.class_names import read_class_names

SAY_VOTES_KIND = "say votes_kind=votes or votes_kind=counts"
_NAME_THEM = "id_column=NAME, truth_column=NAME, ignore_columns=NAME,NAME"
_LABELS = ("label", "labels")
# Columns of these names hold identifiers of the queries; the last one is what pandas calls an
# unnamed index in Parquet. In a CSV such an index has no name at all.
_IDS = ("id", "query", "query_id", "index", "__index_level_0__")
# This finds class0, class 0, class_0 and class cat, but not classifier0, which is a teacher.
_CLASS = re.compile(r"class(?![^\W\d_])")
# Columns of these names are no teacher's; the key is the option that says what they are. Others,
# such as prediction and fold, need only be ignored.
_STRANGERS = {
    "truth_column": r"(y_?)?(true|truth|gold|target|label)s?(_label)?|ground_?truth|y|class",
    "id_column": r"(\w+_)?(u?id|key|index)|(image|file|sample|item|case|patient)(_?name)?|path",
    "ignore_columns": r"unnamed:.*|.*(predict|major|plural|consensus|ensemble|score|fold|split).*",
}
# A file with one vote on each line calls its columns so: the query's, the teacher's, the vote's.
_LONG = (
    r"(task|item|query|question|example|image|object|text|row|doc|document|record|hit)?s?_?(id)?",
    r"(worker|annotator|user|rater|teacher|performer|labell?er|coder|model|site|variable)s?_?(id)?",
    r"(label|vote|answer|response|choice|annotation|class|value|rating|result)s?",
)


@dataclass(frozen=True)
class FileDescription:
    """What the owner of a file says of it; all of it is public.

    Attributes:
        n_classes: How many classes there are; None: as many as class_names.
        kind: ``votes`` (queries x teachers), ``counts`` (queries x classes), or ``auto``: an npz
            by the name of its array, a table by the names of its columns, and otherwise votes.
        class_names: Names of classes 0, 1, ..., by which cells may call them.
        first_class: 1 if cells count classes from 1.
        teachers: How many there are; the promise rests on it, so that only votes that are `public`
            may leave it to the file.
        id_column: The column of the queries' identifiers, which is no teacher's.
        truth_column: The column of the right labels, which is no teacher's.
        ignore_columns: Other columns that are no teacher's.
        long_columns: The columns of query, teacher and vote, if each line holds one vote.
        absent: Whether ballots may be missing: the cell is empty, NaN or -1.
        absent_as: What stands for a missing ballot instead of -1.
        most_ones: As in `votes.Votes`.
        public: Whether the votes are public, and need no promise.

    Raises:
        ValueError: If a field is out of range, or fields contradict each other.
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

    def __post_init__(self) -> None:
        """Split texts into names, and count the classes by their names."""
        checks.check_choice(("auto", "votes", "counts"), votes_kind=self.kind)
        checks.check_choice((0, 1), first_class=self.first_class)
        names = self.class_names
        n_classes: Any = self.n_classes  # None is refused below, like any other than an integer
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

    @property
    def classes(self) -> int:
        """Return how many classes there are, as stated or by their names."""
        assert self.n_classes is not None  # __post_init__ refuses that
        return self.n_classes

    @property
    def ignored(self) -> tuple[str, ...]:
        """Return the names of the columns that are to be ignored."""
        return _split_names(self.ignore_columns)


def _split_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    parts = names.split(",") if isinstance(names, str) else names or ()
    return tuple(map(str.strip, parts))


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what, as positions in its header.

    Attributes:
        kind: As in `FileDescription`.
        matrix: The columns of votes, or of counts in the order of classes.
        label: The column of the right labels.
        id: The column of the queries' identifiers.
        worker: The teachers' column of a table with one vote on each line.
    """

    kind: str
    matrix: list[int]
    label: int | None = None
    id: int | None = None
    worker: int | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The positions of what there is, by the name of the attribute."""
        parts = {"matrix": self.matrix, "label": self.label, "id": self.id, "worker": self.worker}
        return {name: position for name, position in parts.items() if position is not None}


def identify_columns(header: Sequence[str], stated: FileDescription) -> Columns:
    """Return what the columns with these names hold.

    The column that `stated` names, or one called label, holds the labels; the one that it names, or
    one called id, query, query_id or index, or a first one without a name, holds identifiers. All
    others that are not ignored must be one for each class (``class...``, or the names of the
    classes), which are counts, or one for each of the teachers, which are votes.

    Args:
        header: The names of all columns.
        stated: What the owner says of the file.

    Raises:
        ValueError: If names leave open what columns hold, if two columns have the same name, or if
            there are more or fewer teachers than stated. The message is one line.

    >>> stated = FileDescription(3, teachers=2, id_column="image")
    >>> identify_columns(["image", "anna", "ben", "label"], stated)
    Columns(kind='auto', matrix=[1, 2], label=3, id=0, worker=None)
    """
    header = [name.strip() for name in header]
    lower = [name.lower() for name in header]
    if twice := [name for name in lower if lower.count(name) > 1]:
        raise ValueError(
            f"has two columns called {shorten(twice[0])!r}: every name must be another one (or if "
            "line 1 holds votes say class_names=NAME,NAME,...)"
        )
    if long := stated.long_columns:
        task, worker, vote = (_require_column(header, name, "long_columns") for name in long)
        return Columns("votes", [vote], None, task, worker)
    # A name that no column has does no harm: the other columns must be as many as is stated.
    ignored = [_find_column(header, [name], "ignore_columns") for name in stated.ignored]
    left = ["" if position in ignored else name for position, name in enumerate(header)]
    truth = stated.truth_column
    label = _find_column(left, _LABELS if truth is None else [truth], "truth_column")
    if stated.id_column is not None:
        ids: int | None = _require_column(left, stated.id_column, "id_column")
    else:
        ids = _find_column(left, _IDS, "id_column")
    if ids is None and not header[0]:
        ids = 0
    others = [position for position in range(len(header)) if position not in (label, ids, *ignored)]
    if not others:
        raise ValueError("has no column of votes or counts")
    if "" in (called := [header[position] for position in others]):
        number = others[called.index("")] + 1
        raise ValueError(
            f"has no name for column {number}: only a first column of identifiers needs none"
        )
    names = [lower[position] for position in others]
    classes = {name.lower() for name in stated.class_names or ()}
    odd = [name for name in names if not (_CLASS.match(name) or name in classes)]
    kind = "votes" if all(name.startswith("teacher") for name in names) else stated.kind
    if stated.kind != "votes" and len(names) - len(odd) in (len(names), stated.classes):
        kind = "counts"
    if stated.kind not in ("auto", kind):
        raise ValueError(f"has a header of {kind}, and votes_kind = {stated.kind} is asked for")
    if kind == "counts":
        _require_column_count(called, stated.classes, "n_classes", odd)
        others = [others[index] for index in _class_positions(names, stated)]
    else:
        _refuse_long_format(header, others, stated)
    if not stated.public:
        if stated.teachers is None:
            raise ValueError(missing_teachers_message(kind, list_names(header)))
        if kind != "counts":
            _require_column_count(called, stated.teachers, "n_teachers", [])
    return Columns(kind, others, label, ids)


def missing_teachers_message(kind: str, contents: str) -> str:
    """Return what to say if the number of teachers, on which the promise rests, is not stated.

    Args:
        kind: ``counts``, or what else the file holds.
        contents: What the file has, in words.
    """
    why = "every row adds up to it" if kind == "counts" else f"the file has {contents}"
    return (
        f"n_teachers = None: must be the number of teachers; {why}: say n_teachers=NUMBER, and "
        f"which columns, if any, are no teacher's with {_NAME_THEM}"
    )


def is_side_column(position: int, name: str, stated: FileDescription) -> bool:
    """Return whether a column, by its position and name, holds no votes or counts."""
    named = (stated.id_column or "", stated.truth_column or "", *stated.ignored)
    usual = (*_LABELS, *_IDS, *(text.strip().lower() for text in named if text))
    return name.lower() in usual or (position == 0 and not name)


def _find_column(header: Sequence[str], wanted: Sequence[str], option: str) -> int | None:
    """Return the position of the column with a wanted name, capitals aside; None if none has it."""
    wanted = [name.strip() for name in wanted if name.strip()]
    positions = [position for position, name in enumerate(header) if name in wanted] or [
        position for position, name in enumerate(header) if name.lower() in map(str.lower, wanted)
    ]
    if len(positions) > 1:
        several = ", ".join(header[position] for position in positions)
        raise ValueError(f"has columns called {several}: say {option}=NAME, ignore_columns=NAME")
    return positions[0] if positions else None


def _require_column(header: Sequence[str], name: str, option: str) -> int:
    """Return the position of a named column; ValueError if there is none."""
    position = _find_column(header, [name], option)
    if position is None:
        hint = checks.did_you_mean(name.strip(), header) or f"it has {list_names(header)}"
        raise ValueError(f"has no column called {name.strip()!r} ({option}); {hint}")
    return position


def _require_column_count(names: list[str], number: int, option: str, odd: Sequence[str]) -> None:
    """Raise ValueError if columns are not as many as is stated; it names the likely strangers.

    Strangers are the columns in `odd`. If there are none, they are the columns beside a group of
    the stated size whose names only differ by a number; or else those whose own names say so,
    unless too many do.
    """
    what = "votes" if option == "n_teachers" else "counts"
    start = f"has {len(names)} columns of {what} ({list_names(names)}), and {option} = {number}: "
    if len(names) < number:
        raise ValueError(f"{start}must be {number}; a teacher that never voted has a column, too")
    teachers = next((group for group in group_numbered_names(names) if len(group) == number), [])
    strangers: dict[str, list[str]] = {}
    for name in names:
        options = [key for key, form in _STRANGERS.items() if re.fullmatch(form, name.lower())]
        if name.lower() in odd or (not odd and name not in teachers and (options or teachers)):
            key = options[0] if options and options[0] not in strangers else "ignore_columns"
            strangers.setdefault(key, []).append(name)
    shown = [shorten(name) for group in strangers.values() for name in group]
    if 0 < len(shown) <= len(names) - number:
        say = " ".join(f"{key}={shlex.quote(','.join(group))}" for key, group in strangers.items())
        are = "is" if len(shown) == 1 else "are"
        raise ValueError(f"{start}if {', '.join(map(repr, shown))} {are} none say {say}")
    if len(names) > number:
        raise ValueError(f"{start}say which are none with {_NAME_THEM}")


def _refuse_long_format(header: Sequence[str], others: list[int], stated: FileDescription) -> None:
    """Raise ValueError if the columns' names are those of a file with one vote on each line."""
    matches = [
        [position for position, name in enumerate(header) if re.fullmatch(form, name.lower())]
        for form in _LONG
    ]
    positions = [match[0] for match in matches if match]
    if len(set(positions)) < 3:
        return
    if len(others) != stated.teachers or {positions[0], positions[2]} & {*others}:
        say = ",".join(header[position] for position in positions)
        raise ValueError(
            f"has {list_names(header)}: if each line holds one vote say long_columns={say}"
        )


def _class_positions(names: list[str], stated: FileDescription) -> list[int]:
    """Return the position of class 0, 1, ... among columns called by number or by name.

    names: of the columns, in small letters.
    """
    bare = [name.removeprefix("class").strip(" _") for name in names]
    first = stated.first_class
    numbers = [str(first + index) for index in range(len(names))]
    for called in ([name.lower() for name in stated.class_names or ()], numbers):
        for column_names in (names, bare):
            if sorted(column_names) == sorted(called):
                return [column_names.index(name) for name in called]
    if not all(name.isdigit() for name in bare):
        return list(range(len(names)))
    hint = ", or say first_class=1" if set(bare) == {*numbers, str(len(names))} - {"0"} else ""
    raise ValueError(
        f"has columns for classes {min(bare, key=int)} to {max(bare, key=int)}: must be {first} to "
        f"{numbers[-1]}, each once{hint}"
    )


def group_numbered_names(names: Iterable[str]) -> list[list[str]]:
    """Return names in groups of neighbours that only differ by a number."""
    return [list(group) for _, group in groupby(names, lambda name: re.sub(r"\d+", "#", name))]


def list_names(names: Iterable[str]) -> str:
    """Return names in a line; many that only differ by a number are cut to the first and last.

    >>> list_names(["id", "site00", "site01", "site02", "site03", "truth"])
    'id, site00 ... site03, truth'
    """
    shown: list[str] = []
    for group in group_numbered_names(shorten(name) or "(no name)" for name in names):
        shown += [f"{group[0]} ... {group[-1]}"] if len(group) > 3 else group
    return ", ".join(shown if len(shown) <= 24 else [*shown[:12], "...", *shown[-12:]])


def shorten(cell: str) -> str:
    """Return a cell as a message quotes it."""
    return cell if len(cell) <= 40 else f"{cell[:37]}..."
