"""Adam, without what PyTorch's optimizers import for its compiler: a second at every start."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.optim.adam import adam


class Adam:
    """`torch.optim.Adam`, fused, bit for bit; the learning rate is given at each step.

    beta1: how slowly the mean gradient is forgotten, in [0, 1). state: what the next step depends
    on beside the parameters, float tensors in lists by name.
    """

    def __init__(self, parameters: Iterable[torch.Tensor], *, beta1: float = 0.9) -> None:
        self.parameters, self.beta1 = list(parameters), beta1
        self.state = {
            "exp_avgs": [torch.zeros_like(parameter) for parameter in self.parameters],
            "exp_avg_sqs": [torch.zeros_like(parameter) for parameter in self.parameters],
            "state_steps": [
                torch.zeros((), device=parameter.device) for parameter in self.parameters
            ],
        }

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Move the parameters, each of which needs a gradient."""
        adam(
            self.parameters,
            [parameter.grad for parameter in self.parameters],
            **self.state,
            max_exp_avg_sqs=[],
            amsgrad=False,
            beta1=self.beta1,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
            fused=True,
        )
