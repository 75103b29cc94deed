"""Honest files of releases, one of each kind of proof, small enough to be checked in a moment."""

import hashlib
import json
from dataclasses import replace
from functools import cache

from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.planner.defaults import ASSUMED_PROFILE
from private_ensembles.labels.profile import ConsensusProfile
from private_ensembles.labels.task import Task
from private_ensembles.release import certificate
from private_ensembles.release.release_plan import ReleasePlan

EPSILON, DELTA = 2.0, 1e-5
TIME = "2026-11-26T15:00:00+00:00"
PRIVATE = {"teacher_epsilon": 0.3, "teacher_Delta": 1e-9}
SHARED = {"privacy_model": "shared_data"} | PRIVATE
# Mechanism, teachers, classes, labels, and what else the task has: each kind of proof.
SMALL = {
    "gnmax": ("gnmax", 5, 3, 4, {}),
    "gnmax_analytic": ("gnmax_analytic", 5, 3, 4, {}),
    "gnmax_exact, coins": ("gnmax_exact", 5, 2, 60, {}),
    "gnmax_exact, few ones": ("gnmax_exact", 3, 2, 30, {"most_ones": 6}),
    "gnmax_exact, one coin": ("gnmax_exact", 5, 2, 1, {}),
    "gnmax_exact, blocks": ("gnmax_exact", 3, 2, 503, {}),  # one of 251 and one of 252
    "gnmax_exact": ("gnmax_exact", 3, 3, 40, {}),
    "gnmax_exact, one label": ("gnmax_exact", 3, 3, 1, {}),
    "gnmax_exact, one teacher": ("gnmax_exact", 1, 3, 4, {}),
    "lnmax_pure": ("lnmax_pure", 5, 2, 1, {}),
    "exponential": ("exponential", 5, 2, 60, {}),
    "exponential, one coin": ("exponential", 5, 2, 1, {}),
    "exponential, many classes": ("exponential", 5, 3, 30, {}),
    "exponential, one label": ("exponential", 5, 3, 1, {}),
    "permute_and_flip": ("permute_and_flip", 5, 2, 60, {}),
    "permute_and_flip, many classes": ("permute_and_flip", 41, 10, 400, {}),
    "permute_and_flip, one label": ("permute_and_flip", 5, 3, 1, {}),
    "ladder": ("ladder", 5, 2, 60, {}),
    "ladder, many labels": ("ladder", 20, 2, 100, {}),
    "ladder, one label": ("ladder", 6, 2, 1, {}),
    "darrm_sub": ("darrm_sub", 11, 2, 1, SHARED),
    "darrm_sub, all teachers": ("darrm_sub", 3, 2, 5, SHARED),
    "darrm_opt": ("darrm_opt", 11, 2, 1, SHARED),
    "majority_private": ("majority_private", 5, 3, 4, PRIVATE),
    "committee": ("committee", 5, 3, 4, SHARED),
    "confident_gnmax": ("confident_gnmax", 5, 3, 4, {"queries": 9}),
    "confident_gnmax_exact, coins": ("confident_gnmax_exact", 3, 2, 20, {"queries": 40}),
    "confident_gnmax_exact": ("confident_gnmax_exact", 3, 3, 20, {"queries": 30}),
}


def planned(name, teachers, classes, labels, further, *, epsilon=EPSILON, delta=DELTA):
    """The plan of a mechanism at a budget."""
    sizes = {"labels": labels, "queries": labels, "n_teachers": teachers, "n_classes": classes}
    task = Task.from_dict({"epsilon": epsilon, "delta": delta, "secure": True} | sizes | further)
    task = replace(task, profile=ConsensusProfile(classes, **ASSUMED_PROFILE))
    mechanism = load_mechanism(name)
    assert mechanism.refusal(task) is None
    return ReleasePlan(task, name, mechanism.calibrate(task), 0.0, None, "0")


def cost_of(plan):
    """What is stated of a plan: what its labels cost, at most its budget."""
    cost = plan.mechanism.cost(plan.task, plan.parameters).proven
    return min(cost, plan.task.budget.epsilon)


def table(labels):
    """So many labels, all of class 0."""
    return "query,label\n" + "".join(f"{query},0\n" for query in range(labels))


def record_of(plan, labels, epsilon=None):
    """What the file of a release holds. labels: the text of labels.csv."""
    stated = cost_of(plan) if epsilon is None else epsilon
    proof = certificate.prove_or_explain(plan, stated)
    sha256 = hashlib.sha256(labels.encode()).hexdigest()
    text = certificate.render_certificate(
        plan, proof, time=TIME, labels_sha256=sha256, epsilon=stated
    )
    return json.loads(text)


@cache
def plan_of(name):
    """The plan of a release of `SMALL`."""
    return planned(*SMALL[name])


@cache
def honest(name):
    """The texts of an honest file of `SMALL` and of the labels beside it."""
    plan = plan_of(name)
    labels = table(plan.labels)
    return json.dumps(record_of(plan, labels)), labels


def put(folder, record, labels):
    """Write both files; return where the certificate is. labels: text or bytes; None: no file."""
    path = folder / "certificate.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    beside = folder / "labels.csv"
    beside.unlink(missing_ok=True)
    if labels is not None:
        beside.write_bytes(labels if isinstance(labels, bytes) else labels.encode())
    return path
