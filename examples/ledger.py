"""One record, two uses, one total: python examples/ledger.py

A hospital trains a model with DP-SGD on all patients. It also splits the same patients into 51
shards, each patient by a hash of the number on the file, trains a teacher on each shard, and
releases 20 labels by vote. Adding or removing a patient changes both: so both costs are composed,
by dp_accounting. Nothing is trained here; only what was done is accounted for. Needs
`pip install '.[teachers]'`.
"""

from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution as pld

from private_ensembles import label_epsilon, label_loss_distribution, noise_scale

DELTA = 1e-5  # below 1e-8 dp_accounting's totals may be too small (libraries.md)
RELATION = NeighboringRelation.ADD_OR_REMOVE_ONE  # a patient is in one shard: one vote moves

# 1. This was done: 1,000 steps of DP-SGD, and 20 labels of GNMax at (1, 1e-5).
sizes = {"labels": 20, "teachers": 51}
scale = noise_scale("gnmax", epsilon=1, delta=DELTA, **sizes)
step = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, neighboring_relation=RELATION)
training = step.self_compose(1000)
labels = label_loss_distribution("gnmax", scale, **sizes)

# 2. Compose both to one total.
total = labels.compose(training).get_epsilon_for_delta(DELTA)

# 3. Two black boxes cost more: each alone is at half of delta, and both are added up.
alone = training.get_epsilon_for_delta(DELTA / 2)
boxes = alone + label_epsilon("gnmax", scale, delta=DELTA / 2, **sizes).upper

print(f"training and labels in one total: epsilon = {total:.3f} at delta = {DELTA:g}")
print(f"two black boxes, added up: {boxes:.3f}")
