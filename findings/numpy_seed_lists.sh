#!/usr/bin/env bash
# NumPy 2.4.6: `default_rng([5, 0])` draws what `default_rng(5)` draws, so teacher 0 has no generator of its own.
#
# A generator for each query of each teacher, `default_rng([seed, teacher, query])`, beside that of the run,
# `default_rng(seed)`: which draw the same?
# Best guess before the run: none, since each list is another seed, and since `RandomState` has it so. Seen: zeros at the end
# of up to four numbers count for nothing, so teacher 0's generator, and that of its query 0, are the run's, and what
# was shuffled with one comes again as the noise of the other. A number of more than 32 bits is cut into such a list:
# 2³² + 5 is [5, 1]. `SeedSequence(seed, spawn_key=(teacher, query))` gives each its own, for teacher 0, too.
#
# Seen 2026-11-29, Python 3.11, numpy==2.4.6:
#   default_rng: 5 = [5] = [5, 0] = [5, 0, 0] = [5, 0, 0, 0]; [5, 1] = [5, 1, 0] = 4294967301
#   RandomState: all differ
#   spawn_key: all differ
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet numpy==2.4.6 ||
    { echo "skipped: numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/seeds.py" <<'PY'
import numpy as np

LISTS = [5], [5, 0], [5, 0, 0], [5, 0, 0, 0], [5, 0, 0, 0, 0], [5, 1], [5, 1, 0]


def join_same(generator, seeds):
    """The seeds that draw the same, joined by equal signs."""
    groups = {}
    for seed in seeds:
        groups.setdefault(tuple(generator(seed).normal(size=10)), []).append(str(seed))
    return "; ".join(" = ".join(same) for same in groups.values() if len(same) > 1) or "all differ"


def spawned(seed):
    return np.random.default_rng(np.random.SeedSequence(seed[0], spawn_key=seed[1:]))


seen = {
    "default_rng": join_same(np.random.default_rng, [5, *LISTS, 2**32 + 5]),
    "RandomState": join_same(np.random.RandomState, LISTS),
    "spawn_key": join_same(spawned, LISTS),
}
for name, same in seen.items():
    print(f"{name}: {same}")
wanted = "5 = [5] = [5, 0] = [5, 0, 0] = [5, 0, 0, 0]; [5, 1] = [5, 1, 0] = 4294967301"
raise SystemExit(list(seen.values()) != [wanted, "all differ", "all differ"])
PY
"$folder/venv/bin/python" "$folder/seeds.py"
