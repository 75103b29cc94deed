"""A registered mechanism's label as a finite table, which says more than epsilon: mu, misses."""

from __future__ import annotations

from private_ensembles.audit.labels import Audited

# Chances of a false accusation at which the ledger says how likely a neighbour is missed.
LEVELS = (0.01, 0.05, 0.1)


def gaussian_columns(audited: Audited) -> dict[str, object]:
    """Return `mu` and `misses` of one label for `ledger_row`; nothing if there is no table.

    >>> from private_ensembles.mechanisms.mechanism import load
    >>> from private_ensembles.mechanisms.task import Task
    >>> task = Task(1.0, 1e-5, 1, 1, n_teachers=11, n_classes=3)
    >>> mechanism = load("exponential")
    >>> audited = mechanism.law.audited(task, mechanism.calibrate(task))
    >>> round(audited.table().epsilon(1e-5), 3), round(gaussian_columns(audited)["mu"], 3)
    (0.99, 0.605)
    """
    table = audited.table()
    if table is None:
        return {}
    return {"mu": table.mu(), "misses": table.trade_off(LEVELS).tolist()}
