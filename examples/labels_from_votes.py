"""Labels from votes in a few lines of Python: python examples/labels_from_votes.py

Read from top to bottom like a notebook; every step prints what it found. Needs `pip install .`, not
Snakemake.
"""

import numpy as np

from private_ensembles import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Wanted,
    optimize_gamma,
    plan,
    release_labels,
)

# 1. The votes are private data. These are votes of an ensemble that does not exist: 100 teachers, 4
#    classes, 300 queries, of which 3 in 4 are easy. Whoever is wrong takes the next class.
random = np.random.default_rng(0)
truth = random.integers(4, size=300)
agreeing = np.where(random.random(300) < 0.75, random.beta(18, 2, 300), random.beta(3, 2, 300))
votes = random.binomial(100, agreeing)[:, None]
counts = votes * np.eye(4, dtype=int)[truth] + (100 - votes) * np.eye(4, dtype=int)[(truth + 1) % 4]

# 2. What may all labels together cost, and how many are wanted?
budget, wanted = Budget(4, 1e-5), Wanted(150, queries=300)

# 3. Which mechanism? Asking the votes would reveal something about them. So state a profile, from
#    public data or from what is known beforehand, and plan on votes of that profile.
stated = {"easy_share": 0.8, "easy": (20, 2), "hard": (2, 2), "confusion": 1.0}
plans = plan(Ensemble(100, 4), budget, wanted, profile=stated, rehearsal=Rehearsal())
for ranked in plans:
    note = ranked.refusal
    if note is None:
        note = f"{ranked.correct:6.1f} right labels expected, epsilon {ranked.epsilon:.3f}"
    print(f"  {ranked.mechanism:18} {note}")

# 4. Release labels with the best of them. This noise is from a seed, for a rehearsal; to release
#    labels of real data, leave out `rehearsal`. No patient is in the data of two teachers.
patients, seed = Protection.disjoint("patient"), Rehearsal(seed=2)
released = release_labels(counts, budget, patients, labels=150, profile=stated, rehearsal=seed)
answered = released.labels >= 0
right = (released.labels[answered] == truth[answered]).sum()
print(f"{released.mechanism}: {answered.sum()} labels released, {right} right")

# 5. If private teachers all see the same data, DaRRM has the optimal noise, with a certificate.
solution = optimize_gamma(K=11, m=3, epsilon=0.1, Delta=1e-5)
print(f"DaRRM: utility {solution.utility:.6f}, proven private: {solution.certificate.holds}")
