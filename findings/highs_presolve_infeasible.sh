#!/usr/bin/env bash
# HiGHS 1.16.0 (highspy): its presolve calls programs infeasible of which x = 0 is a solution.
#
# Maximise q @ x over p @ x <= a and 0 <= x <= 1, with p from 1 down to 3e-9, q within a factor of
# 20 of p, and a = 1e-9: the knapsack that the test of two hypotheses with a small error is. x = 0 is always feasible.
# Best guess before the run: always "Optimal", with a relative error, since a is below the tolerance
# of 1e-7. Seen: with presolve, 118 of 1,140 programs end as "Infeasible"; 78 at a = 1e-8, and 2 even
# at a = 1e-6, which is ten times the tolerance. With presolve off all are "Optimal". 1.15.1 does the
# same. CVXPY passes the status on as "infeasible" and gives no x.
#
# Seen 2026-11-28, Python 3.11, highspy==1.16.0, numpy==2.4.6:
#   a = 1e-06: 2 of 1140 infeasible with presolve, 0 without
#   a = 1e-08: 78 of 1140 infeasible with presolve, 0 without
#   a = 1e-09: 118 of 1140 infeasible with presolve, 0 without
# Fails if a count with presolve becomes 0 or one without presolve does not stay 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet highspy==1.16.0 numpy==2.4.6 ||
    { echo "skipped: highspy 1.16.0 cannot be installed"; exit 0; }
cat > "$folder/count.py" <<'PY'
import highspy
import numpy as np


def is_infeasible(weights, values, most, presolve):
    solver, count = highspy.Highs(), len(weights)
    solver.silent()
    solver.setOptionValue("presolve", presolve)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_, program.col_cost_ = 1, count, -values
    program.col_lower_, program.col_upper_ = np.zeros(count), np.ones(count)
    program.row_lower_, program.row_upper_ = np.array([-highspy.kHighsInf]), np.array([most])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.array([0, count])
    program.a_matrix_.index_, program.a_matrix_.value_ = np.arange(count), weights
    assert solver.passModel(program) == highspy.HighsStatus.kOk  # no coefficient was dropped
    solver.run()
    return solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible


changed = False
for most in (1e-6, 1e-8, 1e-9):
    counts, programs = {"choose": 0, "off": 0}, 0
    for count in range(2, 40):
        for seed in range(30):
            weights = 10.0 ** -np.linspace(0, 8.5, count)
            values = weights * np.exp(np.random.default_rng(seed).uniform(-3, 3, count))
            programs += 1
            for presolve in counts:
                counts[presolve] += is_infeasible(weights, values, most, presolve)
    with_it, without = counts.values()
    print(f"a = {most:g}: {with_it} of {programs} infeasible with presolve, {without} without")
    changed |= with_it == 0 or without != 0
raise SystemExit(changed)
PY
"$folder/venv/bin/python" "$folder/count.py"
