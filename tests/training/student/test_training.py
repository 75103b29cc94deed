"""How a network is trained: every number is checked and named."""

import pytest

from private_ensembles.training.student.training import Training


def test_parameters_of_the_configuration_replace_defaults():
    training = Training.from_parameters({"epochs": 3, "widths": [2, 3, 4]})
    assert (training.epochs, training.widths) == (3, (2, 3, 4))
    assert training.batch_size == Training().batch_size


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epoch": 3}, "unknown parameter epoch: must be one of epochs, "),
        ({"batch_size": 1.5}, "batch_size = 1.5: must be an integer >= 1"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"probe": 0}, "probe = 0: must be a finite number > 0"),
        ({"adversarial_radius": float("nan")}, "adversarial_radius = nan"),
        ({"scale": -0.1}, "scale = -0.1: must be a finite number >= 0"),
    ],
)
def test_what_is_out_of_range_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        Training.from_parameters(parameters)
