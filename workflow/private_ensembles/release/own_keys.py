"""The keys of your own votes as people type them, and the place of each in the section `own`."""

from __future__ import annotations

from collections.abc import Mapping

# `--config epsilon=2` is `own: {budget: {epsilon: 2}}` in a file.
SECTION_PATHS = {
    "votes": "votes",
    "n_teachers": "ensemble.teachers",
    "n_classes": "ensemble.classes",
    "absent": "ensemble.absent",
    "teacher_epsilon": "ensemble.teacher_epsilon",
    "teacher_Delta": "ensemble.teacher_Delta",
    "epsilon": "budget.epsilon",
    "delta": "budget.delta",
    "shards": "protection.shards",
    "unit": "protection.unit",
    "reach": "protection.reach",
    "adjacency": "protection.adjacency",
    "labels_wanted": "wanted.labels",
    "answer": "wanted.answer",
    "most_ones": "wanted.most_ones",
    "votes_kind": "reading.kind",
    "class_names": "reading.class_names",
    "first_class": "reading.first_class",
    "id_column": "reading.id_column",
    "truth_column": "reading.truth_column",
    "ignore_columns": "reading.ignore_columns",
    "long_columns": "reading.long_columns",
    "absent_as": "reading.absent_as",
    "again": "release.again",
    "anyway": "release.anyway",
    "total_budget": "release.total_budget",
    "already_spent": "release.already_spent",
    "session": "session.file",
    "batch": "session.batch",
}


def request_of(config: Mapping) -> dict:
    """Return what is asked for of own votes, as `transaction.Request.config` has it.

    Args:
        config: A checked configuration with every key.

    Returns:
        The values by the keys of `SECTION_PATHS`, and noise, seed and the section `planner`, which
        also has what is stated of the ensemble and its data.
    """
    request: dict[str, object] = {}
    for key, path in SECTION_PATHS.items():
        section, _, name = path.rpartition(".")
        request[key] = (config["own"][section] if section else config["own"])[name]
    stated = {key: request[key] for key in ("adjacency", "teacher_epsilon", "teacher_Delta")}
    request |= {"noise": config["noise"], "seed": config["seed"]}
    return request | {"planner": config["planner"] | stated}
