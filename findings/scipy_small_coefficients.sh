#!/usr/bin/env bash
# SciPy 1.17.1: `linprog` and `milp` drop coefficients up to 1e-9, and report success where a row is broken by 999.5.
#
# Maximise x over 1e-9 x <= 0.5 and 0 <= x <= 1e12. The optimum is 5e8.
# Best guess before the run: HiGHS, below it, drops coefficients under 1e-9, and a warning or a status says so. Seen:
# x = 1e12 with "Optimization terminated successfully", no warning, and the residual of the row is said to be 0.5,
# where it is -999.5. With 1.1e-9 the answer is right. CVXPY with HiGHS is silent as well.
#
# Seen 2026-11-29, Python 3.11, scipy==1.17.1, numpy==2.4.6:
#   1.1e-09: linprog x = 4.545e+08, residual 0, success True; milp x = 4.545e+08, success True
#   1e-09: linprog x = 1e+12, residual 0.5, success True; milp x = 1e+12, success True
# Fails if the first line is wrong, or the second is right or no success.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet scipy==1.17.1 numpy==2.4.6 ||
    { echo "skipped: scipy 1.17.1 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/solve.py" <<'PY'
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

broken = []
for coefficient in (1.1e-9, 1e-9):
    linear = linprog([-1], A_ub=[[coefficient]], b_ub=[0.5], bounds=[(0, 1e12)])
    mixed = milp([-1], constraints=LinearConstraint([[coefficient]], ub=0.5), bounds=Bounds(0, 1e12))
    print(f"{coefficient:g}: linprog x = {linear.x[0]:.4g}, residual {linear.ineqlin.residual[0]:g}, "
          f"success {linear.success}; milp x = {mixed.x[0]:.4g}, success {mixed.success}")
    assert linear.success and mixed.success
    broken.append([coefficient * x[0] > 0.51 for x in (linear.x, mixed.x)])
raise SystemExit(broken != [[False, False], [True, True]])
PY
"$folder/venv/bin/python" "$folder/solve.py"
