#!/usr/bin/env bash
# PyTorch 2.13.0 (CPU): of a seed only the last 32 bits count, so seeds with a teacher's number in front are all the same.
#
# `manual_seed` takes seeds of 64 bits. A hundred teachers get the seed teacher · 2³² + 5 each, and 200,000 streams 63
# random bits each: how many draw other numbers than those before them? NumPy with the same seeds for comparison.
# Best guess before the run: all of them, as two of 200,000 such random seeds agree with a chance of 1 in 5 · 10⁸. Seen:
# all teachers draw what seed 5 draws, and two of the 200,000 streams repeat an earlier one, as seeds of 32 bits do (4.7 are
# expected). So such teachers have equal weights and equal noise, though `torch.initial_seed()` gives back the whole seed.
#
# Seen 2026-11-29, Python 3.11, torch==2.13.0, numpy==2.4.6:
#   100 teachers: 1 stream by PyTorch, 100 by NumPy
#   200000 random seeds: 199998 streams by PyTorch, 200000 by NumPy
# Fails if a number of PyTorch's becomes NumPy's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: torch 2.13.0 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/seeds.py" <<'PY'
import numpy as np
import torch

TEACHERS = [(teacher << 32) + 5 for teacher in range(100)]
RANDOM = np.random.default_rng(0).integers(1 << 63, size=200_000).tolist()
generator = torch.Generator()


def by_torch(seed):
    return tuple(torch.randint(1 << 62, (2,), generator=generator.manual_seed(seed)).tolist())


def by_numpy(seed):
    return tuple(np.random.default_rng(seed).integers(1 << 62, size=2).tolist())


changed = False
for name, seeds in {"teachers": TEACHERS, "random seeds": RANDOM}.items():
    torches, numpys = (len(set(map(draw, seeds))) for draw in (by_torch, by_numpy))
    print(f"{len(seeds)} {name}: {torches} {'stream' if torches == 1 else 'streams'} by PyTorch, {numpys} by NumPy")
    changed |= torches == numpys
raise SystemExit(changed)
PY
"$folder/venv/bin/python" "$folder/seeds.py"
