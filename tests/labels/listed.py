"""One label of every mechanism, two classes: DaRRM's Table 1, or given noise."""

from benchmarks.auditors import BUDGET, NOISE, OWN
from benchmarks.auditors import DELTA as AUDIT_DELTA
from private_ensembles.labels.mechanism import Mechanism, every
from private_ensembles.labels.parameters import Cost, Parameters
from private_ensembles.labels.task import Budget, Ensemble, Task, Wanted
from private_ensembles.papers.darrm.mathematics import optimize_gamma
from private_ensembles.papers.darrm.one_label import terms
from private_ensembles.papers.ledger.ledger import setting
from private_ensembles.papers.nzc.law import ImmutableNoise
from private_ensembles.papers.pate.given_noise import ACCOUNTS, at_noise

K, M, EPSILON, DELTA = (BUDGET[name] for name in ("K", "m", "epsilon", "Delta"))
_, BAGGING = OWN["dpbag"]
__all__ = ["AUDIT_DELTA", "NOISE", "K", "one_label_each", "stated_cost"]


def one_label_each(immutable: ImmutableNoise) -> dict[str, tuple]:
    """Mechanism, task and parameters, by name. immutable: NZC's noise."""
    ledger = setting(BUDGET, optimize_gamma(K, M, EPSILON, DELTA).gamma)
    own = {"dpbag": (Task(Ensemble(28, 2), Budget(1.0, M * DELTA), Wanted(1)), BAGGING)}
    own["nzc"] = Task(Ensemble(K, 2), Budget(M * EPSILON, M * DELTA), Wanted(1)), immutable
    listed = {}
    for name, mechanism in every().items():
        if name in own:
            task, parameters = own[name]
        elif name in ledger.parameters:
            task, parameters = terms(mechanism.entry, ledger.budget), ledger.parameters[name]
        else:
            task = Task(Ensemble(K, 2), Budget(M * EPSILON, M * DELTA), Wanted(1))
            parameters = at_noise(mechanism, NOISE, 2)
            if parameters is None:
                parameters = mechanism.calibrate(task)
        listed[name] = mechanism, task, parameters
    return listed


def stated_cost(mechanism: Mechanism, task: Task, parameters: Parameters) -> Cost:
    """What one label costs by the account of given noise, or by its only one."""
    account = ACCOUNTS.get(mechanism.name, mechanism.account)
    return account.cost(mechanism.law, task, parameters)
