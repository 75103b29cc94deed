"""The students' network takes many sizes, and its seed decides its weights."""

import pytest
import torch

from private_ensembles.student.networks import student_cnn


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (1, 8, 8), (1, 5, 17), (1, 4, 4)])
def test_network_takes_images_of_many_sizes(shape):
    model = student_cnn(shape, 7, widths=(2, 3, 4), seed=5)
    assert model(torch.rand((2, *shape))).shape == (2, 7)
    before = torch.random.get_rng_state()
    again = student_cnn(shape, 7, widths=(2, 3, 4), seed=5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(model[0].weight, again[0].weight)


@pytest.mark.parametrize(
    ("shape", "n_classes", "widths", "name"),
    [
        ((1, 3, 8), 10, (1, 1, 1), "image_shape"),
        ((1, 8, 8), 1, (1, 1, 1), "n_classes"),
        ((1, 8, 8), 10, (1, 1), "widths"),
        ((1, 8, 8), 10, (1, 1, 0), "widths"),
    ],
)
def test_networks_out_of_range_are_refused(shape, n_classes, widths, name):
    with pytest.raises(ValueError, match=name):
        student_cnn(shape, n_classes, widths=widths)
