"""A registered mechanism's label as a finite table, which says more than epsilon: mu, misses."""

from __future__ import annotations

import math

from private_ensembles.accounting.export import to_pld
from private_ensembles.audit.finite import FiniteMechanism, audit_shared_data
from private_ensembles.audit.histograms import two_class_matrix
from private_ensembles.mechanisms.families.audited import Audited, OnRows
from private_ensembles.mechanisms.families.noise_function import OnTeachers

# Chances of a false accusation at which the ledger says how likely a neighbour is missed.
LEVELS = (0.01, 0.05, 0.1)
# Of an exported curve that never ends, what is left at its end at most, and the end in any case.
_LEFT, _END = 1e-15, 50.0


def finite_label(audited: Audited) -> FiniteMechanism | None:
    """Return the table behind an audit; None if it has none, or was made from the claim.

    >>> from private_ensembles import mechanisms
    >>> from private_ensembles.mechanisms.families.task import Task
    >>> task = Task(1.0, 1e-5, 1, 1, n_teachers=11, n_classes=3)
    >>> mechanism = mechanisms.load("exponential")
    >>> label = finite_label(mechanism.audited(task, mechanism.calibrate(task)))
    >>> round(label.epsilon(1e-5), 3), round(label.mu(), 3), round(label.rho(), 4)
    (0.99, 0.605, 0.1188)
    """
    if audited.assumed:
        return None
    if isinstance(audited, OnTeachers):
        matrix = two_class_matrix(audited.probability)
        size = len(matrix) - 1
        return audit_shared_data(lambda counts: matrix[counts[:, 1]], size, *audited.teacher)
    if isinstance(audited, OnRows):
        rows = audited.inputs, audited.matrix, audited.pairs
        return FiniteMechanism(*rows, **audited.errors)
    return None


def gaussian_columns(audited: Audited) -> dict[str, object]:
    """Return `mu` and `misses` of one label for `ledger_row`; nothing if there is no table."""
    label = finite_label(audited)
    if label is None:
        return {}
    return {"mu": label.mu(), "misses": label.trade_off(LEVELS).tolist()}


def label_pld(audited: Audited, *, interval: float = 1e-3):
    """Return one label of a registered mechanism as dp_accounting's PrivacyLossDistribution.

    interval: as `accounting.export.to_pld` takes it. The curve ends where the label is purely
    private, where delta is 1e-15, or at epsilon = 50. Raises ValueError like `to_pld`.
    """
    ends = (audited.worst(delta).epsilon for delta in (0.0, _LEFT))
    end = next((end for end in ends if math.isfinite(end)), _END)
    return to_pld(audited.curve, min(end, _END) + interval, interval=interval)
