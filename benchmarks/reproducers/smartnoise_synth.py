"""SmartNoise's PATE-GAN: labels it draws, what its accountant says of them, and other ways."""

import json
from importlib.metadata import version

import numpy as np
import snsynth.pytorch.nn.pategan as pategan
import torch
from snsynth.transform import MinMaxTransformer
from snsynth.transform.table import TableTransformer

ROWS, EPSILON = 2_000, 1.0  # a teacher for each 1,000 rows
charged, arrived = [], []


class Generator(pategan.Generator):
    """The package's generator; what flows back into it is written down."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        next(self.parameters()).register_hook(
            lambda gradient: arrived.append(gradient.norm().item())
        )


def record_moments(num_teachers, votes, scale, orders):
    moments = accountant(num_teachers, votes, scale, orders)
    charged.append((len(votes), scale, moments.numpy()))
    return moments


accountant, pategan.moments_acc, pategan.Generator = pategan.moments_acc, record_moments, Generator
np.random.seed(0)  # noqa: NPY002 (the package draws from it)
torch.manual_seed(0)
bounds = [MinMaxTransformer(lower=-5, upper=5) for _ in range(2)]
model = pategan.PATEGAN(epsilon=EPSILON)
model.train(np.random.default_rng(0).normal(size=(ROWS, 2)), transformer=TableTransformer(bounds))
orders = 1 + np.arange(100)
total = sum(moments for _, _, moments in charged)
scale = charged[0][1]


def votes_of(ones, teachers, draws, scale):
    """The package's vote step with teachers of fixed votes: how often it says 1."""
    fixed = [lambda data, p=float(t < ones): torch.full((len(data), 1), p) for t in range(teachers)]
    labels, _ = pategan.pate(torch.zeros(draws, 1), fixed, scale)
    return int(labels.sum())


rounds = len(charged) // model.student_iters
print(
    json.dumps(
        {
            "version": version("smartnoise-synth"),
            "teachers": model.num_teachers,
            "scale": scale,
            "labels": sum(number for number, _, _ in charged),
            "delta": model.delta,
            "claimed": EPSILON,
            "accountant": float(min((total - np.log(model.delta)) / orders)),
            "gradients": len(arrived) / rounds,
            "draws": 20_000,
            "shown_scale": 0.5,
            "shown_teachers": 10,
            "ones": [votes_of(n, 10, 20_000, 0.5) for n in range(11)],
            "right_end": votes_of(9, 10, 50, 1e3) == 50 and votes_of(1, 10, 50, 1e3) == 0,
        }
    )
)
