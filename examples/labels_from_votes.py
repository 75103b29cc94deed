"""Labels from votes in a few lines of Python: python examples/labels_from_votes.py

Read from top to bottom like a notebook; every step prints what it found. Needs `pip install .`, not
Snakemake.
"""

import numpy as np

from private_ensembles import darrm, mechanisms
from private_ensembles.experiments import planner
from private_ensembles.mechanisms.families.task import Task
from private_ensembles.noise.sources import Seeded
from private_ensembles.votes.synthetic import ConsensusProfile, synthetic_counts

# 1. The votes, private data. Here those of an ensemble that does not exist: 100 teachers, 4
#    classes, 300 queries, of which 3 in 4 are easy.
actual = ConsensusProfile(n_classes=4, easy_share=0.75, easy=(18, 2), hard=(2, 2), confusion=1.0)
counts, truth = synthetic_counts(actual, 100, 300, np.random.default_rng(0))

# 2. What may all labels together cost, and how many are wanted?
task = Task(epsilon=4.0, delta=1e-5, queries=300, labels=150, n_teachers=100, n_classes=4)

# 3. Which mechanism? To ask the votes would tell of them. So state a profile, from public data or
#    from what is known beforehand, and plan on votes of that profile.
stated = ConsensusProfile(n_classes=4, easy_share=0.8, easy=(20, 2), hard=(2, 2), confusion=1.0)
pool, pool_truth = synthetic_counts(stated, 100, 2000, np.random.default_rng(1))
plans = planner.plan(task, pool, pool_truth)
for plan in plans:
    note = plan.refusal or f"{plan.correct:6.1f} right labels expected, epsilon {plan.epsilon:.3f}"
    print(f"  {plan.mechanism:18} {note}")

# 4. Release labels with the best of them. This noise is from a seed, for a rehearsal; to release
#    labels of real data, plan with Task(..., secure=True) and take Secure() of noise.sources.
best = plans[0]
noise = Seeded(np.random.default_rng(2))
labels = mechanisms.load(best.mechanism).release(counts, best.parameters, noise)
answered = labels >= 0
right = (labels[answered] == truth[answered]).sum()
print(f"{best.mechanism}: {answered.sum()} labels released, {right} right")

# 5. Private teachers that all see the same data: DaRRM's optimal noise, with its certificate.
solution = darrm.optimize_gamma(K=11, m=3, epsilon=0.1, Delta=1e-5)
print(f"DaRRM: utility {solution.utility:.6f}, proven private: {solution.certificate.holds}")
