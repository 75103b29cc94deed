"""What the comparison at equal budgets takes from PATE's settings."""

from private_ensembles.papers.pate.section import Pate
from studies.configuration import EqualBudget


def budget_settings(pate: Pate, study: EqualBudget | None) -> dict[str, dict]:
    """Return, by task that is run, pool, delta, numbers of queries and total epsilons."""
    if study is None:
        return {}
    return {
        name: {
            **pate.tasks[name].pick("pool", "delta"),
            "queries": pate.tasks[name].lnmax.queries,
            "epsilon": study.epsilon,
            "stand_in": facts["stand_in"],
            "synthetic": facts["synthetic"],
        }
        for name, facts in pate.descriptions(pate.running_tasks()).items()
    }
