"""May it be released? All combinations, and the exact delta of what is drawn where it may.

A combination is a mechanism, parameters, a number of classes, of labels, and a source of noise. The
registry's column `secure` is the table, and docs/noise.md shows it to readers.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from private_ensembles.base.noise_sources import SecureNoise
from private_ensembles.labels import registry
from private_ensembles.labels.accounts.label import MOST_LABELS
from private_ensembles.labels.mechanism import load_mechanism
from private_ensembles.labels.release_gate import refusal, release_from_counts
from private_ensembles.labels.task import Budget, Ensemble, Task, Wanted
from tests.claims.adversary import ROUNDING, delta_of
from tests.claims.one_label import GIVEN

NAMES = [entry.name for entry in registry.ENTRIES]
CLASSES, LABELS = (2, 3), (1, 2)
# A budget that needs noise, and one that takes the whole of delta.
BUDGETS = [(1.5, 1e-3), pytest.param((0.2, 1e-6), marks=pytest.mark.slow)]


def task_of(name, classes, labels, budget, *, secure):
    """Return a small task that suits the mechanism's privacy model."""
    entry, more = registry.get_entry(name), {}
    if entry.guarantee.teachers == "private":
        more = {"teacher_epsilon": budget[0] / 4, "adjacency": "add_remove"}
        if "shared_data" in entry.guarantee.privacy_models:
            more["privacy_model"] = "shared_data"
    teachers = 6 if name == "dpbag" else 4 if entry.guarantee.hides_votes else 3
    size = {"queries": labels, "labels": labels, "n_teachers": teachers, "n_classes": classes}
    epsilon, delta = budget
    return Task.from_dict({"epsilon": epsilon, "delta": delta, **size, **more, "secure": secure})


def settings_of(name, classes, labels, budget):
    """Yield tasks with secure noise and parameters: calibrated for it, for seeded noise, given."""
    secure, seeded = (
        task_of(name, classes, labels, budget, secure=secure) for secure in (True, False)
    )
    mechanism = load_mechanism(name)
    if name in GIVEN:
        parameters = GIVEN[name].replace_labels(labels)
        if name == "interactive_gnmax" and classes > 2:
            return  # the student's score is of two classes
        if name == "nzc":
            yield secure, parameters
        else:
            cost = mechanism.cost(secure, parameters)
            yield (
                replace(
                    secure, budget=replace(secure.budget, epsilon=min(cost.claimed, cost.proven))
                ),
                parameters,
            )
        return
    for task in (secure, seeded):
        if mechanism.refusal(task) is None:
            yield secure, mechanism.calibrate(task)


def why_not(mechanism, task, parameters, monkeypatch):
    """Say which of four reasons the refusal has, or fail: there must be one."""
    if not mechanism.guarantee.holds:
        return "false"
    if parameters.continuous:
        return "continuous"
    counts = np.zeros((1, task.ensemble.classes), np.int64)
    counts[0, 0] = task.ensemble.teachers
    try:
        mechanism.law.draw(counts, parameters, SecureNoise())
    except ValueError as error:
        assert "drawn for two classes only" in str(error) or "for two only" in str(error)
        return "no sampler"
    # There is one, of coins, which are floats: what is charged does not depend on them.
    assert mechanism.law.draws_exact_bernoulli
    with monkeypatch.context() as patched:
        patched.setattr(type(mechanism.law), "probabilities", lambda *_: pytest.fail("looked at"))
        mechanism.cost(task, parameters)
    return "not of its coins"


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_what_may_be_released_costs_at_most_delta_and_what_may_not_has_a_reason(
    name, budget, monkeypatch
):
    mechanism, met = load_mechanism(name), {}
    for classes, labels in itertools.product(CLASSES, LABELS):
        settings = list(settings_of(name, classes, labels, budget))
        for task, parameters in settings:
            assert refusal(mechanism, parameters, classes, secure=False) is None  # a rehearsal
            reason = refusal(mechanism, parameters, classes, secure=True)
            if reason is None:
                assert labels <= mechanism.guarantee.secure[classes > 2]
                assert delta_of(mechanism, parameters, task) <= task.budget.delta + ROUNDING
                met[classes, labels] = None
            else:
                met.setdefault((classes, labels), why_not(mechanism, task, parameters, monkeypatch))
        # Who plans is told the same as who releases.
        secure = task_of(name, classes, labels, budget, secure=True)
        if mechanism.refusal(secure) is None:
            assert met[classes, labels] is None
    assert (2, 1) in met


@pytest.mark.parametrize(
    "name", [name for name in NAMES if registry.get_entry(name).offer is not None]
)
def test_noise_for_one_number_of_classes_is_not_released_for_another(name):
    """It would be at a cost that nobody proved: gnmax_exact's needs more of three classes."""
    mechanism = load_mechanism(name)
    parameters = mechanism.calibrate(task_of(name, 2, 1, (1.5, 1e-3), secure=True))
    assert refusal(mechanism, parameters, 2, secure=True) is None
    message = f"noise = secure: {name} was calibrated for 2 classes, not 3"
    with pytest.raises(ValueError, match=message):
        release_from_counts(
            mechanism, np.array([[parameters.n_teachers - 1, 1, 0]]), parameters, SecureNoise()
        )


def test_noise_of_two_classes_would_cost_more_in_three():
    """Which is why the door asks for the number of classes."""
    mechanism = load_mechanism("gnmax_exact")
    task = Task(Ensemble(20, 2), Budget(1.0, 1e-5), Wanted(1), secure=True)
    parameters = mechanism.calibrate(task)
    assert (
        mechanism.cost(replace(task, ensemble=replace(task.ensemble, classes=3)), parameters).proven
        > 1.04
    )


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_released_up_to_the_number_of_the_table_and_no_further(name):
    """By the number only: nothing is drawn."""
    mechanism = load_mechanism(name)
    if not mechanism.guarantee.holds:
        return
    for classes in CLASSES:
        most = mechanism.guarantee.secure[classes > 2]
        parameters = GIVEN.get(name, GIVEN["lnmax"])
        reasons = [
            refusal(mechanism, parameters.replace_labels(labels), classes, secure=True)
            for labels in (1, max(1, most), most + 1)
        ]
        proven = [reason is None for reason in reasons]
        assert proven == ([True, True, False] if most else [False, False, False])
    assert registry.COINS_OR_EXACT[0] == MOST_LABELS
    assert registry.AS_CHARGED == (MOST_LABELS, MOST_LABELS)


def test_the_table_that_people_read_is_the_registry_s(root):
    text = (root / "docs" / "noise.md").read_text(encoding="utf-8")
    table = text.partition("## What may be released")[2].partition("\n\n| ")[2].partition("\n\n")[0]
    words = {0: "none", 1: "one", 10_000: "10,000 at most", 10**9: "any number"}
    shown = {}
    for line in table.splitlines()[2:]:
        two, more, _, names = (cell.strip() for cell in line.strip("|").split("|"))
        for name in names.split(", "):
            assert name not in shown
            shown[name.strip("`")] = two, more
    proven = {
        entry.name: tuple(
            words[number if entry.guarantee.holds else 0] for number in entry.guarantee.secure
        )
        for entry in registry.ENTRIES
    }
    assert shown == proven
