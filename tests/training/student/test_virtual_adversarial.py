"""The perturbation's norm and direction, and where gradients flow."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import kl_div, log_softmax

from private_ensembles.training.student.network import student_cnn
from private_ensembles.training.student.virtual_adversarial import (
    adversarial_perturbation,
    entropy,
    kl_divergence,
    normalise_rows,
    virtual_adversarial_loss,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def setting(seed=0, n=32):
    model = student_cnn((1, 8, 8), 10, widths=(8, 8, 8), seed=seed)
    images = torch.rand((n, 1, 8, 8), generator=generator(seed))
    for parameter in model.parameters():  # predictions that are not all the same
        parameter.data.mul_(3)
    return model, images, log_softmax(model(images), dim=1).detach()


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(0.01, 10))
def test_perturbation_has_the_stated_norm(seed, radius):
    model, images, log_p = setting(seed)
    r = adversarial_perturbation(model, images, log_p, generator(seed), radius=radius, probe=0.01)
    assert r.shape == images.shape
    torch.testing.assert_close(
        r.flatten(1).norm(dim=1), torch.full((32,), radius), rtol=1e-5, atol=0
    )
    assert not r.requires_grad


@pytest.mark.parametrize("seed", range(5))
def test_perturbation_moves_predictions_more_than_chance_does(seed):
    model, images, log_p = setting(seed, n=200)
    radius = 0.5
    r = adversarial_perturbation(model, images, log_p, generator(seed), radius=radius, probe=0.01)

    def moved(step):
        return kl_divergence(log_p, log_softmax(model(images + step), dim=1)).detach()

    chance = torch.stack(
        [
            moved(radius * normalise_rows(torch.randn(images.shape, generator=generator(100 + i))))
            for i in range(20)
        ]
    )
    assert (moved(r) > 0).all()
    assert moved(r).mean() > 2 * chance.mean()
    assert (moved(r) > chance.median(dim=0).values).float().mean() > 0.95


def test_a_model_that_never_moves_leaves_the_random_direction():
    images = torch.rand((4, 1, 8, 8), generator=generator())
    model = nn.Sequential(nn.Flatten(1), nn.Linear(64, 3))
    model[1].weight.data.zero_()
    log_p = log_softmax(model(images), dim=1)
    r = adversarial_perturbation(model, images, log_p.detach(), generator(), radius=2.0, probe=0.01)
    torch.testing.assert_close(r.flatten(1).norm(dim=1), torch.full((4,), 2.0))


def test_gradients_flow_through_the_perturbed_prediction_only():
    model, images, _ = setting()
    log_p = log_softmax(model(images), dim=1)
    loss = virtual_adversarial_loss(model, images, log_p, generator(), radius=1.0, probe=0.01)
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    seen = [parameter.grad.clone() for parameter in model.parameters()]
    r = adversarial_perturbation(model, images, log_p.detach(), generator(), radius=1.0, probe=0.01)
    model.zero_grad()
    kl_divergence(log_p.detach(), log_softmax(model(images + r), dim=1)).mean().backward()
    for mine, parameter in zip(seen, model.parameters(), strict=True):
        torch.testing.assert_close(mine, parameter.grad)


def test_divergence_and_entropy_are_pytorchs():
    logits = torch.randn((2, 50, 7), generator=generator(), dtype=torch.float64)
    log_p, log_q = log_softmax(logits, dim=2)
    expected = kl_div(log_q, log_p, log_target=True, reduction="none").sum(dim=1)
    torch.testing.assert_close(kl_divergence(log_p, log_q), expected)
    expected = torch.distributions.Categorical(logits=log_p).entropy()
    torch.testing.assert_close(entropy(log_p), expected)
