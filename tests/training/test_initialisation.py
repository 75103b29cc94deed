"""First weights depend on their seed alone, and on no generator of the process."""

import pytest
import torch

from private_ensembles.training.initialisation import seeded_weights


def weights(seed):
    with seeded_weights(seed):
        return torch.nn.Linear(3, 2).weight.detach()


def test_weights_are_those_of_the_seed_whatever_was_drawn_before():
    first = weights(7)
    torch.rand(5)
    assert torch.equal(first, weights(7))
    assert not torch.equal(first, weights(8))


def test_weights_are_those_that_pytorch_draws_after_its_own_seed():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        wanted = torch.nn.Linear(3, 2).weight
    assert torch.equal(weights(7), wanted)


def test_no_generator_of_the_process_is_changed(monkeypatch):
    before = torch.random.get_rng_state()
    # `torch.manual_seed` calls it, whether or not there is a GPU.
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda _: pytest.fail("seeds the GPUs"))
    weights(7)
    assert torch.equal(before, torch.random.get_rng_state())
