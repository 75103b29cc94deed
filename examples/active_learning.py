"""A student asks for labels round by round, in one session: python examples/active_learning.py

The digits ship with scikit-learn. 150 teachers know seven images each. The student asks about what
it is least sure of, sees the labels, learns, and asks again: ten rounds within one budget. Needs
`pip install '.[trees]'`.
"""

import tempfile

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from private_ensembles import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Session,
)

# 1. The images: 1,050 are private and belong to the teachers, 450 are public, 297 test the student.
digits = load_digits()
pixels, truth = digits.data / 16, digits.target
order = np.random.default_rng(1).permutation(len(truth))
private, pool, test = np.split(order, [1050, 1500])

# 2. The teachers: each says what the nearest of its own images shows. Their votes stay private.
votes = np.empty((len(pool), 150), dtype=int)
for teacher, shard in enumerate(np.array_split(private, 150)):
    squared_distances = ((pixels[pool][:, None] - pixels[shard][None]) ** 2).sum(axis=2)
    votes[:, teacher] = truth[shard][squared_distances.argmin(axis=1)]
counts = np.stack([np.bincount(row, minlength=10) for row in votes])

# 3. One session for all rounds: 200 labels for (4, 1e-5). This one is a rehearsal, which prints
#    the same each time; to release labels of real data, leave out `rehearsal`.
session = Session.create(
    tempfile.mkdtemp() + "/digits.session",
    Ensemble(teachers=150, classes=10),
    Budget(4, 1e-5),
    Protection.disjoint(),
    labels=200,
    rehearsal=Rehearsal(seed=1),
)

# 4. Ask about any 20 images, learn, and then ask about those that are least certain.
asked, labels = np.arange(20), np.empty(0, dtype=int)
with session:
    for number in range(1, 11):
        labels = np.append(labels, session.release(counts[asked[-20:]], key=f"round {number}"))
        student = LogisticRegression(max_iter=500).fit(pixels[pool[asked]], labels)
        accuracy = student.score(pixels[test], truth[test])
        print(
            f"round {number:2}: {session.remaining:3} labels remain, {accuracy:.0%} of digits known"
        )
        unasked = np.setdiff1d(np.arange(len(pool)), asked)
        probabilities = np.sort(student.predict_proba(pixels[pool[unasked]]), axis=1)
        asked = np.append(
            asked, unasked[np.argsort(probabilities[:, -1] - probabilities[:, -2])[:20]]
        )
    print(f"all rounds together cost at most epsilon = {session.total.epsilon:g}")
