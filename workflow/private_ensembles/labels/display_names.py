"""Display names of mechanisms, data sets and columns, which tables hold as identifiers."""

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
# PATE's tables and configuration call its mechanisms so, as the paper's rows do.
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
# These parts of a column's name stand in brackets.
_SHORT = {"sd": "(sd)", "mean": "(mean)"}


def find_entry(name: str) -> registry.Entry | None:
    """Return a mechanism's entry by its name or by PATE's name for it, or None if there is none."""
    return registry.entries().get(_AGGREGATORS.get(name, name))


def mechanism_label(name: str) -> str:
    """Return a mechanism's display name; an unknown name is returned as it is.

    >>> mechanism_label("gnmax_analytic"), mechanism_label("confident"), mechanism_label("my_own")
    ('GNMax, analytic σ', 'Confident-GNMax', 'my_own')
    """
    entry = find_entry(name)
    return entry.label if entry else name


def short_labels(mechanisms: Iterable[str], locations: Iterable[object] | None = None) -> list[str]:
    """Return mechanisms' names without how their noise is found, for figures with little room.

    Where two mechanisms at one location would have the same short name, both keep their whole
    names, at every location.

    Args:
        mechanisms: Names of mechanisms.
        locations: Where each of them is shown, such as a panel. None: all are shown at one
            location.

    Returns:
        One display name for each mechanism, in their order.

    >>> short_labels(["gnmax_exact", "darrm_opt"])
    ['GNMax', 'DaRRM']
    >>> short_labels(["darrm_sub", "darrm_opt"])
    ['DaRRM, γ by subsampling', 'DaRRM, optimised γ']
    """
    names = list(mechanisms)
    short_names = [mechanism_label(name).partition(",")[0] for name in names]
    name_locations = repeat(None) if locations is None else locations
    users: dict[tuple[str, object], set[str]] = {}
    for name, short_name, location in zip(names, short_names, name_locations, strict=False):
        users.setdefault((short_name, location), set()).add(name)
    ambiguous = {short_name for (short_name, _), sharing in users.items() if len(sharing) > 1}
    return [
        mechanism_label(name) if short_name in ambiguous else short_name
        for name, short_name in zip(names, short_names, strict=True)
    ]


def aggregator_label(name: str) -> str:
    """Return the display name of what answers queries in PATE's and NZC's tables, with its number.

    The number counts queries for LNMax and teachers for all others. What is no mechanism is
    returned as it is.

    >>> [aggregator_label(name) for name in ("lnmax-100", "confident", "nzc-5", "truth")]
    ['LNMax, 100 queries', 'Confident-GNMax', 'NZC, 5 teachers', 'truth']
    """
    bare, dash, number = name.rpartition("-")
    if not (dash and find_entry(bare)):
        return mechanism_label(name)
    return f"{mechanism_label(bare)}, {number} {'queries' if bare == 'lnmax' else 'teachers'}"


def format_row_name(text: str) -> str:
    """Return the name of a printed number's row or column, with its mechanisms' display names.

    >>> format_row_name("nzc above lnmax-9000"), format_row_name("confident, first label")
    ('NZC above LNMax, 9000 queries', 'Confident-GNMax, first label')
    """
    return re.sub(r"[\w-]+", lambda word: aggregator_label(word[0]), text)


def format_cell(column: str, text: str) -> str:
    """Return the text of a cell with mechanisms' display names, if its column speaks of mechanisms.

    >>> format_cell("mechanism", "ladder"), format_cell("aggregator", "nzc")
    ('Optimal ladder', 'NZC')
    >>> format_cell("note", "nzc")
    'nzc'
    """
    if column == "mechanism":
        return mechanism_label(text)
    return format_row_name(text) if column in ("aggregator", "row", "column", "quantity") else text


def format_reason(text: str) -> str:
    """Return why a mechanism is left out, with the display names of other mechanisms in it.

    >>> format_reason("costs what one teacher does: majority_private")
    'costs what one teacher does: Majority, private teachers'
    """
    return re.sub(r"\w+_\w+", lambda match: mechanism_label(match[0]), text)


def dataset_label(name: str) -> str:
    """Return a data set's display name; an unknown name is returned as it is.

    >>> dataset_label("adult")
    'UCI Adult'
    """
    return DATASETS.get(name, name)


def format_setting(text: str) -> str:
    """Return the setting of a claim, with the display name of the data set that it begins with.

    >>> format_setting("mnist: one label, K = 11"), format_setting("K = 11")
    ('MNIST: one label, K = 11', 'K = 11')
    """
    name, colon, rest = text.partition(": ")
    return f"{dataset_label(name)}{colon}{rest}"


def relation_label(name: str) -> str:
    """Return the display name of a privacy model or an adjacency.

    >>> relation_label("disjoint_shards"), relation_label("add_remove")
    ('disjoint shards', 'add or remove')
    """
    return "add or remove" if name == "add_remove" else name.replace("_", " ")


def format_powers(text: str) -> str:
    """Return a text with its numbers in scientific notation as powers of ten.

    >>> format_powers("ε = 9.1e-08 of 1e+90, δ = 1e-05")
    'ε = 9.1·10⁻⁸ of 10⁹⁰, δ = 10⁻⁵'
    """
    return re.sub(r"(?<![\w.])([\d.]+)e([-+]\d+)(?!\w)", _power, text)


def _power(match: re.Match) -> str:
    exponent = str(int(match[2])).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{exponent}" if match[1] == "1" else f"{match[1]}·10{exponent}"


def column_heading(name: str) -> str:
    """Return the heading of a column: words, Greek letters and mechanisms' names for its parts.

    >>> [column_heading(name) for name in ("delta_total_gnmax", "printed sigma_ss", "accuracy_sd")]
    ['δ total GNMax', 'printed σ ss', 'accuracy (sd)']
    """
    first, *others = re.split(r"[_ ]", name)
    words = [_GREEK.get(first, first)]
    for part in others:
        (short_name,) = short_labels([part])
        words.append(_GREEK.get(part) or _SHORT.get(part) or short_name)
    return " ".join(words)
