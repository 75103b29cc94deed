#!/usr/bin/env bash
# datasets 5.2.0 (Hugging Face): a column of numbers cast to classes whose names are those numbers keeps the wrong ones.
#
# Votes 3, 1 and 0 are cast to `ClassLabel(names=["3", "1", "0"])`, as numbers and as texts, and a column of votes 10,
# 9 and 2 is encoded by `class_encode_column`.
# Best guess before the run: names decide, so a text that is no name is an error. Seen: numbers are taken for indices,
# whatever the names: they stay 3, 1, 0, so 1 and 0 have other names than they had, and 3, which is no index of three
# names, is kept. Texts become 0, 1, 2. Text "1" among the names cat and dog is dog. class_encode_column sorts 10
# before 2.
#
# Seen 2026-11-29, Python 3.11, datasets==5.2.0, pyarrow==26.0.1:
#   numbers: [3, 1, 0]
#   texts: [0, 1, 2]
#   texts among cat and dog: [1, 0]
#   encoded: [0, 2, 1] of ['10', '2', '9']
# Fails if a line changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datasets==5.2.0 pyarrow==26.0.1 ||
    { echo "skipped: datasets 5.2.0 or pyarrow 26.0.1 cannot be installed"; exit 0; }
cat > "$folder/cast.py" <<'PY'
from datasets import ClassLabel, Dataset, disable_progress_bars

disable_progress_bars()


def cast(votes, names):
    votes = Dataset.from_dict({"vote": votes}).cast_column("vote", ClassLabel(names=names))
    return votes["vote"][:]


seen = {
    "numbers": cast([3, 1, 0], ["3", "1", "0"]),
    "texts": cast(["3", "1", "0"], ["3", "1", "0"]),
    "texts among cat and dog": cast(["1", "0"], ["cat", "dog"]),
}
for name, votes in seen.items():
    print(f"{name}: {votes}")
encoded = Dataset.from_dict({"vote": [10, 9, 2]}).class_encode_column("vote")
names = encoded.features["vote"].names
print(f"encoded: {encoded['vote'][:]} of {names}")
raise SystemExit(
    list(seen.values()) != [[3, 1, 0], [0, 1, 2], [1, 0]]
    or (encoded["vote"][:], names) != ([0, 2, 1], ["10", "2", "9"])
)
PY
HF_HOME=$folder HF_HUB_OFFLINE=1 "$folder/venv/bin/python" "$folder/cast.py"
