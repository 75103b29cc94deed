#!/usr/bin/env bash
# Opacus 1.6.0: it trains the padding row of an Embedding, and an EmbeddingBag counts a word once however often it stands.
#
# The sum of the per-record gradients of a batch should be the batch's gradient. It is compared for layers that
# `ModuleValidator` finds valid, with texts of words 0 to 4, in which word 0 is padding.
# Best guess before the run: equal for Embedding, with and without padding_idx, and for EmbeddingBag in the modes
# "sum" and "mean"; mode "max" is refused. Seen: PyTorch gives the row of padding_idx no gradient, Opacus does, so
# that the row moves from its zeros, and its gradient uses up a record's clip. In an EmbeddingBag a word that stands twice in
# one text has the gradient of one. In mode "max" all per-record gradients are zero. No warning. Embedding
# without padding_idx is equal.
#
# Seen 2026-11-29, Python 3.11, opacus==1.6.0, torch==2.13.0:
#   Embedding: valid, largest difference in row -
#   Embedding, padding_idx=0: valid, largest difference in row 0
#   EmbeddingBag, sum: valid, largest difference in row 3
#   EmbeddingBag, mean: valid, largest difference in row 3
#   EmbeddingBag, max: valid, all per-record gradients are zero
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opacus==1.6.0 torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: opacus 1.6.0 or torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/compare.py" <<'PY'
import copy

import torch
from opacus import GradSampleModule
from opacus.validators import ModuleValidator
from torch import nn

torch.manual_seed(0)
texts = torch.tensor([[1, 2, 4, 0], [3, 3, 3, 1], [2, 4, 0, 0]])
bags = texts.flatten(), torch.tensor([0, 4, 8])  # the same three texts, one after the other


def compare(layer, given):
    """In words: is the layer valid, and where do the per-record gradients not add up?"""
    valid = "valid" if not ModuleValidator.validate(layer) else "invalid"
    private = GradSampleModule(copy.deepcopy(layer), loss_reduction="sum")
    for model in (layer, private):
        scores = model(*given)
        (scores.square() + scores).sum().backward()
    records = private._module.weight.grad_sample
    apart = (records.sum(0) - layer.weight.grad).abs().amax(1)
    if not records.any():
        return f"{valid}, all per-record gradients are zero"
    return f"{valid}, largest difference in row {int(apart.argmax()) if apart.max() > 1e-4 else '-'}"


seen = {
    "Embedding": compare(nn.Embedding(5, 3), [texts]),
    "Embedding, padding_idx=0": compare(nn.Embedding(5, 3, padding_idx=0), [texts]),
}
for mode in ("sum", "mean", "max"):
    seen[f"EmbeddingBag, {mode}"] = compare(nn.EmbeddingBag(5, 3, mode=mode), bags)
for name, words in seen.items():
    print(f"{name}: {words}")
expected = [f"valid, largest difference in row {row}" for row in "-033"]
raise SystemExit(list(seen.values()) != [*expected, "valid, all per-record gradients are zero"])
PY
"$folder/venv/bin/python" "$folder/compare.py"
