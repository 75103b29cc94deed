"""The first sentence of the page: what came out, counted from the run's own findings."""

from collections.abc import Sequence

from private_ensembles.page.findings import Finding

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# What the findings of a kind are called together: one of them, several. Noise is counted by paper.
_KINDS = {
    "broken": ("claim is broken", "claims are broken"),
    "theorem": ("theorem fails", "theorems fail"),
    "noise": ("paper needs less noise than published", "papers need less noise than published"),
}


def sentence(findings: Sequence[Finding], papers: int) -> str:
    """Return what came out in plain words; papers: how many the run covers.

    >>> from private_ensembles.page.findings import Finding
    >>> findings = [Finding("nzc", "t", "t", "docs/nzc.md", "broken")]
    >>> sentence(findings, 4)
    'Four papers on private teacher ensembles, recomputed. One claim is broken.'
    """
    count = "One paper" if papers == 1 else f"{_word(papers).capitalize()} papers"
    head = f"{count} on private teacher ensembles, recomputed."
    parts = []
    for kind, (singular, plural) in _KINDS.items():
        of_kind = [finding for finding in findings if finding.kind == kind]
        number = len({finding.paper for finding in of_kind}) if kind == "noise" else len(of_kind)
        if number:
            parts.append(f"{_word(number)} {singular if number == 1 else plural}")
    if not parts:
        return head
    told = listed(parts)
    return f"{head} {told[0].upper()}{told[1:]}."


def listed(parts: Sequence[str]) -> str:
    """Return one part or more as a list in a sentence.

    >>> listed(["one"]), listed(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
