"""The data behind NZC's Figure 2; drawing is in `papers.nzc.figures`. Not for release."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.nzc.mathematics.ensembles import distance_shares, teacher_curve


def figure2(
    votes: Mapping[int, np.ndarray], labels: np.ndarray, shares: list[float], *, task: str
) -> pd.DataFrame:
    """Return the data behind Figures 2a-c for one task.

    Args:
        votes: counts, (pool, classes) int, by number of teachers.
        labels: true labels, (pool,).
        shares: distances of Figure 2b, as shares of the largest ensemble's size.
        task: its name.

    Returns:
        Rows of two panels, with task and release. `teachers` has teachers, accuracy of the
        plurality, qualified (share of queries with a lead above 2) and qualified_wrong (share of
        all queries that qualify and are wrong). `distance` has teachers, distance n and qualified
        (share with a lead above n).
    """
    by_size = pd.DataFrame(teacher_curve({K: (counts, labels) for K, counts in votes.items()}))
    largest = max(votes)
    distances = sorted({round(share * largest) for share in shares})
    qualified = distance_shares(votes[largest], distances)
    by_distance = pd.DataFrame({"teachers": largest, "distance": distances, "qualified": qualified})
    parts = by_size.assign(panel="teachers"), by_distance.assign(panel="distance")
    data = pd.concat(parts, ignore_index=True)
    data.insert(0, "task", task)
    return data.assign(release=NOT_FOR_RELEASE)
