#!/usr/bin/env bash
# diffprivlib 0.6.6: the private median of a hundred ratings that are all 3 is uniform between the bounds, at any ε.
#
# 100 teachers rate a query from 1 to 5, and `tools.median` is asked 2,000 times with bounds (1, 5), rounded to a rating.
# Best guess before the run: 3 nearly always at ε = 1, since an error of one rating would move half of the votes. Seen: 3 in a
# quarter, as if there were no votes, at ε = 10, too, if all say 3; if 60 do, and 20 each say 2 and 4, in half. It
# draws a gap between two neighbouring ratings, in proportion to its width, and a place in the gap, and equal
# ratings have no gap between them: only 1 to 3 and 3 to 5 are left. For ratings, count them and take the largest count.
#
# Seen 2026-11-29, Python 3.11, diffprivlib==0.6.6, scikit-learn==1.5.2, numpy==2.2.6 (draws vary):
#   all say 3, ε = 1: of 1 to 5: 0.12 0.26 0.24 0.25 0.13
#   all say 3, ε = 10: of 1 to 5: 0.12 0.25 0.26 0.25 0.12
#   60 of 100 say 3, ε = 1: of 1 to 5: 0.00 0.27 0.49 0.25 0.00
# Fails if 3 has more than 0.35 of one of the first two or more than 0.6 of the third.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet diffprivlib==0.6.6 scikit-learn==1.5.2 numpy==2.2.6 ||
    { echo "skipped: diffprivlib 0.6.6, scikit-learn 1.5.2 or numpy 2.2.6 cannot be installed"; exit 0; }
cat > "$folder/median.py" <<'PY'
import numpy as np
from diffprivlib.tools import median

DRAWS = 2000
threes = []
for name, ratings, epsilon in (
    ("all say 3", [3] * 100, 1),
    ("all say 3", [3] * 100, 10),
    ("60 of 100 say 3", [2] * 20 + [3] * 60 + [4] * 20, 1),
):
    drawn = [round(median(np.array(ratings), epsilon=epsilon, bounds=(1, 5))) for _ in range(DRAWS)]
    shares = np.bincount(drawn, minlength=6)[1:] / DRAWS
    threes.append(shares[2])
    print(f"{name}, ε = {epsilon}: of 1 to 5: {' '.join(f'{share:.2f}' for share in shares)}")
raise SystemExit(not (max(threes[:2]) < 0.35 and threes[2] < 0.6))
PY
"$folder/venv/bin/python" -W ignore "$folder/median.py"
