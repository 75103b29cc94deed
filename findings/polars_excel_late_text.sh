#!/usr/bin/env bash
# Polars 2.1.0 (fastexcel 0.21.0): in a spreadsheet a vote in words from about the thousandth on is lost, with its row.
#
# 2,000 votes, numbers but for one "unsure", in an .xlsx file, read by `polars.read_excel` with its defaults; once
# with a column of identifiers and once alone.
# Best guess before the run: text, as it is with an early "unsure", or an error, as `polars.read_csv` raises if a
# later cell does not fit. Seen: with identifiers a late "unsure" is null, with no message; alone, its row is
# taken for an empty one and left out, so all later votes move up to the query before. pandas keeps it.
# `infer_schema_length=None` helps.
#
# Seen 2026-11-29, Python 3.11, polars==2.1.0, fastexcel==0.21.0, openpyxl==3.1.5, pandas==3.1.1:
#   "unsure" is vote 10, with identifiers: Polars 'unsure' in 2000 rows, pandas 'unsure' in 2000
#   "unsure" is vote 10, alone: Polars 'unsure' in 2000 rows, pandas 'unsure' in 2000
#   "unsure" is vote 1500, with identifiers: Polars None in 2000 rows, pandas 'unsure' in 2000
#   "unsure" is vote 1500, alone: Polars 1 in 1999 rows, pandas 'unsure' in 2000
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0 fastexcel==0.21.0 openpyxl==3.1.5 pandas==3.1.1 ||
    { echo "skipped: polars 2.1.0, fastexcel 0.21.0, openpyxl 3.1.5 or pandas 3.1.1 cannot be installed"; exit 0; }
cat > "$folder/late.py" <<'PY'
import sys

import openpyxl
import pandas as pd
import polars as pl

path, seen = sys.argv[1], []
for place in (10, 1500):
    for columns in ("with identifiers", "alone"):
        book = openpyxl.Workbook()
        rows = [["query", "vote"], *([n, "unsure" if n == place else n % 3] for n in range(1, 2001))]
        for row in rows:
            book.active.append(row if columns == "with identifiers" else row[1:])
        book.save(path)
        for frame in (pl.read_excel(path), pd.read_excel(path, engine="openpyxl")):
            seen.append((frame["vote"][place - 1], len(frame)))
        (polars, rows), (pandas, all_rows) = seen[-2:]
        print(f'"unsure" is vote {place}, {columns}: Polars {polars!r} in {rows} rows, pandas {pandas!r} in {all_rows}')
right = ("unsure", 2000)
raise SystemExit(seen != [right] * 4 + [(None, 2000), right, (1, 1999), right])
PY
"$folder/venv/bin/python" "$folder/late.py" "$folder/votes.xlsx"
