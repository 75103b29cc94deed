"""Which queries are answered, in which order, and how labels are written for their owner.

Both are public: they are stated, or drawn without a look at the votes.
"""

from __future__ import annotations

import csv
import io as text_io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from private_ensembles.base import checks, provenance, streams
from private_ensembles.base.noise_sources import SecureNoise, SeededNoise
from private_ensembles.labels.votes import Votes
from private_ensembles.release.class_names import read_class_names

# `answer` is one of these words, or the name of a file with queries.
FIRST, RANDOM = "first", "random"
# A configuration states these of a file of votes, beside class_names and answer.
_FILE_KEYS = (
    "first_class",
    "id_column",
    "truth_column",
    "ignore_columns",
    "long_columns",
    "absent",
    "absent_as",
    "n_teachers",
    "most_ones",
)
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

    Attributes:
        class_names: Names of classes 0, 1, ...; None: they have none.
        first_class: 1 if files of votes count classes from 1.
        id_column: The column of a file that says what queries are called; None: one that is called
            like that, if there is one (`columns.identify_columns`).
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
        """Return these names if a batch does not say otherwise; None: it says nothing.

        Args:
            class_names: As `read_class_names` takes them.
            first_class: What the batch's file calls the first class, 0 or 1.
            id_column: The column of the batch's file that says what queries are called.

        Raises:
            ValueError: If one of them differs.
        """
        names = None if class_names is None else read_class_names(class_names)
        batch = {"class_names": names, "first_class": first_class, "id_column": id_column}
        for name, value in batch.items():
            ours = getattr(self, name)
            if value is not None and value != ours:
                allowed = "left out, as the session states none"
                if ours is not None:
                    allowed = f"{_quote(ours)}, which the session states for all of its batches, "
                    allowed += "or left out"
                raise ValueError(f"{name} = {_quote(value)}: must be {allowed}")
        return self


def names_of(
    classes: int,
    class_names: str | Sequence[str] | None,
    first_class: int = 0,
    id_column: str | None = None,
) -> Names:
    """Return the names that a new session states.

    Args:
        classes: How many there are.
        class_names: As `read_class_names` takes them, or None.
        first_class: What files of votes call the first class, 0 or 1.
        id_column: The column of a file that says what queries are called.

    Raises:
        ValueError: If there are not as many names as classes, or if something cannot be a name.
    """
    names = None if class_names is None else read_class_names(class_names)
    if names is not None and len(names) != classes:
        raise ValueError(f"class_names: {len(names)} of them: must be {classes}")
    checks.check_choice((0, 1), first_class=first_class)
    if id_column is not None and not (isinstance(id_column, str) and id_column.strip()):
        raise ValueError(f"id_column = {id_column!r}: must be the name of a column")
    return Names(names, first_class, id_column)


@dataclass(frozen=True)
class Pool:
    """An ensemble's votes in the order in which queries are answered, and how labels are written.

    Attributes:
        votes: In that order.
        queries: The number, from 0, that each query has in the file, (queries,) int; None: the
            file is in this order.
        ids: What the file calls its queries, in the file's order.
        names: What the file calls classes.
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
        labels = np.full(int(self.queries.max()) + 1, -1, np.int64)
        labels[self.queries] = released
        return labels

    def to_csv(self, released: Sequence[int] | NDArray[np.int64]) -> str:
        """Return labels, (queries,) in the order of `votes`, as `labels_text` does."""
        return labels_text(self.to_file_order(released), ids=self.ids, names=self.names)


def read_pool(
    path: str | Path,
    file_facts: Mapping[str, Any],
    answer: str | Sequence[int] = FIRST,
    seed: int | None = None,
) -> Pool:
    """Return the votes of a file in the order in which their queries are answered.

    Args:
        path: The file.
        file_facts: What its owner says of it, fields of `files.columns.FileDescription`.
        answer: As in `pool_of`.
        seed: As in `pool_of`.

    Raises:
        ValueError: As in `files.votes_reader.read_own_votes` and `pool_of`.
        OSError: If a file cannot be opened.
    """
    # It brings pandas along, which a session does without.
    from private_ensembles.release.files.votes_reader import read_own_votes

    votes = read_own_votes(path, **file_facts)
    class_names, first_class = file_facts["class_names"], file_facts["first_class"]
    return pool_of(votes, answer, class_names, seed, first_class=first_class)


def pool_of(
    votes: Votes,
    answer: str | Sequence[int] = FIRST,
    class_names: str | Sequence[str] | None = None,
    seed: int | None = None,
    *,
    first_class: int = 0,
) -> Pool:
    """Return the votes in the order that `answer` says.

    Args:
        votes: In the order of the file.
        answer: ``first``: in the order of the file. ``random``: all queries, each order as likely
            as any other. The name of a file in UTF-8: these queries alone, one on each line, by
            their identifiers if the votes have any, otherwise by their numbers from 0. A sequence
            of numbers from 0: these queries.
        class_names: As in `read_class_names`.
        seed: The seed of a rehearsal's random order; None: the operating system's entropy.
        first_class: What the file calls the first class, 0 or 1.

    Raises:
        ValueError: If a query is unknown or is named twice, if the list is empty, or if there is
            not a name for each class. The message is one line.
        OSError: If a file cannot be opened.

    >>> counts = np.array([[3, 0], [2, 1], [0, 3]])
    >>> votes = Votes(2, [-1, -1, -1], counts=counts, ids=("a", "b", "c"))
    >>> pool = pool_of(votes, [2, 0], ("no", "yes"))
    >>> pool.votes.histogram().tolist(), pool.to_csv([1, 0])
    ([[0, 3], [3, 0]], 'query,id,label,class_name\\n0,a,0,no\\n2,c,1,yes\\n')
    """
    names = names_of(votes.n_classes, class_names, first_class)
    order = _order(votes, answer, seed)
    ordered = votes if order is None else votes.select_queries(order)
    return Pool(ordered, order, votes.ids, names)


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
    """Return released labels as CSV: query (from 0), label; queries without a label are left out.

    Args:
        released: The label of each query, (queries,) int, -1 for none.
        ids: What the queries are called, for a column `id` after the first.
        names: What the classes are called, for a last column `class_name`, if they have names; in
            the column `label` they count from `first_class`.

    >>> labels_text([2, -1, 0])
    'query,label\\n0,2\\n2,0\\n'
    """
    class_names = names.class_names
    header = ["query", *([] if ids is None else ["id"]), "label"]
    header += [] if class_names is None else ["class_name"]
    text = text_io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(header)
    for query, label in enumerate(np.asarray(released).tolist()):
        if label >= 0:
            row = [query, *([] if ids is None else [ids[query]]), label + names.first_class]
            rows.writerow(row if class_names is None else [*row, class_names[label]])
    return text.getvalue()


def collect_file_facts(config: Mapping) -> dict[str, object]:
    """Return what a configuration states of the file and its queries, for the hash of a request.

    A file counts by its content.

    Raises:
        ValueError: As `pool_of` does.
        OSError: If a file cannot be opened.
    """
    answer, names = config.get("answer", FIRST), config.get("class_names")
    facts = {name: config.get(name) for name in _FILE_KEYS}
    facts["class_names"] = names and list(read_class_names(names))
    if answer != FIRST:
        facts["answer"] = answer if answer == RANDOM else provenance.sha256_of(Path(answer))
    return {name: value for name, value in facts.items() if value}


def _order(votes: Votes, answer: str | Sequence[int], seed: int | None) -> NDArray | None:
    number = votes.n_queries
    if isinstance(answer, str) and answer == FIRST:
        return None
    if isinstance(answer, str) and answer == RANDOM:
        source: SecureNoise | SeededNoise = SecureNoise()
        if seed is not None:
            source = SeededNoise(streams.generator(seed, "own votes", "queries"))
        return source.subsets(1, number, number)[0]
    if isinstance(answer, str):
        return _read_query_list(votes, Path(answer))
    order = np.asarray(answer)
    if order.ndim != 1 or order.dtype.kind not in "iu" or not len(order):
        raise ValueError("answer: must be first, random, or the numbers of queries, one at least")
    queries = [(f"answer[{index}]", int(query)) for index, query in enumerate(order)]
    return _require_distinct(queries, number)


def _read_query_list(votes: Votes, path: Path) -> NDArray[np.int64]:
    try:
        lines = path.read_text(encoding="utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: is not text in UTF-8: save it in UTF-8") from None
    if not lines:
        raise ValueError(f"{path}: is empty: must name a query on each line")
    numbers = {name: query for query, name in enumerate(votes.ids or ())}
    queries = []
    for line, text in enumerate(map(str.strip, lines), start=1):
        where = f"{path}: line {line}"
        if votes.ids is not None:
            if text not in numbers:
                raise ValueError(f"{where}: {text[:40]!r} is the identifier of no query")
            queries.append((where, numbers[text]))
        elif text.isascii() and text.isdigit() and len(text) < 10:
            queries.append((where, int(text)))
        else:
            raise ValueError(f"{where}: {text[:40]!r}: must be the number of a query, from 0")
    return _require_distinct(queries, votes.n_queries)


def _require_distinct(queries: Sequence[tuple[str, int]], number: int) -> NDArray[np.int64]:
    """Return queries that are named somewhere, (queries,); ValueError for one unknown or again."""
    seen: set[int] = set()
    for where, query in queries:
        if not 0 <= query < number:
            raise ValueError(f"{where} = {query}: must be a query from 0 to {number - 1}")
        if query in seen:
            raise ValueError(f"{where}: names query {query} a second time: must be different ones")
        seen.add(query)
    return np.array([query for _, query in queries], dtype=np.int64)


def _quote(value: object) -> str:
    return repr(",".join(value) if isinstance(value, tuple) else value)
