"""NZC's immutable noisy ArgMax: a constant on the largest count, then noise."""

from dataclasses import dataclass, replace

from private_ensembles.labels.laws.table import TableLaw
from private_ensembles.labels.parameters import Parameters
from private_ensembles.papers.nzc.mathematics import mechanism


@dataclass(frozen=True)
class ImmutableNoise(Parameters):
    """NZC's parameters, in votes. The defaults are the paper's, as Table 1 needs them read.

    Attributes:
        constant: c, added to the largest count.
        gamma: the noise's scale.
        labels: how many labels are released.
    """

    constant: float = 1e100
    gamma: float = 1e10
    labels: int = 1


class Immutable(TableLaw):
    """Distribution of NZC's label, exact up to rounding and underflow for two classes.

    With more classes it is that of the exact plurality, which noise hardly ever overcomes.
    """

    def probabilities(self, counts, parameters):
        return mechanism.label_distribution(
            counts, constant=parameters.constant, noise_scale=parameters.gamma
        )[0]

    def numerical_error(self, n_teachers, n_classes, parameters, *, secure=False):
        """Return the error of rounding, for two classes."""
        return {"relative_error": mechanism.RELATIVE_ERROR, "absolute_error": 1e-300}

    def draw_seeded(self, counts, parameters, generator):
        return mechanism.immutable_noisy_argmax(
            counts, generator, constant=parameters.constant, noise_scale=parameters.gamma
        )

    def scale_noise(self, parameters, factor):
        return replace(parameters, gamma=factor * parameters.gamma)


LAW = Immutable()
