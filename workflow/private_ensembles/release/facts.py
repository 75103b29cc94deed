"""The facts on which the guarantee of a release rests: stated by who knows the data, not assumed.

Nothing in the votes shows them. They stand in the plan of a release or session and in what is
written of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from private_ensembles import checks

# What a task calls the shards that are stated.
MODELS = {"disjoint": "disjoint_shards", "shared": "shared_data"}
# Of the word for what one record is, so that it stands in a sentence.
LONGEST_UNIT = 100


@dataclass(frozen=True)
class Facts:
    """Who is protected, as the user has stated it.

    >>> facts = Facts("disjoint", "patient", reach=2)
    >>> facts.privacy_model, facts.words
    ('disjoint_shards', 'one patient, whose data are in 2 shards at most')

    shards: ``disjoint`` if no record is in the data of two teachers, ``shared`` if one may be.
    unit: what is protected, such as "patient"; at most 100 printable characters. reach: the most
    teachers whose data one unit may be in, if shards are disjoint. Raises ValueError, in one line,
    for a value out of range, and for a reach above 1 of shared data, where it is all teachers.
    """

    shards: str
    unit: str = "record"
    reach: int = 1

    def __post_init__(self) -> None:
        checks.one_of(MODELS, shards=self.shards)
        text = isinstance(self.unit, str) and self.unit.isprintable() and self.unit.strip()
        if not text or len(self.unit) > LONGEST_UNIT:
            allowed = f"what one record is, as patient: at most {LONGEST_UNIT} printable characters"
            raise ValueError(f"unit = {self.unit!r}: must be {allowed}")
        checks.integer(reach=self.reach, at_least=1)
        if self.shards == "shared" and self.reach > 1:
            raise ValueError(
                f"reach = {self.reach}: must be 1 for shards = shared, where a {self.unit} may be "
                "in the data of every teacher anyway"
            )

    @property
    def privacy_model(self) -> str:
        """Return what a task calls these shards."""
        return MODELS[self.shards]

    @property
    def words(self) -> str:
        """Return who is protected, in words."""
        if self.shards == "shared":
            return f"one {self.unit}, whose data any teacher may have"
        if self.reach == 1:
            return f"one {self.unit}, whose data one teacher has"
        return f"one {self.unit}, whose data are in {self.reach} shards at most"


def stated(shards: str | None, unit: str, reach: int, *, secure: bool) -> Facts:
    """Return the facts; ValueError if it is not stated whether a release's shards are disjoint.

    secure: whether labels are for release. A rehearsal releases nothing, so that without a word
    its shards are taken to be disjoint.

    >>> stated(None, "record", 1, secure=True)
    Traceback (most recent call last):
    ValueError: shards: must be stated, "disjoint" (no record is in the data of two teachers) or \
"shared"
    """
    if shards is None and secure:
        raise ValueError(
            'shards: must be stated, "disjoint" (no record is in the data of two teachers) or '
            '"shared"'
        )
    return Facts("disjoint" if shards is None else shards, unit, reach)
