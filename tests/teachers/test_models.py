"""models: the paper's network, and the same weights from the same seed."""

import pytest
import torch

from private_ensembles.teachers.models import build_model, darrm_cnn


def test_darrm_cnn_has_the_papers_layers():
    shapes = [tuple(p.shape) for p in darrm_cnn((28, 28), 2).parameters()]
    assert shapes == [(16, 1, 5, 5), (16,), (32, 16, 5, 5), (32,), (2, 1568), (2,)]


@pytest.mark.parametrize("name", ["darrm_cnn", "linear"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_models_give_one_row_of_logits_per_image(name, n):
    assert build_model(name, (8, 9), 3)(torch.zeros(n, 1, 8, 9)).shape == (n, 3)


def test_weights_follow_the_seed_and_leave_the_global_generator_alone():
    before = torch.get_rng_state()
    first, again, other = (
        torch.nn.utils.parameters_to_vector(build_model("darrm_cnn", (8, 8), 2, s).parameters())
        for s in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_unknown_model_and_too_small_images_are_refused():
    with pytest.raises(ValueError, match="model = 'resnet': must be one of darrm_cnn, linear"):
        build_model("resnet", (8, 8), 2)
    with pytest.raises(ValueError, match="at least 4x4"):
        build_model("darrm_cnn", (3, 8), 2)
