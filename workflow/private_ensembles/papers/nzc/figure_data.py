"""The data behind NZC's Figure 2; drawing is in `papers.nzc.figures`. Not for release."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.nzc.mathematics.ensembles import distance_shares, teacher_curve


def figure2(
    votes: Mapping[int, np.ndarray], labels: np.ndarray, shares: list[float], *, task: str
) -> pd.DataFrame:
    """The data behind Figures 2a-c for one task.

    votes: counts (pool, C) by number of teachers. shares: distances of Figure 2b, of the largest
    ensemble's size. Rows: task, panel `teachers` (teachers, accuracy of the plurality, qualified:
    share of queries with a lead above 2, qualified_wrong: those of them that are wrong) and panel
    `distance` (teachers, distance n, qualified: share with a lead above n), release.
    """
    curve = pd.DataFrame(teacher_curve({K: (counts, labels) for K, counts in votes.items()}))
    largest = max(votes)
    distances = sorted({round(share * largest) for share in shares})
    qualified = distance_shares(votes[largest], distances)
    steps = pd.DataFrame({"teachers": largest, "distance": distances, "qualified": qualified})
    parts = curve.assign(panel="teachers"), steps.assign(panel="distance")
    data = pd.concat(parts, ignore_index=True)
    data.insert(0, "task", task)
    return data.assign(release=NOT_FOR_RELEASE)
