#!/usr/bin/env bash
# CatBoost 1.2.10: integer labels above 16,777,216 are rounded, so classes merge and predictions are labels of no row.
#
# 40 rows, labels 20260101 to 20260104 (dates as numbers; item numbers and diagnosis codes are as long), int64.
# Best guess before the run: labels are encoded before training, so integers of any size come
# back as they are; or an error. Seen: labels pass through single precision. Four classes become
# three, `classes_` and `predict` name 20260100, which no row has, and half of the predictions on the training
# rows are wrong. No warning. The float label 0.8 comes back as 0.800000011920929, so `predict(X) == y` is
# False everywhere. The same labels as strings are kept. scikit-learn's forest keeps the integers.
#
# Seen 2026-11-28, Python 3.11, catboost==1.2.10, scikit-learn==1.9.1, numpy==2.4.6:
#   CatBoost, integers: classes 20260100 20260102 20260104, 50 % right
#   CatBoost, strings: classes 20260101 20260102 20260103 20260104, 100 % right
#   CatBoost, 0.2 and 0.8: classes 0.20000000298023224 0.800000011920929, 0 % right
#   forest, integers: classes 20260101 20260102 20260103 20260104, 100 % right
# Fails if the first line has all four classes, the third the two floats, or the second and fourth lose a class.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet catboost==1.2.10 scikit-learn==1.9.1 numpy==2.4.6 ||
    { echo "skipped: catboost 1.2.10 or scikit-learn 1.9.1 cannot be installed"; exit 0; }
cat > "$folder/fit.py" <<'PY'
import numpy as np
from catboost import CatBoostClassifier
from sklearn.ensemble import RandomForestClassifier

features = np.arange(40.0)[:, None]
integers = np.repeat([20260101, 20260102, 20260103, 20260104], 10)


def keeps_labels(name, model, labels):
    model.fit(features, labels)
    classes = model.classes_.tolist()
    right = np.mean(np.ravel(model.predict(features)) == labels)
    print(f"{name}: classes {' '.join(map(str, classes))}, {right:.0%} right".replace("%", " %"))
    return classes == sorted(set(labels.tolist()))


def boosted():
    return CatBoostClassifier(iterations=50, verbose=0, random_seed=0, allow_writing_files=False)


kept = [
    keeps_labels("CatBoost, integers", boosted(), integers),
    keeps_labels("CatBoost, strings", boosted(), integers.astype(str)),
    keeps_labels("CatBoost, 0.2 and 0.8", boosted(), np.repeat([0.2, 0.8], 20)),
    keeps_labels("forest, integers", RandomForestClassifier(random_state=0), integers),
]
raise SystemExit(kept != [False, True, False, True])
PY
"$folder/venv/bin/python" "$folder/fit.py"
