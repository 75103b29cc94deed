"""One record, two uses, one total: python examples/ledger.py

A hospital trains a model with DP-SGD on all patients. It also splits the same patients into 51
shards, each patient by a hash of the number on the file, trains a teacher on each shard, and
releases 20 labels by vote. Adding or removing a patient changes both: so both costs are composed,
by dp_accounting. Nothing is trained here; only what was done is accounted for. Needs
`pip install '.[teachers]'`.
"""

from dp_accounting import (
    GaussianDpEvent,
    NeighboringRelation,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    pld,
)

from private_ensembles import label_epsilon, label_loss_distribution, noise_scale, to_dp_event

DELTA, RESERVE = 1e-5, 1e-12
RELATION = NeighboringRelation.ADD_OR_REMOVE_ONE  # a patient is in one shard: one vote moves

# 1. What was done: 1,000 steps of DP-SGD, and 20 labels of GNMax at (1, 1e-5).
labels = {"labels": 20, "teachers": 51}
scale = noise_scale("gnmax", epsilon=1, delta=DELTA, **labels)
step = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))
training = SelfComposedDpEvent(step, 1000)
votes = to_dp_event("gnmax", scale, **labels, reserve=RESERVE)

# 2. The ledger of an accountant that others may already keep. The reserve is part of delta.
accountant = pld.PLDAccountant(RELATION)
accountant.compose(training).compose(votes)
print("ledger:", accountant.ledger)
total = accountant.get_epsilon(DELTA - RESERVE)

# 3. Each alone at half of delta, and added up: what two black boxes cost.
alone = pld.PLDAccountant(RELATION).compose(training).get_epsilon(DELTA / 2)
boxes = alone + label_epsilon("gnmax", scale, delta=DELTA / 2, **labels).upper

# 4. The labels' whole loss distribution loses less than an event, which knows one number of it.
training_loss = pld.privacy_loss_distribution.from_gaussian_mechanism(
    1.0, sampling_prob=0.01, neighboring_relation=RELATION
).self_compose(1000)
both = label_loss_distribution("gnmax", scale, **labels).compose(training_loss)

print(f"training and labels in one total: epsilon = {total:.3f} at delta = {DELTA:g}")
print(f"with the labels' loss distribution: {both.get_epsilon_for_delta(DELTA):.3f}")
print(f"two black boxes, added up: {boxes:.3f}")
