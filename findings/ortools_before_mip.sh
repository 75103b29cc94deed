#!/usr/bin/env bash
# OR-tools 9.15 and python-mip 2.0.0: one process can use only one of them.
#
# Both bring a CBC of their own. Best guess before the run: the two do not meet, since each loads its
# library by its full path. Seen: after `import ortools.linear_solver.pywraplp`, mip's library
# cannot be loaded (a symbol is missing: the loader takes OR-tools' copy of a class that both have), mip
# only prints this, and `mip.Model()` raises NameError. Importing mip first does not help, since it
# loads its library with the first model; and after that, importing OR-tools raises ImportError.
#
# Seen 2026-11-28, Python 3.11, ortools==9.15.6755, mip==2.0.0 (cbcbox==2.935):
#   mip alone: OPTIMAL
#   mip imported, ortools, then a model: NameError: name 'cbclib' is not defined
#   ortools, then mip: NameError: name 'cbclib' is not defined
#   a model of mip, then ortools: ImportError: ... undefined symbol
# Fails if the first line is an error, or one of the others is none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ortools==9.15.6755 mip==2.0.0 cbcbox==2.935 ||
    { echo "skipped: ortools 9.15.6755 or mip 2.0.0 cannot be installed"; exit 0; }
solve() {
    "$folder/venv/bin/python" - 2>&1 <<PY | tail -1 || true
$1
import mip
model = mip.Model(sense=mip.MAXIMIZE)
model.verbose = 0
model.objective = model.add_var(lb=0, ub=1)
print(model.optimize().name)
PY
}
alone=$(solve "")
imported=$(solve "import mip, ortools.linear_solver.pywraplp")
after=$(solve "import ortools.linear_solver.pywraplp")
model=$(solve "import mip; mip.Model(); import ortools.linear_solver.pywraplp" | sed "s|/[^ ]*/|.../|")
echo "mip alone: $alone"
echo "mip imported, ortools, then a model: $imported"
echo "ortools, then mip: $after"
echo "a model of mip, then ortools: $model"
[[ $alone == OPTIMAL && $imported == NameError* && $after == NameError* && $model == ImportError* ]]
