"""Labels for accountants that people already use, as a distribution of privacy losses.

The laws and what they are called: `labels.noise_scale`. dp_accounting comes with an extra and is
imported when it is needed.
"""

from __future__ import annotations

from private_ensembles.accounting.adaptive_composition.scales import grid_fineness
from private_ensembles.accounting.adaptive_composition.whole_curve import whole_curve
from private_ensembles.accounting.export import to_pld
from private_ensembles.labels.noise_scale import load_tightest_mechanism


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
    (docs/from-other-accountants.md, which also says below which delta dp_accounting's totals of
    many steps are too small). Raises ValueError for a value out of range, and
    ModuleNotFoundError without dp_accounting.
    """
    sizes = {"labels": labels, "teachers": teachers, "classes": classes, "reach": reach}
    charged, task, noise = load_tightest_mechanism(mechanism, scale, **sizes)
    family = charged.law.dominating_pairs(task, noise)
    whole = whole_curve(family, labels, fineness=grid_fineness(classes, labels))
    return to_pld(whole.delta, whole.last_epsilon, interval=interval)
