"""Clients send queries in rounds, one server labels them: python examples/federation.py

Forty hospitals have a model each, trained on patients of their own: the teachers. Every round some
clients send queries, which have no labels yet. The server asks all teachers, and answers with
private labels. One session lasts for all rounds. Needs `pip install .`.
"""

import tempfile

import numpy as np

from private_ensembles import (
    Budget,
    Ensemble,
    Protection,
    Rehearsal,
    Session,
)

# 1. The teachers, who never change. Their votes are made up here: each row of counts says how the
#    forty models vote on one of 400 patients without a diagnosis. One patient in ten is hard.
random = np.random.default_rng(0)
truth = random.integers(3, size=400)
agreeing = np.where(random.random(400) < 0.9, random.beta(30, 1, 400), random.beta(3, 2, 400))
votes = random.binomial(40, agreeing)[:, None]
counts = votes * np.eye(3, dtype=int)[truth] + (40 - votes) * np.eye(3, dtype=int)[(truth + 1) % 3]

# 2. The server's session: at most 60 labels, ever, for (6, 1e-6). It is planned on a stated
#    profile, not on these votes. It is a rehearsal: leave out `rehearsal` for real patients.
path = tempfile.mkdtemp() + "/federation.session"
stated = {"easy_share": 0.8, "easy": (20, 1), "hard": (2, 2), "confusion": 1.0}
Session.create(
    path,
    Ensemble(teachers=40, classes=3),
    Budget(6, 1e-6),
    Protection.disjoint("patient"),  # no patient is in the data of two clients
    labels=60,
    profile=stated,
    rehearsal=Rehearsal(seed=3),
).close()

# 3. Rounds: clients send ten queries, chosen by lot. The server may be stopped between rounds,
#    since the session's file knows what was spent.
clients = np.random.default_rng(1)
right = asked = 0
for number in range(1, 7):
    queries = clients.choice(400, size=10, replace=False)
    with Session.open(path) as session:
        labels = session.release(counts[queries], key=f"round {number}")
        remaining = session.remaining
    answered = labels >= 0
    asked += int(answered.sum())
    right += int((labels == truth[queries])[answered].sum())
    print(f"round {number}: {answered.sum()} labels, {remaining} remain")

# 4. The head is the last hash of the file's chain. Kept elsewhere, it shows later whether somebody
#    put an older copy of the file back.
with Session.open(path) as session:
    session.verify(session.head)
    print(f"{right} of {asked} labels right; all of them cost at most {session.total.epsilon:g}")
