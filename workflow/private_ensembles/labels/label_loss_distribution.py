"""The privacy loss distribution of labels, for accountants that people already use.

`labels.noise_scale` says what the mechanisms are called. dp_accounting comes with an extra and is
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

    It is that of a pair whose privacy curve lies on or above that of the labels at every epsilon,
    in both orders; an infinite loss holds about 1e-13. It composes with that of any mechanism for
    the same neighbours: ADD_OR_REMOVE_ONE, if a record that comes or goes changes one shard, or
    REPLACE_ONE within a shard.

    Args:
        mechanism: As in `noise_scale`.
        scale: Of the noise, as in `noise_scale`.
        labels: How many labels.
        teachers: K.
        classes: C.
        reach: As in `noise_scale`.
        interval: Of the distribution. dp_accounting composes distributions of equal intervals only,
            and 1e-4 is its default.

    Raises:
        ValueError: For a value out of range.
        ModuleNotFoundError: Without dp_accounting.

    References:
        docs/libraries.md, which also says below which delta dp_accounting's totals of
        many steps are too small.
    """
    sizes = {"labels": labels, "teachers": teachers, "classes": classes, "reach": reach}
    charged, task, noise = load_tightest_mechanism(mechanism, scale, **sizes)
    dominating_pairs = charged.law.dominating_pairs(task, noise)
    curve = whole_curve(dominating_pairs, labels, fineness=grid_fineness(classes, labels))
    return to_pld(curve.delta, curve.last_epsilon, interval=interval)
