"""How teachers are trained, and what DP-SGD promises in public: sample rate, steps, batch size.

Training and accounting both take a schedule from here, so that what is accounted is what is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil

from private_ensembles.base import checks

LEARNING_RATES = "constant", "linear"

# In units of the clipping norm, the norm that a clipped gradient of 32-bit floats may have. Its
# rounding is that of its norm: half of n / 8 round-offs of 2^-24 if eight lanes add up the
# squares of n <= 2^13 numbers one by one (a row of a convolution's kernel: 6,144 at most in
# `models`), 128 round-offs if `torch.sum` cascades, and a few more for the rest.
CLIPPED_NORM = 1 + 2.0**-14


@dataclass(frozen=True)
class Schedule:
    """Poisson-sampled steps of one teacher on a shard whose size is a public constant.

    sample_rate: probability in (0, 1] with which each record enters each batch. steps: number of
    noisy steps. expected_batch_size: shard_size * sample_rate, the divisor of the noisy sum.
    """

    shard_size: int
    sample_rate: float
    steps: int

    @property
    def expected_batch_size(self):
        """Mean number of records in a batch; public, unlike the number drawn."""
        return self.shard_size * self.sample_rate


def poisson_schedule(shard_size, batch_size, epochs):
    """Sample rate 1/ceil(N/B) and epochs * ceil(N/B) steps, as Opacus derives them from a loader.

    (opacus.PrivacyEngine takes 1/len(data_loader); with N = 1024, B = 32, 5 epochs that gives
    q = 1/32 and 160 steps, behind DaRRM's (0.0892, 1e-4).) Raises ValueError unless all are whole
    numbers of at least 1.
    """
    checks.check_integer(shard_size=shard_size, batch_size=batch_size, epochs=epochs, at_least=1)
    batches = ceil(shard_size / batch_size)
    return Schedule(int(shard_size), 1.0 / batches, int(epochs) * batches)


@dataclass(frozen=True)
class PrivateTraining:
    """How a teacher is trained by DP-SGD (Abadi et al. 2016).

    noise_multiplier: the noise's standard deviation in units of max_grad_norm, >= 0. max_grad_norm:
    the norm to which each record's gradient is clipped, > 0. batch_size: expected records in a
    batch. epochs: expected times that each record is seen. learning_rate: > 0. shard_size: the
    public constant behind sample rate, steps and divisor; the number of records by default, which
    is public under replace-one neighbours; a constant if it is not public (keyed-hash shards).

    Raises ValueError for parameters out of range.

    >>> PrivateTraining(12, 1, batch_size=32, epochs=5, learning_rate=0.03).schedule(1024).steps
    160
    """

    noise_multiplier: float
    max_grad_norm: float
    batch_size: int
    epochs: int
    learning_rate: float
    shard_size: int | None = None

    def __post_init__(self) -> None:
        checks.check_finite(noise_multiplier=self.noise_multiplier, at_least=0)
        checks.check_finite(
            max_grad_norm=self.max_grad_norm, learning_rate=self.learning_rate, above=0
        )
        checks.check_integer(batch_size=self.batch_size, epochs=self.epochs, at_least=1)
        if self.shard_size is not None:
            checks.check_integer(shard_size=self.shard_size, at_least=1)

    def schedule(self, records: int) -> Schedule:
        """Return the steps on a shard of so many records; these matter only without a public size.

        Raises ValueError for a shard without records and without a public size.
        """
        size = records if self.shard_size is None else self.shard_size
        return poisson_schedule(size, self.batch_size, self.epochs)


@dataclass(frozen=True)
class PlainTraining:
    """How a teacher is trained by ordinary stochastic gradient descent.

    batch_size: records in a batch, the last one of an epoch apart. epochs: times that each record
    is seen. learning_rate: > 0. momentum: >= 0. learning_rate_schedule: `constant`, or `linear`,
    from learning_rate in the first step down to 0 after the last one.

    Raises ValueError for parameters out of range.
    """

    batch_size: int
    epochs: int
    learning_rate: float
    momentum: float = 0.0
    learning_rate_schedule: str = "constant"

    def __post_init__(self) -> None:
        checks.check_integer(batch_size=self.batch_size, epochs=self.epochs, at_least=1)
        checks.check_finite(learning_rate=self.learning_rate, above=0)
        checks.check_finite(momentum=self.momentum, at_least=0)
        checks.check_choice(LEARNING_RATES, learning_rate_schedule=self.learning_rate_schedule)

    def steps(self, records: int) -> int:
        """Return the number of steps on a shard of so many records, at least one."""
        return poisson_schedule(records, self.batch_size, self.epochs).steps

    def step_learning_rate(self, step: int, steps: int) -> float:
        """Return the learning rate of step 0 <= step < steps.

        >>> linear = PlainTraining(8, 1, learning_rate=1.0, learning_rate_schedule="linear")
        >>> [linear.step_learning_rate(step, 4) for step in range(4)]
        [1.0, 0.75, 0.5, 0.25]
        """
        falling = self.learning_rate_schedule == "linear"
        return self.learning_rate * (1 - step / steps) if falling else self.learning_rate


TRAININGS = {"private": PrivateTraining, "plain": PlainTraining}
# What a teacher draws while it is trained, each from a source of its own.
SOURCES = {"private": ("sampling", "noise"), "plain": ("sampling",)}


def build_training(kind: str, parameters: Mapping) -> PrivateTraining | PlainTraining:
    """Return the training of `private` or `plain` teachers with these parameters, by their names.

    Raises ValueError for an unknown parameter, which it names, and for one that is out of range.
    """
    known = {field.name for field in fields(TRAININGS[kind])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"{kind} teachers: unknown parameter {unknown[0]}: must be one of "
            f"{', '.join(sorted(known))}"
        )
    return TRAININGS[kind](**parameters)
