#!/usr/bin/env bash
# pandas 3.1.1: `engine="pyarrow"` reads other labels from a CSV file than the usual engine; Polars and DuckDB differ, too.
#
# Labels of three teams: 0x10 and 0x11 (short hashes), t and f (tags), and 007.
# Best guess before the run: pandas' engines differ in speed only; all readers take hexadecimal labels
# for texts, as they do 007. Seen: Arrow's engine makes 0x10 the integer 16, and so does DuckDB; pandas' usual
# engine and Polars keep the text. DuckDB makes t and f booleans; no other does. So votes that
# are read by two tools need not be equal, and no reader says so.
#
# Seen 2026-11-28, Python 3.11, pandas==3.1.1, pyarrow==26.0.1, polars==2.1.0, duckdb==2.0.1:
#   pandas: ['0x10', '0x11'] ['t', 'f'] ['007', '7a']
#   pandas, pyarrow: [16, 17] ['t', 'f'] ['007', '7a']
#   Polars: ['0x10', '0x11'] ['t', 'f'] ['007', '7a']
#   DuckDB: [16, 17] [True, False] ['007', '7a']
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 ||
    { echo "skipped: pandas 3.1.1, pyarrow 26.0.1, polars 2.1.0 or duckdb 2.0.1 cannot be installed"; exit 0; }
cat > "$folder/read.py" <<'PY'
import duckdb
import pandas as pd
import polars as pl

with open("labels.csv", "w", encoding="utf-8") as file:
    file.write("hash,tag,number\n0x10,t,007\n0x11,f,7a\n")
readers = {
    "pandas": pd.read_csv,
    "pandas, pyarrow": lambda path: pd.read_csv(path, engine="pyarrow"),
    "Polars": pl.read_csv,
    "DuckDB": lambda path: duckdb.read_csv(path).df(),
}
texts, numbers, ends = ["0x10", "0x11"], [16, 17], ["007", "7a"]
expected = [[texts, ["t", "f"], ends], [numbers, ["t", "f"], ends], [texts, ["t", "f"], ends]]
expected.append([numbers, [True, False], ends])
seen = []
for name, read in readers.items():
    table = read("labels.csv")
    seen.append([table[column].to_list() for column in ("hash", "tag", "number")])
    print(f"{name}:", *seen[-1])
raise SystemExit(seen != expected)
PY
cd "$folder" && venv/bin/python read.py
