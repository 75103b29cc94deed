#!/usr/bin/env bash
# statsmodels 0.15.0: `aggregate_raters` counts missing votes as votes for a category "nan" of their own.
#
# The 12 x 4 table of Krippendorff's paper of 2011, in which 7 votes are missing, as NaN.
# Best guess before the run: NaN is dropped, so rows add up to fewer than four and `fleiss_kappa` refuses
# them, as it does unequal rows. Seen: every row adds up to 4, the categories are 1 to 5 and nan, and kappa is
# 0.57. Two raters who both said nothing agree. krippendorff, which leaves them out, says alpha = 0.74.
# A table with a string and None instead raises TypeError.
#
# Seen 2026-11-28, Python 3.11, statsmodels==0.15.0, krippendorff==0.9.0:
#   categories 1.0 2.0 3.0 4.0 5.0 nan, votes on each item 4, kappa 0.568
#   krippendorff's alpha 0.743
# Fails if nan is no category, or kappa is above 0.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet statsmodels==0.15.0 krippendorff==0.9.0 ||
    { echo "skipped: statsmodels 0.15.0 or krippendorff 0.9.0 cannot be installed"; exit 0; }
cat > "$folder/agree.py" <<'PY'
import krippendorff
import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

votes = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
)
counts, categories = aggregate_raters(votes.T)
kappa = fleiss_kappa(counts)
sizes = set(counts.sum(axis=1).tolist())
print("categories", *categories, end="")
print(f", votes on each item {' '.join(map(str, sizes))}, kappa {kappa:.3f}")
print(f"krippendorff's alpha {krippendorff.alpha(votes, level_of_measurement='nominal'):.3f}")
raise SystemExit(not (np.isnan(categories).any() and sizes == {4} and kappa < 0.6))
PY
"$folder/venv/bin/python" "$folder/agree.py"
