"""One label of every mechanism: of DaRRM's Table 1 or given noise, and of any small ensemble."""

from benchmarks.auditors import BUDGET, NOISE, OWN
from benchmarks.auditors import DELTA as AUDIT_DELTA
from private_ensembles.labels.laws.checked import CheckedNoise
from private_ensembles.labels.laws.laplace import LaplaceNoise
from private_ensembles.labels.mechanism import Mechanism, load_all_mechanisms, load_mechanism
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.release_gate import refusal
from private_ensembles.labels.task import Budget, Ensemble, Task, Wanted
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.darrm.one_label import make_label_task
from private_ensembles.papers.dpbag.law import BaggingNoise
from private_ensembles.papers.ledger.ledger import calibrate_budget
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.pate.configured_noise import ACCOUNTS, configured_parameters

K, M, EPSILON, DELTA = (BUDGET[name] for name in ("K", "m", "epsilon", "Delta"))
_, BAGGING = OWN["dpbag"]
__all__ = [
    "AUDIT_DELTA",
    "GIVEN",
    "NOISE",
    "K",
    "cost_as_stated",
    "one_label_each",
    "suited_label",
    "suited_names",
]
# Noise that a configuration gives; of two classes where the law or its student is.
GIVEN = {
    "nzc": ImmutableNoise(constant=1.0, gamma=4.0),
    "dpbag": BaggingNoise(n_shards=2, k=3, rate=0.7),
    "lnmax": LaplaceNoise(1.5),
    "interactive_gnmax": CheckedNoise(2.0, 1.2, 1.4, 1, 1, 0.3),
}


def one_label_each(immutable: ImmutableNoise) -> dict[str, tuple]:
    """Mechanism, task and parameters, by name. immutable: NZC's noise."""
    ledger = calibrate_budget(BUDGET, optimize_gamma(K, M, EPSILON, DELTA).gamma)
    own = {"dpbag": (Task(Ensemble(28, 2), Budget(1.0, M * DELTA), Wanted(1)), BAGGING)}
    own["nzc"] = Task(Ensemble(K, 2), Budget(M * EPSILON, M * DELTA), Wanted(1)), immutable
    listed = {}
    for name, mechanism in load_all_mechanisms().items():
        if name in own:
            task, parameters = own[name]
        elif name in ledger.parameters:
            task, parameters = (
                make_label_task(mechanism.entry, ledger.budget),
                ledger.parameters[name],
            )
        else:
            task = Task(Ensemble(K, 2), Budget(M * EPSILON, M * DELTA), Wanted(1))
            parameters = configured_parameters(mechanism, NOISE, 2)
            if parameters is None:
                parameters = mechanism.calibrate(task)
        listed[name] = mechanism, task, parameters
    return listed


def cost_as_stated(mechanism: Mechanism, task: Task, parameters: Parameters) -> Cost:
    """What one label costs by the account of given noise, or by its only one."""
    account = ACCOUNTS.get(mechanism.name, mechanism.account)
    return account.cost(mechanism.law, task, parameters)


def suited_task(name: str, classes: int, teachers: int, *, secure: bool = False) -> Task | None:
    """The task of one label, or None if there is none of so many classes.

    DPBag has six teachers whatever is asked for: two shards, three times.
    """
    mechanism, more = load_mechanism(name), {}
    if mechanism.guarantee.teachers == "private":
        more = {"teacher_epsilon": 0.25, "privacy_model": min(mechanism.guarantee.privacy_models)}
    size = {"n_teachers": 6 if name == "dpbag" else teachers, "n_classes": classes}
    asked = {"epsilon": 1.0, "delta": 1e-3, "queries": 1, "labels": 1, "secure": secure}
    task = Task.from_dict({**size, **asked, **more})
    if name not in GIVEN:
        refused = mechanism.refusal(task) is not None
    else:
        refused = classes > (2 if name != "lnmax" else 3) or bool(
            refusal(mechanism, GIVEN[name], classes, secure=secure)
        )
    return None if refused else task


def suited_names(names: list[str], teachers: int, *, secure: bool = False) -> list[tuple[str, int]]:
    """Names, each with two and three classes, of the labels that there are."""
    return [
        (name, classes)
        for name in names
        for classes in (2, 3)
        if suited_task(name, classes, teachers, secure=secure) is not None
    ]


def suited_label(name: str, classes: int, teachers: int, *, secure: bool = False) -> tuple:
    """Mechanism, task and parameters of one of the labels of `suited_names`."""
    mechanism, task = load_mechanism(name), suited_task(name, classes, teachers, secure=secure)
    return mechanism, task, GIVEN.get(name) or mechanism.calibrate(task)
