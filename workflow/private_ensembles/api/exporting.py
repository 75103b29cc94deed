"""Labels for accountants that people already use: an event, a loss distribution, a curve of tests.

The laws and what they are called: `api.noise`. dp_accounting comes with an extra and is imported
when it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.typing import NDArray

from private_ensembles.accounting.adaptive.dominating_gaussian import (
    dominating_mu,
    largest_normal_loss,
    mu_of_pure,
)
from private_ensembles.accounting.adaptive.families import Family
from private_ensembles.accounting.adaptive.scales import grid_fineness
from private_ensembles.accounting.adaptive.whole_curve import WholeCurve, whole_curve
from private_ensembles.accounting.export import gaussian_event, to_pld
from private_ensembles.accounting.rounding import above
from private_ensembles.api.noise import charged_for_labels


def to_dp_event(
    mechanism: str,
    scale: float,
    *,
    labels: int,
    teachers: int,
    classes: int = 2,
    reach: int = 1,
    reserve: float = 0.0,
):
    """Return a dp_accounting event that costs at least what all labels together do.

    >>> import dp_accounting
    >>> event = to_dp_event("exponential", 7.474, labels=100, teachers=11)
    >>> accountant = dp_accounting.pld.PLDAccountant()
    >>> accountant.compose(event).get_epsilon(1e-5) < 6.2  # as black boxes: 13.9
    True

    mechanism, scale, reach: as in `noise_scale`. labels: all of them, in any order, chosen
    adaptively, among whatever else the accountant composes. reserve: in [0, 1); what has to be
    added to the delta of every answer of the accountant. The event is one GaussianDpEvent, whose
    curve lies on or above that of the labels at every epsilon, so any of dp_accounting's
    accountants takes it. With reserve = 0 that includes losses that hardly ever happen: for GNMax
    it then costs 7 % less or so than the noisy counts or nothing less, and with 1e-12 nearly as
    little as `label_epsilon` says. It holds for ADD_OR_REMOVE_ONE and REPLACE_SPECIAL; REPLACE_ONE
    charges the double mu, which is more than it should (docs/from-other-accountants.md). Raises
    ValueError for a value out of range, and ModuleNotFoundError without dp_accounting.
    """
    sizes = {"labels": labels, "teachers": teachers, "classes": classes, "reach": reach}
    family = _pairs(mechanism, scale, **sizes)
    if mechanism == "gnmax":
        loss = largest_normal_loss(scale, teachers, classes, reach)
        mu = above(math.sqrt(2) * reach / scale, 4)
    else:
        # One count falls and one rises by `reach` at most, so that a label's chance moves by this.
        loss = above(2 * reach / scale, 4)
        mu = mu_of_pure(loss)
    return gaussian_event(dominating_mu(family, labels, loss, mu, reserve))


def label_loss_distribution(
    mechanism: str,
    scale: float,
    *,
    labels: int,
    teachers: int,
    classes: int = 2,
    reach: int = 1,
    interval: float = 1e-4,
):
    """Return all labels together as one dp_accounting PrivacyLossDistribution, pessimistic.

    >>> labels = label_loss_distribution("gnmax", 19.5, labels=20, teachers=51)
    >>> round(labels.get_epsilon_for_delta(1e-5), 2)
    1.0

    mechanism, scale, reach: as in `noise_scale`. interval: dp_accounting composes distributions of
    equal intervals only, and 1e-4 is its default. The distribution is that of a pair whose curve
    lies on or above that of the labels at every epsilon, in both orders; an infinite loss holds
    about 1e-13. It composes with that of any mechanism for the same neighbours: ADD_OR_REMOVE_ONE,
    if a record that comes or goes changes one shard, or REPLACE_ONE within a shard
    (docs/from-other-accountants.md). Raises ValueError for a value out of range, and
    ModuleNotFoundError without dp_accounting.
    """
    whole = _whole(mechanism, scale, labels, teachers, classes, reach)
    return to_pld(whole.delta, whole.end, interval=interval)


def label_trade_off(
    mechanism: str,
    scale: float,
    *,
    labels: int,
    teachers: int,
    classes: int = 2,
    reach: int = 1,
    levels: Sequence[float] = (0.01, 0.05, 0.1),
) -> NDArray:
    """Return how often any test of all labels must miss a neighbour, (levels,), lower bounds.

    >>> label_trade_off("gnmax", 19.5, labels=20, teachers=51, levels=[0.05]).round(2)
    array([0.92])

    mechanism, scale, reach: as in `noise_scale`. levels: in [0, 1]; a test says "the neighbour"
    wrongly with this chance at most. A level is a rate of false positives, the answer one of false
    negatives. Without any labels it would be 1 - level. Raises ValueError for a value out of range.
    """
    return _whole(mechanism, scale, labels, teachers, classes, reach).misses(levels)


def _whole(
    mechanism: str, scale: float, labels: int, teachers: int, classes: int, reach: int
) -> WholeCurve:
    sizes = {"labels": labels, "teachers": teachers, "classes": classes, "reach": reach}
    family = _pairs(mechanism, scale, **sizes)
    return whole_curve(family, labels, fineness=grid_fineness(classes, labels))


def _pairs(mechanism: str, scale: float, **sizes: int) -> Family:
    charged, task, noise = charged_for_labels(mechanism, scale, **sizes)
    return charged.law.pairs(task, noise)
