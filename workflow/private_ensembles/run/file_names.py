"""Names of the files that are made by rules of no single paper, from what the files depend on."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from private_ensembles.base.parameter_names import join_parameters, parse_parameters

if TYPE_CHECKING:  # the models need pydantic, which names of files do not
    from private_ensembles.run.configuration import Configuration


def make_point_reader(pattern: str) -> Callable[[Mapping], dict]:
    """Return the function that reads a point of a grid from the wildcards of its pattern."""
    return lambda wildcards: parse_parameters(pattern.format(**wildcards))


def teachers(slices: list[str], dataset: str, kind: str, K, seed) -> list[str]:
    """Return the files of the teachers of one ensemble: one, or one for each slice.

    Args:
        slices: The names of the parts of the ensemble that jobs train; empty if one job trains all.
        dataset: The name of the data set.
        kind: "private" or "plain".
        K: The number of teachers.
        seed: The seed of the training.
    """
    ensemble = join_parameters(kind=kind, K=int(K), seed=int(seed))
    names = [f"{ensemble},slice={name}" for name in slices] or [ensemble]
    return [f"results/teachers/{dataset}/{name}.pt" for name in names]


def dataset(name: str) -> str:
    """Return the file of a prepared data set."""
    return f"results/datasets/{name}.npz"


def own_input_files(settings: Configuration) -> list[str]:
    """Return the user's files of class names and of the queries that are answered, if any."""
    values = settings.own.reading.class_names, settings.own.wanted.answer
    return [value for value in values if value and os.path.isfile(value)]


def own_votes(settings: Configuration) -> dict[str, str]:
    """Return the files that are made of somebody's own votes, by what they are.

    They are a release, which may be shown. With noise from a seed they are a rehearsal, and every
    name says so. `private` is never shown.
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
    """Return the files of one batch of a session: its labels, and what the session has spent."""
    folder = f"results/own/session/{settings.own.session.batch or 'none'}"
    return {"labels": f"{folder}/labels.csv", "status": f"{folder}/session.json"}


def copies_in_docs(results: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return where publish_docs copies results: results/pate/tables/x.csv to docs/pate/x.csv."""
    copies: dict[str, list[str]] = {kind: [] for kind in results}
    for kind, paths in results.items():
        for path in paths:
            _, *folders, name = path.split("/")
            copies[kind].append("/".join(["docs", *folders[:1], name]))
    return copies
