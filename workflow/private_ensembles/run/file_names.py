"""Names of the files that rules of no single paper make, from what they depend on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from private_ensembles.base.parameter_names import join_parameters, parse_parameters

if TYPE_CHECKING:  # its models need pydantic, which names of files do not
    from private_ensembles.run.configuration import Configuration


def make_point_reader(pattern: str) -> Callable[[Mapping], dict]:
    """Return the function that reads a point of a grid from the wildcards of its pattern."""
    return lambda wildcards: parse_parameters(pattern.format(**wildcards))


def teachers(slices: list[str], dataset: str, kind: str, K, seed) -> list[str]:
    """The teachers of one ensemble: one file, or one for each slice that a job trains."""
    ensemble = join_parameters(kind=kind, K=int(K), seed=int(seed))
    names = [f"{ensemble},slice={name}" for name in slices] or [ensemble]
    return [f"results/teachers/{dataset}/{name}.pt" for name in names]


def dataset(name: str) -> str:
    """A data set as it is prepared."""
    return f"results/datasets/{name}.npz"


def own_input_files(settings: Configuration) -> list[str]:
    """The files that say what classes of own votes are called, and which queries are answered."""
    named = settings.own.reading.class_names, settings.own.wanted.answer
    return [text for text in named if text and os.path.isfile(text)]


def own_votes(settings: Configuration) -> dict[str, str]:
    """What is made of somebody's own votes, by what it is: a release, which may be shown.

    With noise from a seed it is a rehearsal, which every name says. `private` is never shown.
    """
    folder, mark = ("release", "") if settings.noise == "secure" else ("rehearsal", "rehearsal_")
    names = {
        "page": "index.html",
        "table": "mechanisms.csv",
        "curves": "curves.csv",
        "labels": "labels.csv",
        "png": "mechanisms.png",
        "pdf": "mechanisms.pdf",
    }
    shown = {what: f"results/own/{folder}/{mark}{name}" for what, name in names.items()}
    return shown | {"private": f"results/own/private/{mark}votes.csv"}


def session_batch(settings: Configuration) -> dict[str, str]:
    """What is made of one batch of a session: its labels, and what the session has spent."""
    folder = f"results/own/session/{settings.own.session.batch or 'none'}"
    return {"labels": f"{folder}/labels.csv", "status": f"{folder}/session.json"}


def docs(results: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Where publish_docs copies results to: results/pate/tables/x.csv to docs/pate/x.csv."""
    copies: dict[str, list[str]] = {kind: [] for kind in results}
    for kind, paths in results.items():
        for path in paths:
            _, *folders, name = path.split("/")
            copies[kind].append("/".join(["docs", *folders[:1], name]))
    return copies
