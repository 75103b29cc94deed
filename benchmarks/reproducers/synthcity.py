"""synthcity's PATE-GAN: batches that it labels, batches that it charges, rows that it shows."""

import json
from importlib.metadata import version

import numpy as np
import pandas as pd
import torch

# torchvision is imported by synthcity but not used here. Its wheel has its operators for CUDA only.
operators = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import synthcity.logger as log  # noqa: E402
from synthcity.plugins.privacy import plugin_pategan as pategan  # noqa: E402

log.remove()
labelled, charged, shown = [], [], []
vote, charge = pategan.Teachers.pate_lamda, pategan.PATEGAN._update_alpha


def record_vote(self, x):
    answer = vote(self, x)
    labelled.append(len(answer[2]))
    return answer


def record_charge(self, n0, n1):
    charged.append(len(n0))
    return charge(self, n0, n1)


class RecordingGAN(pategan.TabularGAN):
    """The package's GAN; what its discriminator is given in training is written down."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.model.discriminator.register_forward_pre_hook(
            lambda module, given: shown.append(given[0].detach().numpy().copy())
        )


pategan.Teachers.pate_lamda, pategan.PATEGAN._update_alpha = record_vote, record_charge
pategan.TabularGAN = RecordingGAN
np.random.seed(0)  # noqa: NPY002 (the package draws from it)
torch.manual_seed(0)
data = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
model = pategan.PATEGAN(
    max_iter=20, generator_n_iter=2, batch_size=50, n_teachers=10, epsilon=1.0, delta=1e-6
)
delta_kept = model.delta
model.fit(data)
rows = {row.astype(np.float32).tobytes() for row in np.asarray(model.model.encode(data))}
seen = {row.tobytes() for batch in shown for row in batch.astype(np.float32)}
accountant = min(
    (moment - np.log(model.delta)) / (order + 1) for order, moment in enumerate(model.alpha_dict)
)


class Fixed:
    """A teacher that always votes the same."""

    def __init__(self, label):
        self.label = label

    def predict(self, x):
        return np.full(len(x), self.label)


def votes_of(ones, teachers, draws, scale):
    """The package's vote step with teachers of fixed votes: how often it says 1."""
    committee = pategan.Teachers(n_teachers=teachers, samples_per_teacher=1, lamda=scale)
    committee.teacher_models = [Fixed(int(t < ones)) for t in range(teachers)]
    return int(vote(committee, np.zeros((draws, 1)))[2].sum())


print(
    json.dumps(
        {
            "version": version("synthcity"),
            "teachers": model.n_teachers,
            "scale": model.lamda,
            "labels": sum(labelled),
            "labels_charged": sum(charged),
            "batches": len(labelled),
            "batches_charged": len(charged),
            "delta_asked": 1e-6,
            "delta_kept": delta_kept,
            "delta": model.delta,
            "claimed": model.epsilon,
            "accountant": accountant,
            "rows": len(rows),
            "rows_shown": len(rows & seen),
            "draws": 20_000,
            "shown_scale": 0.5,
            "shown_teachers": 10,
            "ones": [votes_of(n, 10, 20_000, 0.5) for n in range(11)],
            "right_end": votes_of(9, 10, 50, 1e3) == 50 and votes_of(1, 10, 50, 1e3) == 0,
        }
    )
)
