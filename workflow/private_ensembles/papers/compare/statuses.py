"""What may be said of a printed number and ours: the statuses' names, signs and meanings."""

from typing import NamedTuple


class Status(NamedTuple):
    """How a status is shown and what it means.

    Attributes:
        sign: stands beside the word, as colour alone tells too little.
        meaning: is printed on the page and in docs.
        verbs: follow the number of one, and of several ("3 match"), if the status is that of
            numbers that were compared; else empty.
    """

    sign: str
    meaning: str
    verbs: tuple[str, ...] = ()


STATUSES = {
    "match": Status(
        "✓",
        "equal to the printed digits, or within the tolerance where no other result of the table "
        "is",
        ("matches", "match"),
    ),
    "explained": Status(
        "≈",
        "not equal, or equal at other terms than the paper's; the cause is named, and a test shows "
        "that it is the cause",
        ("is explained", "are explained"),
    ),
    "weak": Status(
        "~",
        "the tolerance holds other results of the table as well, or no effect at all",
        ("cannot be told from other results",) * 2,
    ),
    "bounded": Status(
        "≤",
        "not computed, but within limits that follow without data",
        ("is within known limits", "are within known limits"),
    ),
    "input": Status(
        "=", "a parameter of the run, printed again", ("repeats a parameter", "repeat a parameter")
    ),
    "differs": Status("✗", "not equal, and nobody knows why", ("differs", "differ")),
    "not_comparable": Status("○", "same parameters, but votes, students or data of our own"),
    "not_run": Status("–", "not computed in this run"),
}
