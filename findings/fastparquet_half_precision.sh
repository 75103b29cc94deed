#!/usr/bin/env bash
# fastparquet 2026.9.0: half-precision numbers come back as pairs of bytes, without a word.
#
# Parquet has a type for half precision, in which networks' scores are often kept. pyarrow writes
# the column; four readers read it.
# Best guess before the run: an error, as the type is young, or float16. Seen: fastparquet returns a column of objects, b'\x008' for 0.5.
# pandas takes it if engine="fastparquet" is asked for. What sorts them, or takes the largest, raises
# nothing: bytes compare, by the low byte first. So the label of a row of scores is another one.
# pyarrow and Polars return float16, DuckDB float32.
#
# Seen 2026-11-28, Python 3.11, fastparquet==2026.9.0, pandas==3.1.1, pyarrow==26.0.1:
#   pyarrow: float16 [0.5, 1.0, 0.3330078125], largest 1.0
#   fastparquet: object [b'\x008', b'\x00<', b'T5'], largest b'T5'
# Fails if fastparquet's column is one of numbers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet fastparquet==2026.9.0 pandas==3.1.1 pyarrow==26.0.1 ||
    { echo "skipped: fastparquet 2026.9.0, pandas 3.1.1 or pyarrow 26.0.1 cannot be installed"; exit 0; }
cat > "$folder/read.py" <<'PY'
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

scores = pa.array([0.5, 1.0, 0.333], pa.float16())
pq.write_table(pa.table({"score": scores}), "scores.parquet")
kinds = []
for engine in ("pyarrow", "fastparquet"):
    column = pd.read_parquet("scores.parquet", engine=engine)["score"]
    kinds.append(str(column.dtype))
    print(f"{engine}: {column.dtype} {column.tolist()}, largest {max(column.tolist())}")
raise SystemExit(kinds != ["float16", "object"])
PY
cd "$folder" && venv/bin/python read.py
