"""How much noise labels need for a budget, and what labels cost at a given noise.

The mechanisms are ``gnmax`` (normal noise; the scale is its standard deviation), ``lnmax``
(Laplace), ``exponential`` (Gumbel; the scale is 1 / rate) and ``permute_and_flip`` (exponential;
likewise).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from private_ensembles.accounting.adaptive_composition.account import Bounds, adaptive_epsilon
from private_ensembles.accounting.adaptive_composition.dominating_pairs import PessimisticPairs
from private_ensembles.accounting.adaptive_composition.scales import grid_fineness
from private_ensembles.base import checks
from private_ensembles.labels import registry
from private_ensembles.labels.mechanism import Mechanism, load_mechanism
from private_ensembles.labels.parameters import Parameters
from private_ensembles.labels.task import (
    Budget,
    Ensemble,
    Protection,
    Task,
    Wanted,
)


class TightestAnalysis(NamedTuple):
    """The mechanism of the tightest analysis of a noise, a task for it, and the noise."""

    mechanism: Mechanism
    task: Task
    noise: Parameters


def noise_scale(
    mechanism: str,
    *,
    epsilon: float,
    delta: float,
    labels: int,
    teachers: int,
    classes: int = 2,
    analysis: str = "label",
    reach: int = 1,
) -> float:
    """Return the least scale of noise with which all labels together keep the budget.

    >>> round(noise_scale("gnmax", epsilon=1, delta=1e-5, labels=20, teachers=51), 2)
    19.48
    >>> budget = dict(epsilon=1, delta=1e-5, labels=20, teachers=51, analysis="analytic")
    >>> round(noise_scale("gnmax", **budget), 2)  # charged for the noisy counts
    23.59
    >>> round(noise_scale("gnmax", epsilon=1, delta=1e-5, labels=20, teachers=51, reach=2), 2)
    38.83

    Args:
        mechanism: ``gnmax``, ``lnmax``, ``exponential`` or ``permute_and_flip``.
        epsilon: Of all labels together, for replace_one and disjoint shards.
        delta: Of all labels together.
        labels: How many labels.
        teachers: K.
        classes: C.
        analysis: ``label``, charged for labels (docs/many-labels.md), for all but lnmax; ``paper``,
            as published, for gnmax and lnmax; ``analytic``, exact for the noisy counts, which tell
            more than the labels, for gnmax.
        reach: The most shards that the protected unit may be in, so that it may move as many votes
            of every query (docs/many-labels.md, "Groups").

    Returns:
        The scale in votes, an upper bound on what is needed, for continuous noise.

    Raises:
        ValueError: For a value out of range.
    """
    by_law = registry.analyses_by_law()
    checks.check_choice(by_law, mechanism=mechanism)
    checks.check_choice(by_law[mechanism], analysis=analysis)
    analysed = load_mechanism(by_law[mechanism][analysis])
    task = Task(
        Ensemble(teachers, classes),
        Budget(epsilon, delta),
        Wanted(labels),
        protection=Protection.disjoint(reach=reach),
    )
    if refusal := analysed.refusal(task):
        raise ValueError(f"mechanism = {mechanism!r}: {refusal}")
    law_scale = analysed.law.scale(analysed.calibrate(task))
    assert law_scale is not None  # the registry lists only laws of one scale here
    exact = Fraction(law_scale)
    scale = float(exact)
    return scale if scale >= exact else math.nextafter(scale, math.inf)


def label_epsilon(
    mechanism: str,
    scale: float,
    *,
    delta: float,
    labels: int,
    teachers: int,
    classes: int = 2,
    reach: int = 1,
) -> Bounds:
    """Return bounds on the epsilon of all labels together at delta, charged for what they release.

    >>> bounds = label_epsilon("gnmax", 19.5, delta=1e-5, labels=20, teachers=51)
    >>> round(bounds.upper, 2)
    1.0

    Args:
        mechanism: As in :func:`noise_scale`.
        scale: Of the noise, as in :func:`noise_scale`.
        delta: Of all labels together.
        labels: How many labels.
        teachers: K.
        classes: C.
        reach: As in :func:`noise_scale`.

    Returns:
        The upper bound holds for replace_one, disjoint shards and queries chosen adaptively, in
        floating point. The lower one is what votes for two classes alone cost, so no account of
        these labels can be below it; 0 for other mechanisms than gnmax in more than two classes.

    Raises:
        ValueError: For a value out of range.
    """
    sizes = {"labels": labels, "teachers": teachers, "classes": classes, "reach": reach}
    charged, task, noise = load_tightest_mechanism(mechanism, scale, delta=delta, **sizes)
    pairs = charged.law.dominating_pairs(task, noise)
    bounds = adaptive_epsilon(pairs, labels, delta, fineness=grid_fineness(classes, labels))
    if reach == 1 and not isinstance(pairs, PessimisticPairs):
        return bounds
    return Bounds(bounds.lower, min(bounds.upper, charged.cost(task, noise).proven))


def load_tightest_mechanism(
    mechanism: str,
    scale: float,
    *,
    labels: int,
    teachers: int,
    classes: int,
    reach: int,
    delta: float = 1e-5,
) -> TightestAnalysis:
    """Return the mechanism of the tightest analysis, its task and its noise at a scale.

    Args:
        mechanism: As in :func:`noise_scale`.
        scale: Of the noise, as in :func:`noise_scale`.
        labels: How many labels.
        teachers: K.
        classes: C.
        reach: As in :func:`noise_scale`.
        delta: Of the task, for what asks for one.

    Raises:
        ValueError: For a value out of range.
    """
    by_law = registry.analyses_by_law()
    checks.check_choice(by_law, mechanism=mechanism)
    checks.check_finite(scale=scale, above=0)
    checks.check_integer(labels=labels, at_least=1)
    task = Task(
        Ensemble(teachers, classes),
        Budget(1.0, delta),
        Wanted(labels),
        protection=Protection.disjoint(reach=reach),
    )
    charged = load_mechanism(list(by_law[mechanism].values())[-1])
    return TightestAnalysis(charged, task, charged.law.noise_at_scale(scale, labels))
