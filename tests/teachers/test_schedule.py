"""What DP-SGD promises in public, and which training is refused."""

import pytest
import torch

from private_ensembles.teachers.schedule import check_finite, poisson_schedule


@pytest.mark.parametrize(
    ("n", "batch", "epochs", "rate", "steps"),
    [(1024, 32, 5, 1 / 32, 160), (1090, 32, 5, 1 / 35, 175), (10, 32, 3, 1.0, 3)],
)
def test_schedule_is_the_one_of_opacus(n, batch, epochs, rate, steps):
    schedule = poisson_schedule(n, batch, epochs)
    assert (schedule.sample_rate, schedule.steps) == (rate, steps)
    assert schedule.expected_batch_size == pytest.approx(n * rate)


@pytest.mark.parametrize("bad", [{"shard_size": 0}, {"batch_size": 0}, {"epochs": 1.5}])
def test_schedules_of_no_whole_steps_are_refused(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} = .*: must be an integer >= 1"):
        poisson_schedule(**{"shard_size": 100, "batch_size": 10, "epochs": 1} | bad)


def test_weights_that_are_not_finite_are_named():
    check_finite({"a": torch.ones(2)})
    with pytest.raises(ValueError, match="training diverged: b is not finite"):
        check_finite({"a": torch.ones(2), "b": torch.tensor([1.0, float("nan")])})
