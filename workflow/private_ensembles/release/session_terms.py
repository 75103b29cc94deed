"""What stands beside each plan of a ledger: the proof of it, and what labels mean.

All of it is public, and none of it depends on votes. A session states it once, and its batches keep
to it: if one could say otherwise, a label 0 would be one class in March and another in April.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from private_ensembles import checks
from private_ensembles.configuration.class_names import read_class_names
from private_ensembles.release import certificate, release_plan
from private_ensembles.release.certificate import Proof
from private_ensembles.release.ledger_file import Batch
from private_ensembles.release.pool import labels_text
from private_ensembles.release.release_plan import ReleasePlan


@dataclass(frozen=True)
class Names:
    """What labels and queries are called in all batches of a session.

    >>> names = Names(("benign", "malignant"), id_column="case")
    >>> names.of_batch("benign,malignant") == names
    True
    >>> names.of_batch("malignant,benign")
    Traceback (most recent call last):
    ValueError: class_names = 'malignant,benign': must be 'benign,malignant', which the session \
states for all of its batches, or left out

    class_names: of classes 0, 1, ...; None: they have none. first_class: 1 if files of votes count
    classes from 1. id_column: the column of a file that says what queries are called; None: one
    that is called so, if there is one (`foreign_columns.columns_of`).
    """

    class_names: tuple[str, ...] | None = None
    first_class: int = 0
    id_column: str | None = None

    def of_batch(
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
                    must = f"{_shown(ours)}, which the session states for all of its batches, "
                    must += "or left out"
                raise ValueError(f"{name} = {_shown(value)}: must be {must}")
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
    checks.one_of((0, 1), first_class=first_class)
    if id_column is not None and not (isinstance(id_column, str) and id_column.strip()):
        raise ValueError(f"id_column = {id_column!r}: must be the name of a column")
    return Names(named, first_class, id_column)


@dataclass(frozen=True)
class Terms:
    """What stands in a ledger: the plan, what labels are called, what is proven.

    proof: of the plan (`certificate.proof_or_reason`). It is found before anything is charged, so
    that nothing has to be found afterwards.
    """

    plan: ReleasePlan
    names: Names
    proof: Proof

    @classmethod
    def of(cls, plan: ReleasePlan, names: Names) -> Terms:
        """Return the terms of a plan with their proof; takes some seconds where it is large."""
        return cls(plan, names, certificate.proof_or_reason(plan))

    def labels_text(self, batch: Batch) -> str:
        """Return a batch's labels as CSV (`pool.labels_text`), with what queries and labels mean.

        No rows if they were lost.
        """
        named = {name: getattr(self.names, name) for name in ("class_names", "first_class")}
        labels = [] if batch.labels is None else batch.labels
        return labels_text(labels, ids=batch.ids, **named)

    def text(self) -> str:
        """Return them as JSON, from which `read` makes them again, float for float."""
        stated = {"plan": self.plan.text(), "names": asdict(self.names)}
        return json.dumps(stated | {"proof": asdict(self.proof)}, sort_keys=True)


def read(text: str) -> Terms:
    """Return the terms that `Terms.text` wrote; ValueError for any other text."""
    try:
        stated = json.loads(text)
        names, proof = stated["names"], stated["proof"]
        if names["class_names"] is not None:
            names["class_names"] = tuple(names["class_names"])
        curve = tuple((epsilon, delta) for epsilon, delta in proof["curve"])
        plan = release_plan.read(stated["plan"])
        return Terms(plan, Names(**names), Proof(proof["body"], curve))
    except (KeyError, TypeError) as error:
        raise ValueError(f"the terms of the session cannot be read: {error}") from None


def _shown(value: object) -> str:
    return repr(",".join(value) if isinstance(value, tuple) else value)
