"""NZC's immutable noisy ArgMax. Its claim is false (docs/nzc.md), so its labels stay inside."""

from __future__ import annotations

from dataclasses import dataclass, replace

from private_ensembles.mechanisms.families.audited import both_counts
from private_ensembles.mechanisms.families.base import Cost, Parameters
from private_ensembles.mechanisms.families.table import TableMechanism
from private_ensembles.nzc import mechanism
from private_ensembles.nzc.claims import claimed_readings
from private_ensembles.nzc.truth import proven_epsilon


@dataclass(frozen=True)
class ImmutableNoise(Parameters):
    """constant: c, added to the largest count. gamma: the noise's scale. In votes.

    The defaults are the paper's, read as Table 1 needs them read.
    """

    constant: float = 1e100
    gamma: float = 1e10
    labels: int = 1


class NZC(TableMechanism):
    """Claimed: Theorem 4 for one query, gamma read as a scale."""

    name = "nzc"
    label = "NZC, immutable noisy ArgMax"
    paper = "NZC"
    source = "NZC section 3.2 and Theorem 4"
    order = 40
    proof = "nzc.md#the-claim-fails"
    color = "vermilion"
    releasable = False
    keeps_budget = False

    def cost(self, task, parameters):
        """Return the claim, and what is true of it."""
        claimed = claimed_readings(parameters.gamma, 1, task.delta)["scale"]
        return Cost(claimed, proven_epsilon(parameters.constant, parameters.gamma))

    def table(self, n_teachers, parameters):
        """Return Pr[label], exact up to rounding and underflow."""
        return self._distribution(both_counts(n_teachers), parameters)

    def many_classes(self, counts, parameters):
        """Return Pr[label] of the exact ArgMax, which noise hardly ever overcomes."""
        return self._distribution(counts, parameters)

    @staticmethod
    def _distribution(counts, parameters):
        given = {"constant": parameters.constant, "noise_scale": parameters.gamma}
        return mechanism.label_distribution(counts, **given)[0]

    def error(self, n_teachers, n_classes, parameters, secure=False):
        """Two classes: of rounding."""
        return {"relative_error": mechanism.RELATIVE_ERROR, "absolute_error": 1e-300}

    def draw(self, counts, parameters, noise):
        given = {"constant": parameters.constant, "noise_scale": parameters.gamma}
        return mechanism.immutable_noisy_argmax(counts, noise.generator, **given)

    def weaker(self, parameters, factor):
        return replace(parameters, gamma=factor * parameters.gamma)


MECHANISM = NZC()
