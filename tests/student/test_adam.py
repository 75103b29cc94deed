"""Adam's steps are PyTorch's, bit for bit, and import no compiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from private_ensembles.student.adam import Adam


def _gradients(model: torch.nn.Module, step: int) -> None:
    inputs = torch.randn(8, 3, generator=torch.Generator().manual_seed(step))
    model.zero_grad()
    model(inputs).square().sum().backward()


@pytest.mark.parametrize("beta1", [0.9, 0.5])
def test_steps_are_those_of_pytorch(beta1):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        ours = torch.nn.Linear(3, 2)
    theirs = torch.nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    adam = Adam(ours.parameters(), beta1=beta1)
    reference = torch.optim.Adam(theirs.parameters(), betas=(beta1, 0.999), fused=True)
    for step in range(20):
        rate = 0.01 / (1 + step)
        _gradients(ours, step)
        adam.step(rate)
        _gradients(theirs, step)
        reference.param_groups[0]["lr"] = rate
        reference.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_gradients_with_the_channels_last_in_memory_are_taken_as_what_they_are():
    """The fused step goes through memory: of a gradient that lies otherwise than its weights."""
    source = torch.Generator().manual_seed(0)
    weight = torch.randn(4, 3, 2, 5, generator=source, dtype=torch.float64)
    images = torch.randn(6, 3, 8, 9, generator=source, dtype=torch.float64)
    first, second = (weight.clone().requires_grad_() for _ in range(2))
    ours, theirs = Adam([first]), torch.optim.Adam([second], lr=0.01, foreach=False)
    for one, order in ((first, torch.channels_last), (second, torch.contiguous_format)):
        for _ in range(3):
            one.grad = None
            values = torch.nn.functional.conv2d(images.contiguous(memory_format=order), one)
            values.square().sum().backward()
            ours.step(0.01) if one is first else theirs.step()
    assert torch.allclose(first, second, rtol=0, atol=1e-12)


def test_no_compiler_is_imported():
    code = """if True:
        import sys, torch
        from private_ensembles.student.adam import Adam
        weight = torch.zeros(1, requires_grad=True)
        weight.sum().backward()
        Adam([weight]).step(0.1)
        sys.exit("torch._dynamo" in sys.modules)
    """
    workflow = Path(__file__).resolve().parents[2] / "workflow"
    environment = os.environ | {"PYTHONPATH": str(workflow)}
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, env=environment, check=False).returncode == 0
