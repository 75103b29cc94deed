#!/usr/bin/env bash
# cleanlab 2.9.0: a tied vote goes to the class that is rarer among all other votes, so each label depends on all of them.
#
# `get_majority_vote_label` on an item with the votes 1 and 2, among 22 items on which two people agree.
# Best guess before the run: the commoner class wins, as its documentation says "class frequencies", or the smaller
# number, as in NumPy. Seen: if 20 other items have label 1, the tie is 2; if they have label 2, it is 1. A comment in
# the source says that this is meant, against imbalance. So a consensus label is no function of its own
# item's votes, and whoever charges privacy for each item's votes on its own charges too little.
#
# Seen 2026-11-28, Python 3.11, cleanlab==2.9.0:
#   20 other items labelled 1: the tie goes to 2
#   20 other items labelled 2: the tie goes to 1
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet cleanlab==2.9.0 ||
    { echo "skipped: cleanlab 2.9.0 cannot be installed"; exit 0; }
cat > "$folder/vote.py" <<'PY'
import numpy as np
from cleanlab.multiannotator import get_majority_vote_label

answers = []
for common, rare in ((1, 2), (2, 1)):
    votes = np.array([[1, 2], [0, 0], [rare, rare], *[[common, common]] * 20])
    answers.append(int(get_majority_vote_label(votes, verbose=False)[0]))
    print(f"20 other items labelled {common}: the tie goes to {answers[-1]}")
raise SystemExit(answers != [2, 1])
PY
"$folder/venv/bin/python" "$folder/vote.py"
