"""How teachers are trained, and what DP-SGD promises in public: sample rate, steps, batch size.

Training and accounting both take a schedule from here, so that what is accounted is what is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil

from private_ensembles.base import checks

LEARNING_RATES = "constant", "linear"

# A clipped gradient of 32-bit floats may have this norm, in units of the clipping norm. Its
# rounding is that of its norm: half of n / 8 round-offs of 2^-24 if eight lanes add up the
# squares of n <= 2^13 numbers one by one (a row of a convolution's kernel: 6,144 at most in
# `models`), 128 round-offs if `torch.sum` cascades, and a few more for the rest.
CLIPPED_NORM = 1 + 2.0**-14


@dataclass(frozen=True)
class Schedule:
    """Poisson-sampled steps of one teacher on a shard whose size is a public constant.

    Attributes:
        shard_size: The public number of records.
        sample_rate: The probability in (0, 1] with which each record enters each batch.
        steps: The number of noisy steps.
    """

    shard_size: int
    sample_rate: float
    steps: int

    @property
    def expected_batch_size(self):
        """Mean number of records in a batch, by which the noisy sum is divided.

        It is public, unlike the number drawn.
        """
        return self.shard_size * self.sample_rate


def poisson_schedule(shard_size, batch_size, epochs):
    """Return the Schedule of DP-SGD: sample rate 1/ceil(N/B) and epochs * ceil(N/B) steps.

    Opacus derives them so from a loader: opacus.PrivacyEngine takes 1/len(data_loader). With N =
    1024, B = 32 and 5 epochs that gives q = 1/32 and 160 steps, behind DaRRM's (0.0892, 1e-4).

    Args:
        shard_size: The number of records, N.
        batch_size: The expected number of records in a batch, B.
        epochs: The expected number of times that each record is seen.

    Raises:
        ValueError: They are not all whole numbers of at least 1.
    """
    checks.check_integer(shard_size=shard_size, batch_size=batch_size, epochs=epochs, at_least=1)
    batches = ceil(shard_size / batch_size)
    return Schedule(int(shard_size), 1.0 / batches, int(epochs) * batches)


@dataclass(frozen=True)
class PrivateTraining:
    """How a teacher is trained by DP-SGD (Abadi et al. 2016).

    Attributes:
        noise_multiplier: The noise's standard deviation in units of max_grad_norm, >= 0.
        max_grad_norm: The norm to which each record's gradient is clipped, > 0.
        batch_size: The expected number of records in a batch.
        epochs: The expected number of times that each record is seen.
        learning_rate: The step size, > 0.
        shard_size: The public constant behind sample rate, steps and divisor. By default it is the
            number of records, which is public under replace-one neighbours; give a constant if that
            number is not public (keyed-hash shards).

    Raises:
        ValueError: A parameter is out of range.

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
        """Return the schedule on a shard of so many records.

        Args:
            records: The number of records, which matters only without a public size.

        Raises:
            ValueError: There are neither records nor a public size.
        """
        size = records if self.shard_size is None else self.shard_size
        return poisson_schedule(size, self.batch_size, self.epochs)


@dataclass(frozen=True)
class PlainTraining:
    """How a teacher is trained by ordinary stochastic gradient descent.

    Attributes:
        batch_size: The number of records in a batch; the last one of an epoch may have fewer.
        epochs: The number of times that each record is seen.
        learning_rate: The step size, > 0.
        momentum: >= 0.
        learning_rate_schedule: `constant`, or `linear`, which falls from learning_rate in the first
            step to 0 after the last one.

    Raises:
        ValueError: A parameter is out of range.
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
# A teacher draws these while it is trained, each from a source of its own.
SOURCES = {"private": ("sampling", "noise"), "plain": ("sampling",)}


def build_training(kind: str, parameters: Mapping) -> PrivateTraining | PlainTraining:
    """Return the training of `private` or `plain` teachers with these parameters, by their names.

    Raises:
        ValueError: A parameter is unknown, which the message names, or out of range.
    """
    known = {field.name for field in fields(TRAININGS[kind])}
    if unknown := sorted(set(parameters) - known):
        raise ValueError(
            f"{kind} teachers: unknown parameter {unknown[0]}: must be one of "
            f"{', '.join(sorted(known))}"
        )
    return TRAININGS[kind](**parameters)
