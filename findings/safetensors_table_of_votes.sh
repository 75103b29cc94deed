#!/usr/bin/env bash
# safetensors 0.8.0: a table of votes that pandas hands over comes back with the votes at other places.
#
# Three teachers' votes on four queries, as `DataFrame.to_numpy()` gives them: pandas keeps columns together, so
# NumPy's array is in column order. It is saved by `safetensors.numpy.save_file` and loaded again.
# Best guess before the run: the same array, as from `np.save`, or an error, as from `safetensors.torch`, which
# refuses a tensor that is not contiguous. Seen: same shape, same type, no message, and the votes of the columns
# written one after the other are taken for rows. So counts per class are right, and counts per query and per
# teacher are not. `np.ascontiguousarray` before saving helps.
#
# Seen 2026-11-29, Python 3.11, safetensors==0.8.0, numpy==2.4.6, pandas==3.1.1:
#   saved:            [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
#   loaded:           [[0, 0, 0], [0, 1, 1], [1, 1, 2], [2, 2, 2]]
#   contiguous first: [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
# Fails if the second equals the first or the third does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6 pandas==3.1.1 ||
    { echo "skipped: safetensors 0.8.0, numpy 2.4.6 or pandas 3.1.1 cannot be installed"; exit 0; }
cat > "$folder/table.py" <<'PY'
import sys

import numpy as np
import pandas as pd
from safetensors.numpy import load_file, save_file

votes = pd.DataFrame({"anna": [0] * 4, "ben": [1] * 4, "cleo": [2] * 4}).to_numpy()


def save_and_load(array):
    save_file({"votes": array}, sys.argv[1])
    return load_file(sys.argv[1])["votes"].tolist()


loaded, contiguous = save_and_load(votes), save_and_load(np.ascontiguousarray(votes))
print(f"saved:            {votes.tolist()}")
print(f"loaded:           {loaded}")
print(f"contiguous first: {contiguous}")
raise SystemExit(loaded == votes.tolist() or contiguous != votes.tolist())
PY
"$folder/venv/bin/python" "$folder/table.py" "$folder/votes.safetensors"
