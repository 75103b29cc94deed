"""Which queries are answered, in which order, and how labels are written for whoever asked.

Both are public: they are stated, or drawn without a look at the votes.
"""

from __future__ import annotations

import csv
import io as text_io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks, provenance
from private_ensembles.base import streams as randomness
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.votes import Votes
from private_ensembles.release.class_names import read_class_names

# How `answer` says which queries come first; anything else is the name of a file.
FIRST, RANDOM = "first", "random"
_WORDS = {
    FIRST: "queries are answered in the order of the file",
    RANDOM: "queries are answered in an order drawn at random, whatever the votes",
}


@dataclass(frozen=True)
class Names:
    """What labels and queries are called in all batches of a session.

    >>> names = Names(("benign", "malignant"), id_column="case")
    >>> names.require_unchanged("benign,malignant") == names
    True
    >>> names.require_unchanged("malignant,benign")
    Traceback (most recent call last):
    ValueError: class_names = 'malignant,benign': must be 'benign,malignant', which the session \
states for all of its batches, or left out

    class_names: of classes 0, 1, ...; None: they have none. first_class: 1 if files of votes count
    classes from 1. id_column: the column of a file that says what queries are called; None: one
    that is called so, if there is one (`columns.identify_columns`).
    """

    class_names: tuple[str, ...] | None = None
    first_class: int = 0
    id_column: str | None = None

    def require_unchanged(
        self,
        class_names: str | Sequence[str] | None = None,
        first_class: int | None = None,
        id_column: str | None = None,
    ) -> Names:
        """Return these names; ValueError if a batch says otherwise. None: it says nothing.

        class_names: as `read_class_names` takes them.
        """
        named = None if class_names is None else read_class_names(class_names)
        said = {"class_names": named, "first_class": first_class, "id_column": id_column}
        for name, value in said.items():
            ours = getattr(self, name)
            if value is not None and value != ours:
                must = "left out, as the session states none"
                if ours is not None:
                    must = f"{_quote(ours)}, which the session states for all of its batches, "
                    must += "or left out"
                raise ValueError(f"{name} = {_quote(value)}: must be {must}")
        return self


def names_of(
    classes: int,
    class_names: str | Sequence[str] | None,
    first_class: int = 0,
    id_column: str | None = None,
) -> Names:
    """Return the names that a new session states; ValueError for what cannot be a name.

    classes: how many there are. class_names: as `read_class_names` takes them, or None.
    """
    named = None if class_names is None else read_class_names(class_names)
    if named is not None and len(named) != classes:
        raise ValueError(f"class_names: {len(named)} of them: must be {classes}")
    checks.check_choice((0, 1), first_class=first_class)
    if id_column is not None and not (isinstance(id_column, str) and id_column.strip()):
        raise ValueError(f"id_column = {id_column!r}: must be the name of a column")
    return Names(named, first_class, id_column)


@dataclass(frozen=True)
class Pool:
    """An ensemble's votes in the order in which queries are answered, and how labels are written.

    queries: the number, from 0, that each of them has in the file; None: the same. ids: what the
    file calls its queries, in its order. names: what it calls classes.
    """

    votes: Votes
    queries: NDArray[np.int64] | None = None
    ids: tuple[str, ...] | None = None
    names: Names = Names()

    def to_file_order(self, released: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return labels, (queries,) in the order of `votes`, in that of the file; -1: no label."""
        released = np.asarray(released, dtype=np.int64)
        if self.queries is None:
            return released
        in_order = np.full(int(self.queries.max()) + 1, -1, np.int64)
        in_order[self.queries] = released
        return in_order

    def to_csv(self, released: Sequence[int] | NDArray[np.int64]) -> str:
        """Return labels, (queries,) in the order of `votes`, as `labels_text` does."""
        return labels_text(self.to_file_order(released), ids=self.ids, names=self.names)


def pool_of(
    votes: Votes,
    answer: str | Sequence[int] = FIRST,
    class_names: str | Sequence[str] | None = None,
    seed: int | None = None,
    *,
    first_class: int = 0,
) -> Pool:
    """Return the votes in the order that `answer` says.

    answer: ``first``: that of the file. ``random``: all queries, each order as likely as any other,
    from the operating system's entropy (`seed` None) or from a rehearsal's seed. A file in UTF-8:
    these queries alone, one on each line, by their identifiers if the votes have any, else by their
    numbers from 0. Numbers from 0 in a sequence: these. class_names: as in `read_class_names`.
    first_class: what the file calls the first class, 0 or 1.

    >>> counts = np.array([[3, 0], [2, 1], [0, 3]])
    >>> votes = Votes(2, [-1, -1, -1], counts=counts, ids=("a", "b", "c"))
    >>> pool = pool_of(votes, [2, 0], ("no", "yes"))
    >>> pool.votes.histogram().tolist(), pool.to_csv([1, 0])
    ([[0, 3], [3, 0]], 'query,id,label,class_name\\n0,a,0,no\\n2,c,1,yes\\n')

    Raises ValueError, one line, for a query that the votes lack or that is named twice, for an
    empty list, and for another number of names than classes; OSError for a file that cannot be
    opened.
    """
    names = names_of(votes.n_classes, class_names, first_class)
    order = _order(votes, answer, seed)
    asked = votes if order is None else votes.select_queries(order)
    return Pool(asked, order, votes.ids, names)


def describe_order(answer: str) -> str:
    """Return in words which queries come first; the name of a file is left out.

    >>> describe_order("random")
    'queries are answered in an order drawn at random, whatever the votes'
    """
    return _WORDS.get(answer, "the queries of a stated list are answered, in its order")


def labels_text(
    released: Sequence[int] | NDArray[np.int64],
    *,
    ids: Sequence[str] | None = None,
    names: Names = Names(),
) -> str:
    """Return released labels as CSV: query (from 0), label; those without an answer left out.

    ids: of the queries, in a column `id` after the first. names: of the classes, in a last column
    `class_name`, if they have any; in the column `label` they count from `first_class`.

    >>> labels_text([2, -1, 0])
    'query,label\\n0,2\\n2,0\\n'
    """
    columns = {"query": lambda query, _: query}
    if ids is not None:
        columns["id"] = lambda query, _: ids[query]
    columns["label"] = lambda _, label: label + names.first_class
    if names.class_names is not None:
        columns["class_name"] = lambda _, label: names.class_names[label]
    text = text_io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    for query, label in enumerate(np.asarray(released).tolist()):
        if label >= 0:
            rows.writerow([of(query, label) for of in columns.values()])
    return text.getvalue()


def collect_file_facts(config: Mapping) -> dict[str, object]:
    """Return what a configuration states of the file and its queries, for the hash of a request.

    A file counts by its content. Raises ValueError and OSError as `pool_of` does.
    """
    answer, names = config.get("answer", FIRST), config.get("class_names")
    keys = ("first_class", "id_column", "truth_column", "ignore_columns", "long_columns")
    keys += ("absent", "absent_as", "n_teachers", "most_ones")
    known = {name: config.get(name) for name in keys}
    known["class_names"] = names and list(read_class_names(names))
    if answer != FIRST:
        known["answer"] = answer if answer == RANDOM else provenance.sha256_of(Path(answer))
    return {name: value for name, value in known.items() if value}


def _order(votes: Votes, answer: str | Sequence[int], seed: int | None) -> NDArray | None:
    number = votes.n_queries
    if isinstance(answer, str) and answer == FIRST:
        return None
    if isinstance(answer, str) and answer == RANDOM:
        source = SecureNoise()
        if seed is not None:
            source = SeededNoise(randomness.generator(seed, "own votes", "queries"))
        return source.subsets(1, number, number)[0]
    if isinstance(answer, str):
        return _read_query_list(votes, Path(answer))
    order = np.asarray(answer)
    if order.ndim != 1 or order.dtype.kind not in "iu" or not len(order):
        raise ValueError("answer: must be first, random, or the numbers of queries, one at least")
    return _require_distinct(
        [(f"answer[{at}]", int(query)) for at, query in enumerate(order)], number
    )


def _read_query_list(votes: Votes, path: Path) -> NDArray[np.int64]:
    try:
        lines = path.read_text(encoding="utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is not text in UTF-8: save it in UTF-8") from None
    if not lines:
        raise ValueError(f"{path}: is empty: must name a query on each line")
    numbers = {name: query for query, name in enumerate(votes.ids or ())}
    named = []
    for line, text in enumerate(map(str.strip, lines), start=1):
        where = f"{path}: line {line}"
        if votes.ids is not None:
            if text not in numbers:
                raise ValueError(f"{where}: {text[:40]!r} is the identifier of no query")
            named.append((where, numbers[text]))
        elif text.isascii() and text.isdigit() and len(text) < 10:
            named.append((where, int(text)))
        else:
            raise ValueError(f"{where}: {text[:40]!r}: must be the number of a query, from 0")
    return _require_distinct(named, votes.n_queries)


def _require_distinct(named: Sequence[tuple[str, int]], number: int) -> NDArray[np.int64]:
    seen: set[int] = set()
    for where, query in named:
        if not 0 <= query < number:
            raise ValueError(f"{where} = {query}: must be a query from 0 to {number - 1}")
        if query in seen:
            raise ValueError(f"{where}: names query {query} a second time: must be different ones")
        seen.add(query)
    return np.array([query for _, query in named], dtype=np.int64)


def _quote(value: object) -> str:
    return repr(",".join(value) if isinstance(value, tuple) else value)
