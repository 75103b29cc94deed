#!/usr/bin/env bash
# JAX-privacy 2.0.0: a teacher whose shard starts at record 20,000 trains on the first teacher's records.
#
# Two teachers have 20,000 of 40,000 records each. `CyclicPoissonSampling` draws a hundred batches among a teacher's 20,000,
# and the second teacher takes `records[20_000 + indices]`.
# Best guess before the run: indices are of NumPy's usual type, int64, and all records are its own. Seen: they have the
# smallest type that holds 20,000, int16, in which 20,000 + 12,768 and more is negative, and NumPy takes a negative
# index from the end: a third of what the second teacher sees is the first's, with no message (for a third teacher, that
# starts at 40,000, NumPy raises an error). So one record reaches two teachers, and shards are not disjoint.
# `indices.astype(int)` before adding helps.
#
# Seen 2026-11-29, Python 3.11, jax-privacy==2.0.0, jax==0.10.2, numpy==2.4.6:
#   indices as they come (int16): 7349 of 20138 draws of the second teacher are records of the first
#   indices as int64: 0 of 20138 draws of the second teacher are records of the first
# Fails if the first number becomes 0 or the second does not stay 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jax-privacy==2.0.0 jax==0.10.2 numpy==2.4.6 ||
    { echo "skipped: jax-privacy 2.0.0, jax 0.10.2 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/shards.py" <<'PY'
import numpy as np
from jax_privacy.batch_selection import CyclicPoissonSampling

SHARD = 20_000
owners = np.repeat([0, 1], SHARD)  # the teacher of each record
batches = list(CyclicPoissonSampling(sampling_prob=0.01, iterations=100).batch_iterator(SHARD, rng=0))
shared = []
for name, indices in {
    f"as they come ({batches[0].dtype})": np.concatenate(batches),
    "as int64": np.concatenate(batches).astype(np.int64),
}.items():
    seen = owners[SHARD + indices]
    shared.append(int((seen == 0).sum()))
    print(f"indices {name}: {shared[-1]} of {len(seen)} draws of the second teacher are records of the first")
raise SystemExit(shared[0] == 0 or shared[1] != 0)
PY
"$folder/venv/bin/python" "$folder/shards.py"
