#!/usr/bin/env bash
# OpenDP 0.16.0: without noise a tie goes to the last candidate, and a top five of three candidates has three and costs five.
#
# `make_noisy_max` and `make_noisy_top_k` with scale 0 are handy in tests: nothing is random then.
# Best guess before the run: a tie goes to the first, as in NumPy's argmax, or is drawn; k above the
# number of candidates raises an error, as k is known. Seen: of three equal scores index 2 is returned each
# time, and the top two are [2, 1]. k = 5 of three candidates returns three indices, and the privacy map
# charges five selections. With noise, however small, ties are drawn evenly.
#
# Seen 2026-11-28, Python 3.11, opendp==0.16.0:
#   scale 0: max {2}, top two {(2, 1)}
#   scale 1e-6: max {0, 1, 2}
#   k = 5 of 3: 3 indices, epsilon 5.0; k = 3: epsilon 3.0
# Fails if one of these changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opendp==0.16.0 ||
    { echo "skipped: opendp 0.16.0 cannot be installed"; exit 0; }
cat > "$folder/ties.py" <<'PY'
import opendp.prelude as dp

dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), dp.max_divergence()
tie, draws = [5, 5, 5], 200
greatest = {dp.m.make_noisy_max(*space, scale=0.0)(tie) for _ in range(draws)}
two = dp.m.make_noisy_top_k(*space, k=2, scale=0.0)
leading = {tuple(two(tie)) for _ in range(draws)}
print(f"scale 0: max {greatest}, top two {leading}")
drawn = {dp.m.make_noisy_max(*space, scale=1e-6)(tie) for _ in range(draws)}
print(f"scale 1e-6: max {drawn}")
five, three = (dp.m.make_noisy_top_k(*space, k=k, scale=2.0) for k in (5, 3))
indices = five([1, 2, 3])
print(f"k = 5 of 3: {len(indices)} indices, epsilon {five.map(1)}; k = 3: epsilon {three.map(1)}")
first = greatest == {2} and leading == {(2, 1)} and drawn == {0, 1, 2}
raise SystemExit(not (first and len(indices) == 3 and five.map(1) == 5 and three.map(1) == 3))
PY
"$folder/venv/bin/python" "$folder/ties.py"
