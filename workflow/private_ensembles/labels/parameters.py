"""What a mechanism was calibrated to, what its labels cost, and counts that fit both."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from private_ensembles.accounting.discrete_gaussian import DiscreteGaussianCounts
from private_ensembles.base import checks
from private_ensembles.base.limits import check_size


@dataclass(frozen=True)
class Parameters:
    """Noise of one scale; a subclass says which. labels: how many queries it answers at most.

    continuous: the proof covers continuous noise only, so that labels drawn from discrete noise
    are not released (`release.refusal`). n_teachers, n_classes: of the task that it was calibrated
    for; None if it was given.
    """

    continuous: bool = field(default=False, kw_only=True, repr=False)
    n_teachers: int | None = field(default=None, kw_only=True, repr=False, compare=False)
    n_classes: int | None = field(default=None, kw_only=True, repr=False, compare=False)

    def replace_labels(self, labels: int) -> Parameters:
        """Return the same noise for other numbers of labels; for fewer it costs no more."""
        return replace(self, labels=labels)

    @property
    def noisy_counts(self) -> tuple[tuple[int, int, float], ...]:
        """Return the noisy counts that a release is a function of; nothing where it is of none.

        Each: how many times, by how much a moved vote changes them (squared for Gaussian noise, in
        the square of the sum for Laplace), and the scale in votes.
        """
        return ()

    @property
    def discrete_gaussian_counts(self) -> tuple[DiscreteGaussianCounts, ...]:
        """Return them as counts that a neighbour moves by 1 each, for discrete Gaussian noise."""
        return tuple(
            DiscreteGaussianCounts(times * moved, scale)
            for times, moved, scale in self.noisy_counts
        )

    def table_values(self) -> dict[str, float]:
        """Return what a table says of the parameters; None and arrays are left out."""
        fields = asdict(self)
        del fields["continuous"], fields["n_teachers"], fields["n_classes"]
        return {
            key: value for key, value in fields.items() if value is not None and np.ndim(value) == 0
        }


@dataclass(frozen=True)
class Cost:
    """Total epsilon of all labels at the task's delta, upper bounds.

    claimed: by the mechanism's own analysis. proven: the least that this package proves.
    """

    claimed: float
    proven: float


def require_counts(counts: NDArray, parameters: Parameters) -> NDArray[np.int64]:
    """Return counts of votes of the teachers that the parameters are for; ValueError for others.

    An ensemble of as many teachers passes or fails whatever its votes: rows of others, or with too
    many teachers for any sampler, are no counts of it.
    """
    counts = require_count_table(counts)
    sums = counts.sum(axis=1, dtype=np.int64)
    wanted = sums[0] if parameters.n_teachers is None else parameters.n_teachers
    if (sums != wanted).any():
        raise ValueError(
            f"counts: rows add up to {sums.min()} to {sums.max()}: must add up to the {wanted} "
            "teachers for which the noise was found"
        )
    check_size(int(wanted), counts.shape[1])
    return counts.astype(np.int64)


def require_count_table(counts: NDArray) -> NDArray:
    """Return counts of votes, whatever their rows add up to; ValueError for what is no table."""
    checks.check_unmasked(counts=counts)
    counts = np.asarray(counts)
    if counts.ndim != 2 or 0 in counts.shape or counts.dtype.kind not in "iu":
        kind = f"{counts.dtype} {counts.shape}"
        raise ValueError(f"counts: {kind}: must be integers (queries, classes)")
    if counts.min() < 0:
        raise ValueError("counts: must be numbers of votes, at least 0")
    return counts
