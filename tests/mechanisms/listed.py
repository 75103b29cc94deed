"""One label of every mechanism, two classes: DaRRM's Table 1, or given noise."""

from private_ensembles import mechanisms
from private_ensembles.darrm import optimize_gamma
from private_ensembles.experiments.ledger import setting
from private_ensembles.mechanisms.dpbag import BaggingNoise
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.mechanisms.nzc import ImmutableNoise

K, M, EPSILON, DELTA = 11, 3, 0.0892, 1e-4
BUDGET = {"K": K, "m": M, "epsilon": EPSILON, "Delta": DELTA}
NOISE = {"lnmax": {"scale": 4}, "confident": {"threshold": 8, "sigma1": 4, "sigma2": 3}}
NOISE["student_score"] = 0.7
BAGGING = BaggingNoise(n_shards=7, k=4, rate=0.4)
# Where losses are looked at: above every leak, so that no exact epsilon is infinite.
AUDIT_DELTA = 1e-3


def one_label_each(immutable: ImmutableNoise) -> dict[str, tuple]:
    """Mechanism, task and parameters, by name. immutable: NZC's noise."""
    given = setting(BUDGET, optimize_gamma(K, M, EPSILON, DELTA).gamma)
    own = {"dpbag": (Task(1.0, M * DELTA, 1, 1, 28, 2), BAGGING)}
    own["nzc"] = Task(M * EPSILON, M * DELTA, 1, 1, K, 2), immutable
    found = {}
    for name, mechanism in mechanisms.every().items():
        if name in own:
            task, parameters = own[name]
        elif name in given.parameters:
            task, parameters = mechanism.terms(given.budget), given.parameters[name]
        else:
            task = Task(M * EPSILON, M * DELTA, 1, 1, K, 2)
            parameters = mechanism.at_noise(NOISE, 2)
            if parameters is None:
                parameters = mechanism.calibrate(task)
        found[name] = mechanism, task, parameters
    return found
