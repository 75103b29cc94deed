"""Options, subcommands and keys that 0.3 had and that are gone, with what to do instead.

The configuration's check and the command look here when they meet a name that they do not know.
This table goes with the version after this one.
"""

# Each option, subcommand and key (its last part), with underscores, has advice on what to do.
REMOVED = {
    "active_learning": "examples/active_learning.py does it for your own session",
    "adversaries": "give it in studies/config.yaml (studies/README.md)",
    "authors_labels": "give it in studies/config.yaml (studies/README.md)",
    "authors_votes": "give it in studies/config.yaml (studies/README.md)",
    "best_label": "give it in studies/config.yaml (studies/README.md)",
    "equal_budget": "give it in studies/config.yaml (studies/README.md)",
    "findings": "ask k yes/no findings as k queries of two classes (examples/many_findings.py)",
    "interactive_students": "give it in studies/config.yaml (studies/README.md)",
    "level": "a session has noise of one scale",
    "levels": "a session has noise of one scale",
    "many_labels": "give it in studies/config.yaml (studies/README.md)",
    "most_ones": "a session would have to remember each teacher's ones: plan and release take it",
    "page": "the plan itself is printed, or written by --json",
    "release": "what PATE's labels cost for certain needs no votes; answer_cap is a key of pate",
    "reserve": "a session has noise of one scale",
    "resolution": "give one vote per teacher, which was right as often as scores",
    "sampled": "let all teachers vote: a sample of them was not worth its noise",
    "scores": "call score_epsilon, score_scale and draw_scores from Python (docs/other-labels.md)",
    "weights": "give every teacher one vote, which was best at every epsilon up to 16",
}


def advice(name: str) -> str | None:
    """Return in a few words that a name is gone and what to do, or None if it never was there.

    Args:
        name: An option, a subcommand or a key, as it was written.

    >>> advice("--levels")
    'is gone: a session has noise of one scale'
    """
    key = name.lstrip("-").partition("=")[0].replace("-", "_")
    return f"is gone: {REMOVED[key]}" if key in REMOVED else None
