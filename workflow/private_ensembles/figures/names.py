"""Names for reading: of mechanisms, data sets and columns, which tables hold as identifiers."""

import re

# What a table's identifier is called on the page. One that is not here, such as a mechanism of
# your own, is shown as it is.
MECHANISMS = {
    "gnmax": "GNMax, published σ",
    "gnmax_improved": "GNMax, improved RDP σ",
    "gnmax_analytic": "GNMax, analytic σ",
    "gnmax_exact": "GNMax, exact σ",
    "lnmax": "LNMax",
    "lnmax_pure": "LNMax, pure scale",
    "lnmax_improved": "LNMax, improved RDP scale",
    "lnmax_analytic": "LNMax, scale of the counts",
    "lnmax_exact": "LNMax, exact scale",
    "confident_gnmax": "Confident-GNMax",
    "confident_gnmax_exact": "Confident-GNMax, exact σ",
    "interactive_gnmax": "Interactive-GNMax",
    "exponential": "Exponential mechanism",
    "permute_and_flip": "Permute-and-flip",
    "ladder": "Optimal ladder",
    "optimal_label": "Optimal label",
    "darrm_sub": "DaRRM, γ by subsampling",
    "darrm_opt": "DaRRM, optimised γ",
    "majority_private": "Majority, private teachers",
    "committee": "Committee of teachers",
    "dpbag": "DPBag and SAA",
    "nzc": "NZC",
}
DATASETS = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "svhn": "SVHN",
    "adult": "UCI Adult",
    "glyph": "Glyph",
    "digits": "digits",
}
_GREEK = {
    "epsilon": "ε",
    "delta": "δ",
    "Delta": "Δ",
    "sigma": "σ",
    "gamma": "γ",
    "beta": "β",
    "lambda": "λ",
    "mu": "μ",
}
# Words that are written as one with a sign before them.
_SHORT = {"sd": "(sd)", "mean": "(mean)"}


def mechanism(name: str) -> str:
    """Return a mechanism's name for reading; an unknown one as it is.

    >>> mechanism("gnmax_analytic"), mechanism("my_own")
    ('GNMax, analytic σ', 'my_own')
    """
    return MECHANISMS.get(name, name)


def reason(text: str) -> str:
    """Return why a mechanism is left out, with others that it speaks of by their names for reading.

    >>> reason("costs what one teacher does: majority_private")
    'costs what one teacher does: Majority, private teachers'
    """
    return re.sub(r"\w+_\w+", lambda match: mechanism(match[0]), text)


def dataset(name: str) -> str:
    """Return a data set's real name; an unknown one as it is.

    >>> dataset("adult")
    'UCI Adult'
    """
    return DATASETS.get(name, name)


def setting(text: str) -> str:
    """Return what a claim is for, with the real name of a data set that it begins with.

    >>> setting("mnist: one label, K = 11"), setting("K = 11")
    ('MNIST: one label, K = 11', 'K = 11')
    """
    name, colon, rest = text.partition(": ")
    return f"{dataset(name)}{colon}{rest}"


def relation(name: str) -> str:
    """Return the name of a privacy model or an adjacency in words.

    >>> relation("disjoint_shards"), relation("add_remove")
    ('disjoint shards', 'add or remove')
    """
    return "add or remove" if name == "add_remove" else name.replace("_", " ")


def powers(text: str) -> str:
    """Return a text with its very large and small numbers as powers of ten.

    >>> powers("ε = 9.1e-08 of 1e+90, δ = 1e-05")
    'ε = 9.1·10⁻⁸ of 10⁹⁰, δ = 10⁻⁵'
    """
    return re.sub(r"(?<![\w.])([\d.]+)e([-+]\d+)(?!\w)", _power, text)


def _power(match: re.Match) -> str:
    raised = str(int(match[2])).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if match[1] == "1" else f"{match[1]}·10{raised}"


def column(name: str) -> str:
    """Return the heading of a column: words for its parts, Greek letters for theirs.

    >>> column("epsilon_total_optimal"), column("printed sigma_ss"), column("accuracy_sd")
    ('ε total optimal', 'printed σ ss', 'accuracy (sd)')
    """
    parts = re.split(r"[_ ]", name)
    words = [
        _GREEK.get(part) or (_SHORT.get(part, part) if i else part) for i, part in enumerate(parts)
    ]
    return " ".join(words)
