#!/usr/bin/env bash
# PyTorch 2.13.0 (CPU): of equal scores the top one need not be among the top two, and is not argmax's.
#
# torch.topk and torch.argmax on scores that are all equal, as the votes of a tie or the outputs of an untrained model are.
# Best guess before the run: the first ones in order, as argmax, NumPy and sort have it. Seen: the top one of five is 2, of
# ten 8, of a hundred 0; the top two of a hundred are 67 and 66, without 0. argmax says 0 each time. So top-1
# accuracy by topk is not that by argmax, and top-2 accuracy can be below top-1.
#
# Seen 2026-11-29, Python 3.11, torch==2.13.0, numpy==2.4.6:
#   3 scores: argmax 0, top one [0], top two [0, 1]
#   5 scores: argmax 0, top one [2], top two [2, 4]
#   10 scores: argmax 0, top one [8], top two [8, 6]
#   100 scores: argmax 0, top one [0], top two [67, 66]
# Fails if all top ones are argmax's, or all of them are among the top two.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 ||
    { echo "skipped: torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/top.py" <<'PY'
import torch

differs = left_out = False
for number in (3, 5, 10, 100):
    scores = torch.zeros(number)
    first, one, two = int(scores.argmax()), *(scores.topk(k).indices.tolist() for k in (1, 2))
    print(f"{number} scores: argmax {first}, top one {one}, top two {two}")
    differs |= one != [first]
    left_out |= one[0] not in two
raise SystemExit(not (differs and left_out))
PY
"$folder/venv/bin/python" "$folder/top.py"
