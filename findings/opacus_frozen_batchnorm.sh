#!/usr/bin/env bash
# Opacus 1.6.0: BatchNorm without weights, or with frozen ones, is valid, and mixes the records of a batch.
#
# BatchNorm is the layer that everybody knows Opacus to refuse: its output for a record depends on the others.
# Best guess before the run: refused whenever it is in training mode. Seen: `ModuleValidator` and
# GradSampleModule refuse it only if it has weights that are trained. With affine=False, or if its weights are
# frozen, as in fine-tuning, a convolution after it gets per-record gradients that depend on the other records: the
# norm of the first record's is 42 or 2, by what the others are. So clipping does not bound what one
# record can change.
#
# Seen 2026-11-29, Python 3.11, opacus==1.6.0, torch==2.13.0:
#   trained: refused
#   affine=False: valid, the first record's gradient depends on the others: True
#   frozen: valid, the first record's gradient depends on the others: True
#   frozen, as GroupNorm: valid, the first record's gradient depends on the others: False
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opacus==1.6.0 torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: opacus 1.6.0 or torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/train.py" <<'PY'
import copy

import torch
from opacus import GradSampleModule
from opacus.validators import ModuleValidator
from torch import nn

torch.manual_seed(0)
images, others = torch.randn(4, 3, 5, 5), 5 * torch.randn(3, 3, 5, 5)


def gradient_of_first(model, batch):
    private = GradSampleModule(copy.deepcopy(model), loss_reduction="sum")
    private(batch).square().sum().backward()
    return private._module[1].weight.grad_sample[0]


def describe(norm):
    model = nn.Sequential(norm, nn.Conv2d(3, 2, 3))
    if ModuleValidator.validate(model):
        return "refused"
    beside = [gradient_of_first(model, torch.cat([images[:1], rest])) for rest in (images[1:], others)]
    depends = not torch.allclose(*beside, rtol=1e-3, atol=1e-4)
    return f"valid, the first record's gradient depends on the others: {depends}"


seen = {
    "trained": describe(nn.BatchNorm2d(3)),
    "affine=False": describe(nn.BatchNorm2d(3, affine=False)),
    "frozen": describe(nn.BatchNorm2d(3).requires_grad_(False)),
    "frozen, as GroupNorm": describe(nn.GroupNorm(1, 3).requires_grad_(False)),
}
for name, words in seen.items():
    print(f"{name}: {words}")
ends = [words.rsplit(" ", 1)[-1] for words in seen.values()]
raise SystemExit(ends != ["refused", "True", "True", "False"])
PY
"$folder/venv/bin/python" "$folder/train.py"
