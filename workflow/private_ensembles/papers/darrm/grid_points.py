"""The points at which DaRRM's figures of simulations need an optimised gamma."""

from private_ensembles.accounting.composition import general_composition
from private_ensembles.base.parameter_names import m_fold_delta
from private_ensembles.papers.darrm.section import Darrm


def shape_points(darrm: Darrm, figure: str) -> list[dict]:
    """Return the grid points K, m, epsilon, Delta, delta of one of the figures of gamma's shape.

    Figure 6 has m and delta from general composition of `subsamples` teachers (appendix D.1.1), the
    others delta = 1 - (1 - Delta)^m (section 6.1).

    Args:
        darrm: the section of the configuration.
        figure: its key there, such as ``"figure2"``.
    """
    shape = getattr(darrm, figure)
    teacher = shape.pick("epsilon", "Delta")
    if figure != "figure6":
        return [
            {"K": shape.K, "m": m, **teacher, "delta": m_fold_delta(m, shape.Delta)}
            for m in shape.m
        ]
    points = []
    for drawn in shape.subsamples:
        total = general_composition(shape.epsilon, shape.Delta, drawn, shape.delta_prime)
        # Composition never costs more than `drawn` teachers, but the quotient may round up.
        m = max(1.0, min(total.epsilon / shape.epsilon, float(drawn)))
        points.append({"K": shape.K, "m": m, **teacher, "delta": total.delta})
    return points


def prior_points(darrm: Darrm, prior: str) -> list[dict]:
    """Return the grid points of Figure 9 for one of its priors; none if the figure is not made.

    Args:
        darrm: the section of the configuration.
        prior: ``"U"`` or ``"P"``.
    """
    if darrm.figure9 is None:
        return []
    chosen = getattr(darrm.figure9, f"prior_{prior}")
    return [point | {"prior": chosen} for point in shape_points(darrm, "figure9")]
