#!/usr/bin/env bash
# xarray 2026.9.0 with zarr 3.1.6: votes for class 0 in a Zarr file of format 2 are read as missing.
#
# Three teachers' votes on two queries, written by zarr with its defaults and the names of the axes, and read by
# `xarray.open_zarr`.
# Best guess before the run: whole numbers come back, as from zarr itself, since no value was said to mean
# "missing". Seen: in format 2 they come back as float32 with NaN for each 0, because zarr fills unwritten chunks with 0
# by default and xarray takes what fills for what is missing; in format 3, in which it does not, they come back whole.
# So class 0 has no votes, and whoever counts NaN as absent or drops it sees other labels. `fill_value=None`
# when writing or `mask_and_scale=False` when reading helps.
#
# Seen 2026-11-29, Python 3.11, xarray==2026.9.0, zarr==3.1.6, numpy==2.4.6:
#   format 2: zarr [[0, 1, 2], [0, 0, 2]], xarray [[nan, 1.0, 2.0], [nan, nan, 2.0]]
#   format 3: zarr [[0, 1, 2], [0, 0, 2]], xarray [[0, 1, 2], [0, 0, 2]]
# Fails if xarray's of format 2 are zarr's, or those of format 3 are not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xarray==2026.9.0 zarr==3.1.6 numpy==2.4.6 ||
    { echo "skipped: xarray 2026.9.0, zarr 3.1.6 or numpy 2.4.6 cannot be installed"; exit 0; }
cat > "$folder/zero.py" <<'PY'
import sys

import numpy as np
import xarray
import zarr

AXES = ["query", "teacher"]
NAMES = {2: {"attributes": {"_ARRAY_DIMENSIONS": AXES}}, 3: {"dimension_names": AXES}}
votes = np.array([[0, 1, 2], [0, 0, 2]], dtype="int8")
same = []
for form, names in NAMES.items():
    path = f"{sys.argv[1]}/votes{form}.zarr"
    zarr.create_group(path, zarr_format=form).create_array("votes", data=votes, **names)
    by_zarr = zarr.open_group(path)["votes"][:].tolist()
    by_xarray = xarray.open_zarr(path, consolidated=False)["votes"].values.tolist()
    print(f"format {form}: zarr {by_zarr}, xarray {by_xarray}")
    same.append(by_zarr == by_xarray)
raise SystemExit(same != [False, True])
PY
"$folder/venv/bin/python" "$folder/zero.py" "$folder"
