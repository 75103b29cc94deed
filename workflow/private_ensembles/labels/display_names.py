"""Names for reading: of mechanisms, data sets and columns, which tables hold as identifiers."""

import re
from collections.abc import Iterable
from itertools import repeat

from private_ensembles.labels import registry

DATASETS = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "svhn": "SVHN",
    "adult": "UCI Adult",
    "glyph": "Glyph",
    "digits": "digits",
}
# What PATE's tables and configuration call its mechanisms, as the paper's rows do.
_AGGREGATORS = {"confident": "confident_gnmax", "interactive": "interactive_gnmax"}
_GREEK = {
    "epsilon": "ε",
    "delta": "δ",
    "Delta": "Δ",
    "sigma": "σ",
    "gamma": "γ",
    "beta": "β",
    "lambda": "λ",
}
# Words that are written as one with a sign before them.
_SHORT = {"sd": "(sd)", "mean": "(mean)"}


def find_entry(name: str) -> registry.Entry | None:
    """Return a mechanism's facts by its name, or by what PATE's tables call it; None of others."""
    return registry.entries().get(_AGGREGATORS.get(name, name))


def mechanism_label(name: str) -> str:
    """Return a mechanism's name for reading; an unknown one as it is.

    >>> mechanism_label("gnmax_analytic"), mechanism_label("confident"), mechanism_label("my_own")
    ('GNMax, analytic σ', 'Confident-GNMax', 'my_own')
    """
    known = find_entry(name)
    return known.label if known else name


def short_labels(mechanisms: Iterable[str], locations: Iterable[object] | None = None) -> list[str]:
    """Return mechanisms' names without how their noise is found, for figures with little room.

    places: where each of them is shown; without them all are shown at one place. Where two would
    have the same short name, both keep their whole names, at every place.

    >>> short_labels(["gnmax_exact", "darrm_opt"])
    ['GNMax', 'DaRRM']
    >>> short_labels(["darrm_sub", "darrm_opt"])
    ['DaRRM, γ by subsampling', 'DaRRM, optimised γ']
    """
    listed = list(mechanisms)
    first = [mechanism_label(name).partition(",")[0] for name in listed]
    where = repeat(None) if locations is None else locations
    sharing: dict[tuple, set[str]] = {}
    for name, words, place in zip(listed, first, where, strict=False):
        sharing.setdefault((words, place), set()).add(name)
    several = {words for (words, _), among in sharing.items() if len(among) > 1}
    return [
        mechanism_label(name) if words in several else words
        for name, words in zip(listed, first, strict=True)
    ]


def aggregator_label(name: str) -> str:
    """Return what answers queries in PATE's and NZC's tables: a mechanism, and of how many.

    LNMax has a number of queries; the others, a number of teachers. What is no mechanism stays.

    >>> aggregator_label("lnmax-100"), aggregator_label("confident"), aggregator_label("nzc-5"), aggregator_label("truth")
    ('LNMax, 100 queries', 'Confident-GNMax', 'NZC, 5 teachers', 'truth')
    """
    bare, dash, number = name.rpartition("-")
    if not (dash and find_entry(bare)):
        return mechanism_label(name)
    return f"{mechanism_label(bare)}, {number} {'queries' if bare == 'lnmax' else 'teachers'}"


def format_row_name(text: str) -> str:
    """Return what a printed number's row or column is about, with its mechanisms' labels.

    >>> format_row_name("nzc above lnmax-9000"), format_row_name("confident, first label")
    ('NZC above LNMax, 9000 queries', 'Confident-GNMax, first label')
    """
    return re.sub(r"[\w-]+", lambda word: aggregator_label(word[0]), text)


def format_cell(column: str, text: str) -> str:
    """Return a cell of a table's column, with the labels of mechanisms that it speaks of.

    >>> format_cell("mechanism", "ladder"), format_cell("aggregator", "nzc"), format_cell("note", "nzc")
    ('Optimal ladder', 'NZC', 'nzc')
    """
    if column == "mechanism":
        return mechanism_label(text)
    return format_row_name(text) if column in ("aggregator", "row", "column", "quantity") else text


def format_reason(text: str) -> str:
    """Return why a mechanism is left out, with others that it speaks of by their names for reading.

    >>> format_reason("costs what one teacher does: majority_private")
    'costs what one teacher does: Majority, private teachers'
    """
    return re.sub(r"\w+_\w+", lambda match: mechanism_label(match[0]), text)


def dataset_label(name: str) -> str:
    """Return a data set's real name; an unknown one as it is.

    >>> dataset_label("adult")
    'UCI Adult'
    """
    return DATASETS.get(name, name)


def format_setting(text: str) -> str:
    """Return what a claim is for, with the real name of a data set that it begins with.

    >>> format_setting("mnist: one label, K = 11"), format_setting("K = 11")
    ('MNIST: one label, K = 11', 'K = 11')
    """
    name, colon, rest = text.partition(": ")
    return f"{dataset_label(name)}{colon}{rest}"


def relation_label(name: str) -> str:
    """Return the name of a privacy model or an adjacency in words.

    >>> relation_label("disjoint_shards"), relation_label("add_remove")
    ('disjoint shards', 'add or remove')
    """
    return "add or remove" if name == "add_remove" else name.replace("_", " ")


def format_powers(text: str) -> str:
    """Return a text with its very large and small numbers as powers of ten.

    >>> format_powers("ε = 9.1e-08 of 1e+90, δ = 1e-05")
    'ε = 9.1·10⁻⁸ of 10⁹⁰, δ = 10⁻⁵'
    """
    return re.sub(r"(?<![\w.])([\d.]+)e([-+]\d+)(?!\w)", _power, text)


def _power(match: re.Match) -> str:
    raised = str(int(match[2])).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if match[1] == "1" else f"{match[1]}·10{raised}"


def column_heading(name: str) -> str:
    """Return the heading of a column: words for its parts, Greek letters and mechanisms for theirs.

    >>> column_heading("epsilon_total_gnmax"), column_heading("printed sigma_ss"), column_heading("accuracy_sd")
    ('ε total GNMax', 'printed σ ss', 'accuracy (sd)')
    """
    first, *others = re.split(r"[_ ]", name)
    words = [_GREEK.get(first, first)]
    for part in others:
        (short_name,) = short_labels([part])
        words.append(_GREEK.get(part) or _SHORT.get(part) or short_name)
    return " ".join(words)
