#!/usr/bin/env bash
# PyTorch 2.13.0 (CPU): with the same seed, normal noise for a query depends on how many queries are asked with it.
#
# Noise for the counts of ten classes, `torch.randn(queries, 10)` after the same seed: how many numbers are those
# that the first queries get when a hundred are asked. Uniform numbers and NumPy's noise for comparison.
# Best guess before the run: all of them, as a generator gives one number after the other. Seen: of one query none,
# of two queries four numbers; all only where their number can be divided by 16. Below 16 numbers they are drawn
# in another way, and from 16 on the last 16 are drawn once more if it cannot. So a seed does not give a query the
# same noise in a batch of another size, though it does with `torch.rand`.
#
# Seen 2026-11-29, Python 3.11, torch==2.13.0, numpy==2.4.6:
#   1 query: 0 of 10 the same by torch.randn, 10 by torch.rand, 10 by NumPy
#   2 queries: 4 of 20 the same by torch.randn, 20 by torch.rand, 20 by NumPy
#   5 queries: 34 of 50 the same by torch.randn, 50 by torch.rand, 50 by NumPy
#   8 queries: 80 of 80 the same by torch.randn, 80 by torch.rand, 80 by NumPy
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: torch 2.13.0 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/noise.py" <<'PY'
import numpy as np
import torch


def count_same(draw, queries):
    return int((draw(queries) == draw(100)[:queries]).sum())


def seeded(function):
    return lambda queries: torch.manual_seed(0) and function(queries, 10).numpy()


def numpy(queries):
    return np.random.default_rng(0).normal(size=(queries, 10))


seen = []
for queries in (1, 2, 5, 8):
    seen.append([count_same(draw, queries) for draw in (seeded(torch.randn), seeded(torch.rand), numpy)])
    normal, uniform, numpys = seen[-1]
    print(
        f"{queries} {'query' if queries == 1 else 'queries'}: {normal} of {10 * queries} the same "
        f"by torch.randn, {uniform} by torch.rand, {numpys} by NumPy"
    )
raise SystemExit(seen != [[0, 10, 10], [4, 20, 20], [34, 50, 50], [80, 80, 80]])
PY
"$folder/venv/bin/python" "$folder/noise.py"
