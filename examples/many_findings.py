"""Many yes/no findings of an X-ray: ask each of them as a query of its own, and put them together.

Every teacher says yes to few of all findings, so only as many labels are charged as it can change:
twice its yeses (docs/other-labels.md).
"""

import numpy as np

from private_ensembles import (
    Budget,
    Rehearsal,
    Wanted,
    release_labels,
)

FINDINGS = ("cyst", "edema", "fracture", "mass", "nodule", "scar")
IMAGES, TEACHERS, MOST = 20, 100, 30  # at most so many yeses of one teacher

generator = np.random.default_rng(0)
truth = generator.random((IMAGES, len(FINDINGS))) < 0.2
says_yes = generator.random((IMAGES, TEACHERS, len(FINDINGS))) < np.where(truth, 0.9, 0.02)[:, None]

# Each finding of each image is a query, with two classes: 0 is no, 1 is yes.
votes = says_yes.transpose(0, 2, 1).reshape(-1, TEACHERS)
votes &= votes.cumsum(axis=0) <= MOST  # a teacher's first yeses count
yes = votes.sum(axis=1)
released = release_labels(
    np.stack([TEACHERS - yes, yes], axis=1),
    Budget(4, 1e-5),
    labels=Wanted(votes.shape[0], most_ones=MOST),
    profile={"commonest": 0.8, "easy": (45, 5), "easy_share": 1.0},  # known from public images
    rehearsal=Rehearsal(),  # state a `Protection` and leave this out to release them
)

answers = released.labels.reshape(IMAGES, len(FINDINGS))
for image in range(3):
    findings = [name for name, label in zip(FINDINGS, answers[image], strict=True) if label == 1]
    print(f"image {image}: {', '.join(findings) or 'nothing'}")
right = (answers == truth).sum()
print(f"{right} of {truth.size} findings right, all for epsilon = {released.epsilon:.2f}")
