#!/usr/bin/env bash
# crowd-kit 1.4.2 with scikit-learn 1.9.1: two of its aggregators fit and cannot answer.
#
# pip installs these two together: crowd-kit allows any newer scikit-learn.
# Best guess before the run: all aggregators work, or the import fails. Seen: `Wawa` and
# `ZeroBasedSkill` are fitted, and `fit_predict` raises AttributeError: scikit-learn's check of whether they are fitted asks
# for `__sklearn_tags__`, which only subclasses of its BaseEstimator have. MajorityVote, DawidSkene and GLAD answer.
#
# Seen 2026-11-28, Python 3.11, crowd-kit==1.4.2, scikit-learn==1.9.1:
#   answers: DawidSkene GLAD MajorityVote
#   AttributeError: Wawa ZeroBasedSkill
# Fails if one changes sides.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# Without crowd-kit's other dependencies (transformers, pyarrow), which aggregation does not use.
{ "$folder/venv/bin/pip" install --quiet scikit-learn==1.9.1 pandas==3.1.1 attrs tqdm nltk &&
    "$folder/venv/bin/pip" install --quiet --no-deps crowd-kit==1.4.2; } ||
    { echo "skipped: crowd-kit 1.4.2 or scikit-learn 1.9.1 cannot be installed"; exit 0; }
cat > "$folder/vote.py" <<'PY'
import pandas as pd
from crowdkit import aggregation

rows = [(f"t{i}", f"w{j}", "ab"[(i * j) % 2]) for i in range(4) for j in range(3)]
votes = pd.DataFrame(rows, columns=["task", "worker", "label"])
answers, errors = [], []
for name in ("DawidSkene", "GLAD", "MajorityVote", "Wawa", "ZeroBasedSkill"):
    aggregator = getattr(aggregation, name)()
    aggregator.fit(votes)
    try:
        aggregator.fit_predict(votes)
        answers.append(name)
    except AttributeError:
        errors.append(name)
print("answers:", *answers)
print("AttributeError:", *errors)
raise SystemExit(errors != ["Wawa", "ZeroBasedSkill"])
PY
"$folder/venv/bin/python" "$folder/vote.py"
