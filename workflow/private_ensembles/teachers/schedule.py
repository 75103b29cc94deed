"""What DP-SGD promises in public: sample rate, number of steps, expected batch size.

Training and accounting both take these from here, so that what is accounted is what is run.
"""

from dataclasses import dataclass
from math import ceil

from private_ensembles import checks

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
    checks.integer(shard_size=shard_size, batch_size=batch_size, epochs=epochs, at_least=1)
    batches = ceil(shard_size / batch_size)
    return Schedule(int(shard_size), 1.0 / batches, int(epochs) * batches)


def check_finite(state):
    """ValueError naming the first tensor of a state_dict that holds a number that is not finite."""
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"training diverged: {name} is not finite; lower learning_rate")
