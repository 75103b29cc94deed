#!/usr/bin/env bash
# snorkel 0.10.0: with a class balance, LabelModel gives a label to items on which everybody abstained.
#
# Four labelling functions, 500 items of two classes; then the labels of an item without any vote (-1 everywhere).
# Best guess before the run: -1, "abstain", from every model, as the default of `predict` is to abstain
# from ties, and no vote at all is one. Seen: so it is without `class_balance`, where both classes have probability
# 0.5. With class_balance=[0.3, 0.7] the item has these probabilities, which is no tie, so its label is 1. It counts
# as covered: `coverage` is 1. So a share of the labels is nothing but the balance that was typed in.
#
# Seen 2026-11-29, Python 3.11, snorkel==0.10.0:
#   no balance: probabilities 0.5 0.5, label -1
#   balance 0.3, 0.7: probabilities 0.3 0.7, label 1
# Fails if the first label is not -1, or the second one is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# Without tensorboard, which its label models do not use.
{ "$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 \
    munkres networkx tqdm &&
    "$folder/venv/bin/pip" install --quiet --no-deps snorkel==0.10.0; } ||
    { echo "skipped: snorkel 0.10.0 or torch 2.13.0 cannot be installed"; exit 0; }
cat > "$folder/label.py" <<'PY'
import numpy as np
from snorkel.labeling.model import LabelModel

rng = np.random.default_rng(0)
truth = (rng.random((500, 1)) < 0.7).astype(int)
votes = np.where(rng.random((500, 4)) < 0.8, truth, 1 - truth)
nobody = np.full((1, 4), -1)
labels = []
for name, balance in {"no balance": None, "balance 0.3, 0.7": [0.3, 0.7]}.items():
    model = LabelModel(cardinality=2, verbose=False)
    model.fit(votes, class_balance=balance, n_epochs=200, seed=0, progress_bar=False)
    labels.append(int(model.predict(nobody)[0]))
    print(f"{name}: probabilities", *model.predict_proba(nobody)[0].round(3), end="")
    print(f", label {labels[-1]}")
raise SystemExit(labels != [-1, 1])
PY
"$folder/venv/bin/python" "$folder/label.py"
