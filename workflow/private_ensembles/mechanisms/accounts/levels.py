"""Levels of noise of one mechanism that share a budget: what the account of levels makes of a law.

docs/sessions.md says what a level is and what the choice between levels costs.
"""

from collections.abc import Sequence
from dataclasses import replace

from private_ensembles.accounting.adaptive.level_scales import level_scales
from private_ensembles.accounting.adaptive.scales import grid_fineness, share_of_scale
from private_ensembles.mechanisms.mechanism import Mechanism
from private_ensembles.mechanisms.parameters import Parameters
from private_ensembles.mechanisms.task import Task


def level_noise(
    mechanism: Mechanism,
    task: Task,
    units: Sequence[int],
    reserves: Sequence[int] | None = None,
) -> list[Parameters]:
    """Return a mechanism's noise for each level, with as many labels as the budget allows alone.

    mechanism: one whose account charges labels together, such as gnmax_exact. task: its labels are
    the units of the budget, all of which keep its epsilon and delta, whichever level is chosen for
    each query. units, reserves: as in `adaptive.levels.levels_epsilon`. Raises ValueError for
    numbers out of range, or if the account proves no noise.
    """
    law, total = mechanism.law, task.labels
    fineness = grid_fineness(task.n_classes, total)
    start = mechanism.account.start.find(law, task, total)
    family = law.pairs(task, start)
    found = level_scales(
        lambda share: law.pairs(task, law.less_noise(start, share)),
        units,
        total,
        task.epsilon,
        task.delta,
        share_of_scale(family, total, task.epsilon, task.delta),
        reserves=reserves,
        fineness=fineness,
    )
    return [
        replace(law.less_noise(start, share), labels=total // cost)
        for share, cost in zip(found.scales, units, strict=True)
    ]
