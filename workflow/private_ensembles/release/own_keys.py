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
    """Return what is asked for of own votes by the keys of `PLACES`, as `releasing.Request` has it.

    config: checked, with every key. Its noise, seed and section `planner` are part of it, the last
    with what is stated of the ensemble and its data.
    """
    asked: dict[str, object] = {}
    for key, place in SECTION_PATHS.items():
        section, _, name = place.rpartition(".")
        asked[key] = (config["own"][section] if section else config["own"])[name]
    stated = {key: asked[key] for key in ("adjacency", "teacher_epsilon", "teacher_Delta")}
    asked |= {"noise": config["noise"], "seed": config["seed"]}
    return asked | {"planner": config["planner"] | stated}
