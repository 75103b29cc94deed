"""What the columns of somebody's table hold, by their names alone: votes, counts, labels, names.

The cells say nothing here: whether a table is refused must not depend on votes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from private_ensembles import checks
from private_ensembles.accounting.limits import MOST_CLASSES, MOST_TEACHERS
from private_ensembles.configuration.class_names import read_class_names

KINDS = ("auto", "votes", "counts")
SAY = "say votes_kind=votes or votes_kind=counts"
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
_NAME_THEM = "id_column=NAME, truth_column=NAME, ignore_columns=NAME,NAME"
# What the columns of a file with one vote a line are called: the query's, the teacher's, the vote.
_LONG = (
    r"(task|item|query|question|example|image|object|text|row|doc|document|record|hit)?s?_?(id)?",
    r"(worker|annotator|user|rater|teacher|performer|labell?er|coder|model|site|variable)s?_?(id)?",
    r"(label|vote|answer|response|choice|annotation|class|value|rating|result)s?",
)


@dataclass(frozen=True)
class Stated:
    """What the owner of a file says of it, as in `foreign.read_own_votes`; ValueError if it cannot.

    public: the votes are no secret, and how many teachers there are is read off the file.
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
        """Take texts apart, and number the classes by their names."""
        checks.one_of(KINDS, votes_kind=self.kind)
        checks.one_of((0, 1), first_class=self.first_class)
        names = None if self.class_names is None else read_class_names(self.class_names)
        if names is not None and self.n_classes not in (None, len(names)):
            raise ValueError(
                f"n_classes = {self.n_classes}: must be {len(names)}, as many as class_names"
            )
        n_classes = self.n_classes if names is None else len(names)
        checks.integer(n_classes=n_classes, at_least=2, at_most=MOST_CLASSES)
        if self.teachers is not None:
            checks.integer(n_teachers=self.teachers, at_least=2, at_most=MOST_TEACHERS)
        if self.absent_as is not None and not self.absent:
            raise ValueError(f"absent_as = {self.absent_as!r}: must be stated with absent=yes")
        long, ignored = _listed(self.long_columns), _listed(self.ignore_columns)
        if long and (len(set(long)) != 3 or self.kind == "counts"):
            raise ValueError(
                f"long_columns = {','.join(long)!r}: must be three columns of votes: the queries', "
                "the teachers' and the votes', as in long_columns=task,worker,label"
            )
        texts = {"class_names": names, "n_classes": n_classes, "long_columns": long}
        for name, value in (texts | {"ignore_columns": ignored}).items():
            object.__setattr__(self, name, value)


def _listed(text: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return names that a text lists with commas between them."""
    return tuple(
        name.strip() for name in (text.split(",") if isinstance(text, str) else text or ())
    )


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


def columns_of(header: Sequence[str], stated: Stated) -> Columns:
    """Return what the columns with these names hold.

    The column that `stated` names, or one called label, holds the labels; the one that it names, or
    one called id, query, query_id or index, or a first one without a name, holds identifiers. Those
    to be ignored count as none. All others must be one for each class (``class...``, or the names
    of the classes): counts; or one for each of the teachers: votes.

    >>> columns_of(["image", "anna", "ben", "label"], Stated(3, teachers=2, id_column="image"))
    Columns(kind='auto', matrix=[1, 2], label=3, id=0, worker=None)

    Raises ValueError, one line, for names that leave that open, or that two columns have, and for
    another number of teachers than is stated.
    """
    lower = [name.strip().lower() for name in header]
    if len(set(lower)) < len(lower):
        twice = next(name for name in lower if lower.count(name) > 1)
        raise ValueError(
            f"has two columns called {short(twice)!r}: every name must be another one (or if line "
            "1 holds votes say class_names=NAME,NAME,...)"
        )
    if stated.long_columns:
        task, worker, vote = (_place(header, name, "long_columns") for name in stated.long_columns)
        return Columns("votes", [vote], None, task, worker)
    # One that is not there does no harm: the others must be as many as is stated.
    ignored = {_find(header, name) for name in stated.ignore_columns}
    left = [at for at in range(len(lower)) if at not in ignored]
    label = _find(header, stated.truth_column or "")
    if stated.truth_column is None:
        label = _only(header, left, _LABELS, "truth_column")
    if stated.id_column is None:
        id_ = _only(header, left, _IDS, "id_column")
    else:
        id_ = _place(header, stated.id_column, "id_column")
    if id_ is None and left[:1] == [0] and not lower[0]:
        id_ = 0
    others = [at for at in left if at not in (label, id_)]
    if not others:
        raise ValueError("has no column of votes or counts")
    for at in others:
        if not lower[at]:
            raise ValueError(
                f"has no name for column {at + 1}: only a first column of identifiers needs none"
            )
    names = [header[at].strip() for at in others]
    classes = {name.lower() for name in stated.class_names or ()}
    odd = [name for name in names if not (_CLASS.match(name.lower()) or name.lower() in classes)]
    if stated.kind != "votes" and len(names) - len(odd) in (len(names), stated.n_classes):
        kind = "counts"
    else:
        kind = "votes" if all(lower[at].startswith("teacher") for at in others) else stated.kind
    if stated.kind not in ("auto", kind):
        raise ValueError(f"has a header of {kind}, and votes_kind = {stated.kind} is asked for")
    if kind == "counts":
        _are_enough(names, stated.n_classes, "n_classes", odd)
        if not stated.public and stated.teachers is None:
            raise ValueError(ask_for_teachers("every row adds up to it"))
        order = _places([name.lower() for name in names], stated)
        return Columns(kind, [others[at] for at in order], label, id_)
    _is_not_long(header, others, stated)
    if not stated.public:
        if stated.teachers is None:
            raise ValueError(ask_for_teachers(f"the file has {listed(header)}"))
        _are_enough(names, stated.teachers, "n_teachers", [])
    return Columns(kind, others, label, id_)


def ask_for_teachers(why: str) -> str:
    """Return what to say if the number of teachers, on which the promise rests, is not stated."""
    return (
        f"n_teachers = None: must be the number of teachers; {why}: say n_teachers=NUMBER, and "
        f"which columns, if any, are no teacher's with {_NAME_THEM}"
    )


def aside(at: int, name: str, stated: Stated) -> bool:
    """Return whether a column, by its place and name, holds no votes or counts."""
    lower = name.strip().lower()
    named = (stated.id_column, stated.truth_column, *stated.ignore_columns, *stated.long_columns)
    wanted = {text.strip().lower() for text in named if text is not None}
    return lower in {*_LABELS, *_IDS, *wanted} or (at == 0 and not lower)


def _find(header: Sequence[str], wanted: str) -> int | None:
    """Return the place of a column of this name, or else of the same letters; None for no name."""
    names = [name.strip() for name in header]
    for form in (str, str.lower):
        if wanted.strip() and form(wanted.strip()) in (some := list(map(form, names))):
            return some.index(form(wanted.strip()))
    return None


def _place(header: Sequence[str], wanted: str, option: str) -> int:
    if (at := _find(header, wanted)) is not None:
        return at
    hint = checks.did_you_mean(wanted, header) or f"it has {listed(header)}"
    raise ValueError(f"has no column called {wanted!r} ({option}); {hint}")


def _only(header: Sequence[str], left: list[int], usual: Sequence[str], option: str) -> int | None:
    """Return the place of the column that has one of the usual names, if there is one."""
    found = [at for at in left if header[at].strip().lower() in usual]
    if len(found) > 1:
        several = ", ".join(header[at] for at in found)
        raise ValueError(f"has columns called {several}: say {option}=NAME, ignore_columns=NAME")
    return found[0] if found else None


def _are_enough(names: list[str], number: int, option: str, odd: list[str]) -> None:
    """ValueError that lists columns which are not as many as is stated.

    odd: those that are probably too many; else they are told by their names.
    """
    if len(names) == number:
        return
    what = "votes" if option == "n_teachers" else "counts"
    said = f"has {len(names)} columns of {what} ({listed(names)}), and {option} = {number}: "
    if len(names) < number:
        raise ValueError(f"{said}must be {number}; a teacher that never voted has a column, too")
    kinds = _strangers(names, number) if what == "votes" else {"ignore_columns": odd}
    say = " ".join(f"{key}={shlex.quote(','.join(some))}" for key, some in kinds.items() if some)
    if say:
        none = ", ".join(repr(short(name)) for some in kinds.values() for name in some)
        raise ValueError(f"{said}if {none} {'is' if ',' not in none else 'are'} none say {say}")
    raise ValueError(f"{said}say which are none with {_NAME_THEM}")


def _strangers(names: list[str], number: int) -> dict[str, list[str]]:
    """Return columns that are probably no teacher's, by the option that says what they are.

    Those beside as many as there are teachers whose names only differ by a number; or else those
    whose own names say so, unless too many do.
    """
    found: dict[str, list[str]] = {}
    family = next((some for some in families(names) if len(some) == number), ())
    for name in names:
        forms = (key for key, form in _STRANGERS.items() if re.fullmatch(form, name.lower()))
        key = next(forms, "ignore_columns" if family else None)
        if key is not None and name not in family:
            found.setdefault("ignore_columns" if key in found else key, []).append(name)
    return found if sum(map(len, found.values())) <= len(names) - number else {}


def _is_not_long(header: Sequence[str], others: list[int], stated: Stated) -> None:
    """ValueError that says how to read one vote a line, if the columns are called like that."""
    named = [
        next(
            (at for at, name in enumerate(header) if re.fullmatch(form, name.strip().lower())), None
        )
        for form in _LONG
    ]
    if None in named or len(set(named)) < 3:
        return
    if len(others) != stated.teachers or {named[0], named[2]} & {*others}:
        columns = ",".join(header[at].strip() for at in named)
        raise ValueError(
            f"has {listed(header)}: if each line holds one vote say long_columns={columns}"
        )


def families(names: Iterable[str]) -> list[list[str]]:
    """Return names in groups, of neighbours that only differ by a number."""
    return [list(some) for _, some in groupby(names, lambda name: re.sub(r"\d+", "#", name))]


def listed(names: Iterable[str]) -> str:
    """Return names in a line; of many that only differ by a number, the first and the last one.

    >>> listed(["id", "site00", "site01", "site02", "site03", "truth"])
    'id, site00 ... site03, truth'
    """
    said = []
    for some in families(short(name.strip()) or "(no name)" for name in names):
        said += [f"{some[0]} ... {some[-1]}"] if len(some) > 3 else some
    return ", ".join(said if len(said) <= 24 else [*said[:12], "...", *said[-12:]])


def _places(names: list[str], stated: Stated) -> list[int]:
    """Return where class 0, 1, ... is among columns called by number or name."""
    bare = [name.removeprefix("class").strip(" _") for name in names]
    called = [name.lower() for name in stated.class_names or ()]
    for some in (names, bare):
        if sorted(some) == sorted(called):
            return [some.index(name) for name in called]
    if not all(number.isdigit() and number.isascii() for number in bare):
        return list(range(len(names)))
    first, classes = stated.first_class, [int(number) for number in bare]
    if sorted(classes) != list(range(first, first + len(classes))):
        from_one = sorted(classes) == list(range(1, len(classes) + 1))
        raise ValueError(
            f"has columns for classes {min(classes)} to {max(classes)}: must be {first} to "
            f"{len(classes) - 1 + first}, each once{', or say first_class=1' if from_one else ''}"
        )
    return sorted(range(len(classes)), key=classes.__getitem__)


def short(cell: str) -> str:
    """Return a cell as a message quotes it."""
    return cell if len(cell) <= 40 else f"{cell[:37]}..."
