"""The points at which DaRRM's figures of simulations need an optimised gamma."""

from private_ensembles.accounting.composition import general
from private_ensembles.configuration.naming import delta_of


def shape_points(config: dict, figure: str) -> list[dict]:
    """Return the grid points K, m, epsilon, Delta, delta of one of the figures of gamma's shape.

    Figure 6 has m and delta from general composition of `subsamples` teachers (appendix D.1.1), the
    others delta = 1 - (1 - Delta)^m (section 6.1).
    """
    shape = config["darrm"][figure]
    common = {key: shape[key] for key in ("epsilon", "Delta")}
    if "subsamples" not in shape:
        return [
            {"K": shape["K"], "m": m, **common, "delta": delta_of(m, shape["Delta"])}
            for m in shape["m"]
        ]
    points = []
    for drawn in shape["subsamples"]:
        total = general(shape["epsilon"], shape["Delta"], drawn, shape["delta_prime"])
        # Composition never costs more than `drawn` teachers, but the quotient may round up.
        m = max(1.0, min(total.epsilon / shape["epsilon"], float(drawn)))
        points.append({"K": shape["K"], "m": m, **common, "delta": total.delta})
    return points


def prior_points(config: dict, prior: str) -> list[dict]:
    """Return the grid points of Figure 9 for one of its priors, "U" or "P"; none without it."""
    shape = config["darrm"]["figure9"]
    if shape is None:
        return []
    points = shape_points(config, "figure9")
    return [point | {"prior": shape[f"prior_{prior}"]} for point in points]
