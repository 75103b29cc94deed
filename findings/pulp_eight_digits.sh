#!/usr/bin/env bash
# PuLP 3.3.2 with its own CBC: a linear program's x comes back with eight digits.
#
# Maximise x over 3x <= 1. CBC computes in double precision.
# Best guess before the run: 0.333333333333333, perhaps with the last three digits lost, since PuLP
# writes the program with 13 digits. Seen: 0.33333333. CBC's file of the solution has eight digits,
# and PuLP reads them. So rows that hold with equality are broken by 1e-8, and probabilities add up
# to 1 ± 1e-8. The same program through PuLP's HiGHS (no file) keeps all digits.
#
# Seen 2026-11-28, Python 3.11, pulp==3.3.2, highspy==1.16.0:
#   CBC 0.33333333
#   HiGHS 0.3333333333333333
# Fails if CBC's answer is within 1e-12 of 1/3, or that of HiGHS is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pulp==3.3.2 highspy==1.16.0 ||
    { echo "skipped: pulp 3.3.2 or highspy 1.16.0 cannot be installed"; exit 0; }
cat > "$folder/solve.py" <<'PY'
import pulp

errors = []
for name, solver in (("CBC", pulp.PULP_CBC_CMD(msg=0)), ("HiGHS", pulp.HiGHS(msg=0))):
    program = pulp.LpProblem("third", pulp.LpMaximize)
    x = pulp.LpVariable("x", 0, 1)
    program += x
    program += 3 * x <= 1
    program.solve(solver)
    print(name, x.value())
    errors.append(abs(x.value() - 1 / 3))
raise SystemExit(not errors[1] < 1e-12 < errors[0])
PY
"$folder/venv/bin/python" "$folder/solve.py"
