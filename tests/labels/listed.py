"""One label of every mechanism, two classes: DaRRM's Table 1, or given noise."""

from benchmarks.auditors import BUDGET, NOISE, OWN
from benchmarks.auditors import DELTA as AUDIT_DELTA
from private_ensembles.labels.mechanism import Mechanism, load_all_mechanisms
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Task,
    Wanted,
)
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.darrm.one_label import make_label_task
from private_ensembles.papers.ledger.ledger import calibrate_budget
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.pate.configured_noise import ACCOUNTS, configured_parameters

K, M, EPSILON, DELTA = (BUDGET[name] for name in ("K", "m", "epsilon", "Delta"))
_, BAGGING = OWN["dpbag"]
__all__ = ["AUDIT_DELTA", "NOISE", "K", "cost_as_stated", "one_label_each"]


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
