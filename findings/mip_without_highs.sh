#!/usr/bin/env bash
# python-mip 2.0.0: `pip install "mip[highs]"` gives no HiGHS with highspy 1.16.0, though highspy itself works.
#
# Best guess before the run: the extra installs highspy, mip finds it, and the answer is 1.
# Seen: FileNotFoundError "HiGHS not found. Please install the `highspy` package", which is
# installed and solves programs in the same environment. mip looks for HiGHS's C functions in
# highspy's extension module, which no longer shows them. With highsbox, which no extra asks
# for on Linux, mip solves.
#
# Seen 2026-11-28, Python 3.11, mip==2.0.0, highspy==1.16.0, then highsbox==1.15.1:
#   highspy alone: kOptimal
#   mip with highspy: FileNotFoundError
#   mip with highsbox: OPTIMAL
# Fails if the second line is no error, or one of the others is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "mip[highs]==2.0.0" highspy==1.16.0 ||
    { echo "skipped: mip 2.0.0 or highspy 1.16.0 cannot be installed"; exit 0; }
solve() {
    "$folder/venv/bin/python" - 2>&1 <<'PY' | tail -1 | cut -d: -f1 || true
import mip
model = mip.Model(sense=mip.MAXIMIZE, solver_name="HIGHS")
model.verbose = 0
model.objective = model.add_var(lb=0, ub=1)
print(model.optimize().name)
PY
}
alone=$("$folder/venv/bin/python" - <<'PY' | tail -1 || true
import highspy
solver = highspy.Highs()
solver.silent()
solver.maximize(solver.addVariable(lb=0, ub=1))
print(solver.getModelStatus().name)
PY
)
first=$(solve)
"$folder/venv/bin/pip" install --quiet highsbox==1.15.1 ||
    { echo "skipped: highsbox 1.15.1 cannot be installed"; exit 0; }
second=$(solve)
echo "highspy alone: $alone"
echo "mip with highspy: $first"
echo "mip with highsbox: $second"
[ "$alone" = kOptimal ] && [ "$first" = FileNotFoundError ] && [ "$second" = OPTIMAL ]
