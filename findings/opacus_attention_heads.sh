#!/usr/bin/env bash
# Opacus 1.6.0: attention with batch_first=True and two heads puts parts of one word's answer at other words.
#
# `ModuleValidator.fix` replaces nn.MultiheadAttention, which Opacus cannot train, by DPMultiheadAttention with the same
# weights. TransformerEncoderLayer(batch_first=True) is how most people write such a model. Three texts of five words.
# Best guess before the run: the same outputs to rounding, as the weights are copied. Seen: with
# batch_first=False or one head they are; with batch_first=True and two heads they are not. The heads' answers are
# written out as if words came first, so word 1's answer is made of the first head's for words 1 and 2. Under
# a mask that lets each word see only itself and earlier ones, the first word's answer changes with the second.
# Records do not mix. What was float64 comes back as float32.
#
# Seen 2026-11-29, Python 3.11, opacus==1.6.0, torch==2.13.0:
#   batch_first=False, 2 heads: same outputs True
#   batch_first=True, 1 head: same outputs True
#   batch_first=True, 2 heads: same outputs False
#   TransformerEncoderLayer, batch_first=True, 2 heads: same outputs False
#   first word under a causal mask changes with later words: before False, after True
#   float64 becomes torch.float32
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opacus==1.6.0 torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: opacus 1.6.0 or torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/fix.py" <<'PY'
import torch
from opacus.validators import ModuleValidator
from torch import nn

torch.manual_seed(0)
torch.set_grad_enabled(False)
texts = torch.randn(3, 5, 8)


def attend(layer, words, mask=None):
    return layer(words, words, words, attn_mask=mask)[0]


def compare(name, layer, run):
    same = torch.allclose(run(layer.eval(), texts), run(ModuleValidator.fix(layer).eval(), texts),
                          atol=1e-5)
    print(f"{name}: same outputs {same}")
    return same


def sees_later_words(layer):
    """Five texts, as Opacus compares a mask's size with the number of texts."""
    words = torch.randn(5, 5, 8, generator=torch.Generator().manual_seed(1))
    others = words.clone()
    others[:, 1:] = 0
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    first, second = (attend(layer.eval(), given, mask)[:, 0] for given in (words, others))
    return not torch.allclose(first, second, atol=1e-5)


seen = [
    compare("batch_first=False, 2 heads", nn.MultiheadAttention(8, 2), attend),
    compare("batch_first=True, 1 head", nn.MultiheadAttention(8, 1, batch_first=True), attend),
    compare("batch_first=True, 2 heads", nn.MultiheadAttention(8, 2, batch_first=True), attend),
    compare("TransformerEncoderLayer, batch_first=True, 2 heads",
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.Module.__call__),
]
causal = nn.MultiheadAttention(8, 2, batch_first=True)
before, after = sees_later_words(causal), sees_later_words(ModuleValidator.fix(causal))
print(f"first word under a causal mask changes with later words: before {before}, after {after}")
double = next(ModuleValidator.fix(nn.LSTM(8, 6).double()).parameters()).dtype
print("float64 becomes", double)
leaks = (before, after) == (False, True)
raise SystemExit(not (seen == [True, True, False, False] and leaks and double == torch.float32))
PY
"$folder/venv/bin/python" "$folder/fix.py"
