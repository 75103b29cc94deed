"""Sessions from flat names and values, for tests that vary one of them; the job of own votes."""

import warnings

from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Rehearsal,
    Wanted,
    private_teacher_budget,
    protection_from_options,
)
from private_ensembles.release import own_keys, pool, session_plan
from private_ensembles.release.session import Session
from private_ensembles.run import file_names


def things(
    *,
    teachers,
    classes,
    labels,
    epsilon,
    delta,
    queries=None,
    shards=None,
    unit="record",
    reach=1,
    adjacency="replace_one",
    teacher_epsilon=None,
    teacher_delta=0.0,
    absent=False,
    noise="secure",
    seed=0,
    **more,
):
    """The arguments of `Session.create`; more: those that are as they were."""
    secure = noise == "secure"
    private = private_teacher_budget(teacher_epsilon, teacher_delta)
    return {
        "ensemble": Ensemble(teachers, classes, absent, private),
        "budget": Budget(epsilon, delta),
        "protection": protection_from_options(shards, unit, reach, adjacency, secure=secure),
        "labels": Wanted(labels, queries),
        "rehearsal": None if secure else Rehearsal(seed),
        **more,
    }


def planned(**flat):
    """The plan of a session."""
    asked = things(**flat)
    sizes = (asked.pop("ensemble"), asked.pop("budget"), asked.pop("labels"))
    return session_plan.plan_session(*sizes, asked.pop("protection"), **asked)


def create(path, **flat):
    """A session, without the warnings of few labels that are right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return Session.create(path, **things(**flat))


def named(path, *, class_names=None, first_class=0, id_column=None, anyway=True, **flat):
    """A session that states names, as the command makes it."""
    names = pool.names_of(flat["classes"], class_names, first_class, id_column)
    return Session.begin(path, planned(**flat), names)


def params_of(settings):
    """The parameters of the rule `apply_votes`, but for the hash of its code."""
    config = settings.to_dict()
    parts = ("ensemble", "budget", "protection", "wanted", "reading")
    return {
        "code": "",
        **{part: config["own"][part] for part in parts},
        "planner": own_keys.request_of(config)["planner"],
        "noise": settings.noise,
        "seed": settings.seed,
        "labels_file": file_names.own_votes(settings)["labels"],
    }
