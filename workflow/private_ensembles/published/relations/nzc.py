"""What NZC says of several of its numbers at once."""

from collections.abc import Iterator

from private_ensembles.published.relations.evidence import Evidence
from private_ensembles.published.relations.judging import Relation


def relations(evidence: Evidence) -> Iterator[Relation]:
    """Yield the paper's relations."""
    yield from ()
