#!/usr/bin/env bash
# OpenDP 0.16.0: cast from text, "false" and "0" are true, and votes for class 2 that are written 2.0 are for class 0.
#
# Votes as text, as they are read from a file, go through `make_cast_default` and are counted.
# Best guess before the run: "true" and "false" are told apart, and "2.0", as pandas writes a 2 once a vote of its
# column is missing, is 2. Seen: any text but the empty one is true, so all vote yes; "2.0" is no whole number, and what
# cannot be read is the default, 0, with no message, so all vote for class 0. Via floats, "2.0" is 2.
#
# Seen 2026-11-29, Python 3.11, opendp==0.16.0:
#   ['true', 'false', '1', '0', 'no', ''] to bool: [True, True, True, True, True, False]
#   ['2.0', '1.0', '2.0', '0.0'] to int: [0, 0, 0, 0]; of classes 0, 1, 2: [4, 0, 0]
#   ['2.0', '1.0', '2.0', '0.0'] to float, to int: [2, 1, 2, 0]; of classes 0, 1, 2: [1, 1, 2]
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet opendp==0.16.0 ||
    { echo "skipped: opendp 0.16.0 cannot be installed"; exit 0; }
cat > "$folder/cast.py" <<'PY'
import opendp.prelude as dp

dp.enable_features("contrib")
ANSWERS, VOTES = ["true", "false", "1", "0", "no", ""], ["2.0", "1.0", "2.0", "0.0"]


def cast(texts, *types):
    values = texts
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    for kind in types:
        step = dp.t.make_cast_default(*space, TOA=kind)
        values, space = step(values), step.output_space
    counts = None
    if kind is int:
        count = dp.t.make_count_by_categories(*space, categories=[0, 1, 2], null_category=False)
        counts = count(values)
    return values, counts


answers, _ = cast(ANSWERS, bool)
whole, whole_counts = cast(VOTES, int)
via_floats, right_counts = cast(VOTES, float, int)
print(f"{ANSWERS} to bool: {answers}")
print(f"{VOTES} to int: {whole}; of classes 0, 1, 2: {whole_counts}")
print(f"{VOTES} to float, to int: {via_floats}; of classes 0, 1, 2: {right_counts}")
seen = (answers, whole, whole_counts, via_floats, right_counts)
raise SystemExit(seen != ([True] * 5 + [False], [0] * 4, [4, 0, 0], [2, 1, 2, 0], [1, 1, 2]))
PY
"$folder/venv/bin/python" "$folder/cast.py"
