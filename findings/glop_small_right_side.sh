#!/usr/bin/env bash
# OR-tools 9.15 (GLOP): a right side of 1e-9 or less is taken for 0, whatever the tolerance, and "optimal" is said.
#
# Maximise x + y over x + y/2 <= a and 0 <= x, y <= 1. The optimum is y = 2a.
# Best guess before the run: the simplex solver (GLOP) is exact, since a vertex is a quotient of two
# inputs, and the first-order solver (PDLP) is rough, some 1e-6. Seen: the other way round. From
# a = 1e-9 down GLOP answers (0, 0) with the status OPTIMAL, and a feasibility tolerance of 1e-14 changes nothing;
# only use_preprocessing:false does. PDLP is right to 13 digits at a = 1e-12.
#
# Seen 2026-11-28, Python 3.11, ortools==9.15.6755:
#   a = 2e-09: GLOP 4e-09, with tolerance 1e-14 4e-09, without preprocessing 4e-09, PDLP 4e-09
#   a = 1e-09: GLOP 0, with tolerance 1e-14 0, without preprocessing 2e-09, PDLP 2e-09
#   a = 1e-12: GLOP 0, with tolerance 1e-14 0, without preprocessing 2e-12, PDLP 2e-12
# Fails if GLOP's answers at 1e-9 and 1e-12 are not 0, or one of the two others is off by 1e-9 of itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ortools==9.15.6755 ||
    { echo "skipped: ortools 9.15.6755 cannot be installed"; exit 0; }
cat > "$folder/solve.py" <<'PY'
from ortools.linear_solver import pywraplp


def best(solver_name, most, parameters=""):
    solver = pywraplp.Solver.CreateSolver(solver_name)
    x, y = solver.NumVar(0, 1, "x"), solver.NumVar(0, 1, "y")
    solver.Add(x + 0.5 * y <= most)
    solver.Maximize(x + y)
    assert not parameters or solver.SetSolverSpecificParametersAsString(parameters)
    assert solver.Solve() == pywraplp.Solver.OPTIMAL
    return x.solution_value() + y.solution_value()


tight = "primal_feasibility_tolerance:1e-14 dual_feasibility_tolerance:1e-14"
as_seen = True
for most in (2e-9, 1e-9, 1e-12):
    plain, strict = best("GLOP", most), best("GLOP", most, tight)
    raw, first_order = best("GLOP", most, "use_preprocessing:false"), best("PDLP", most)
    print(f"a = {most:g}: GLOP {plain:g}, with tolerance 1e-14 {strict:g}, "
          f"without preprocessing {raw:g}, PDLP {first_order:g}")
    as_seen &= (plain == strict == 0) == (most < 2e-9)
    as_seen &= all(abs(value / (2 * most) - 1) < 1e-9 for value in (raw, first_order))
raise SystemExit(not as_seen)
PY
"$folder/venv/bin/python" "$folder/solve.py"
