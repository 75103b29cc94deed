"""What a mechanism was calibrated to, what its labels cost, and checks of the counts it is for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.base import checks
from private_ensembles.base.limits import check_size
from private_ensembles.base.stated_bounds import upper_bound


@dataclass(frozen=True)
class Parameters:
    """Noise of one scale, for at most `labels` labels; a subclass says which noise, and has that
    field.

    Attributes:
        labels: How many labels are drawn at most.
        continuous: Whether the proof covers continuous noise only, so that labels drawn from
            discrete noise are not released (`release_gate.refusal`).
        n_teachers: Of the task that it was calibrated for; None if the noise was given.
        n_classes: Of that task; None if the noise was given.
    """

    if TYPE_CHECKING:  # a field of every subclass, after its noise

        @property
        def labels(self) -> int: ...

    continuous: bool = field(default=False, kw_only=True, repr=False)
    n_teachers: int | None = field(default=None, kw_only=True, repr=False, compare=False)
    n_classes: int | None = field(default=None, kw_only=True, repr=False, compare=False)

    def replace_labels(self, labels: int) -> Parameters:
        """Return the same noise for another number of labels; for fewer it costs no more."""
        changes: dict[str, Any] = {"labels": labels}
        return replace(self, **changes)

    @property
    def noisy_counts(self) -> tuple[tuple[int, int, float], ...]:
        """The noisy counts that a release is post-processing of; empty where it is of none.

        Each is how many times they are drawn, by how much a moved vote changes them (squared for
        Gaussian noise, in the square of the sum for Laplace), and the scale in votes.
        """
        return ()

    @property
    def discrete_gaussian_counts(self) -> tuple[DiscreteGaussianCounts, ...]:
        """The noisy counts as counts of sensitivity 1 each, for discrete Gaussian noise."""
        return tuple(
            DiscreteGaussianCounts(times * squared_change, scale)
            for times, squared_change, scale in self.noisy_counts
        )

    def table_values(self) -> dict[str, float]:
        """Return the values of the parameters for a table, without None and arrays."""
        fields = asdict(self)
        del fields["continuous"], fields["n_teachers"], fields["n_classes"]
        return {
            key: value for key, value in fields.items() if value is not None and np.ndim(value) == 0
        }


@upper_bound
@dataclass(frozen=True)
class Cost:
    """The total epsilon of all labels at the task's delta, as upper bounds.

    Attributes:
        claimed: By the mechanism's own analysis.
        proven: The least that this package proves.
    """

    claimed: float
    proven: float


def require_counts(counts: NDArray, parameters: Parameters) -> NDArray[np.int64]:
    """Return counts of votes of the teachers that the parameters are for.

    An ensemble of as many teachers passes or fails whatever its votes: rows with other sums, or
    with too many teachers for any sampler, are no counts of it.

    Args:
        counts: (queries, classes) int, votes for each class.
        parameters: What the mechanism was calibrated to.

    Returns:
        (queries, classes) int64.

    Raises:
        ValueError: For what is no table of counts, and for rows that add up to another number.
    """
    counts = require_count_table(counts)
    sums = counts.sum(axis=1, dtype=np.int64)
    n_teachers = sums[0] if parameters.n_teachers is None else parameters.n_teachers
    if (sums != n_teachers).any():
        raise ValueError(
            f"counts: rows add up to {sums.min()} to {sums.max()}: must add up to the {n_teachers} "
            "teachers for which the noise was found"
        )
    check_size(int(n_teachers), counts.shape[1])
    return counts.astype(np.int64)


def require_count_table(counts: NDArray) -> NDArray:
    """Return counts of votes as an array, whatever their rows add up to.

    Args:
        counts: (queries, classes) int, votes for each class.

    Returns:
        (queries, classes) int.

    Raises:
        ValueError: For another rank or type, and for negative or masked numbers.
    """
    checks.check_unmasked(counts=counts)
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        kind = f"{counts.dtype} {counts.shape}"
        raise ValueError(f"counts: {kind}: must be integers (queries, classes)")
    if counts.min() < 0:
        raise ValueError("counts: must be numbers of votes, at least 0")
    return counts
