"""The data behind NZC's Figure 2, counted anew."""

import numpy as np

from private_ensembles.labels.release_marks import NOT_FOR_RELEASE
from private_ensembles.papers.nzc.figure_data import figure2


def test_figure_2_counts_leads(nzc_inputs):
    votes, labels = nzc_inputs
    data = figure2(votes, labels, [0, 0.1, 0.5], task="here")
    size = data[data["panel"] == "teachers"].set_index("teachers")
    for K, counts in votes.items():
        ordered = np.sort(counts, axis=1)
        assert size.loc[K, "qualified"] == (ordered[:, -1] - ordered[:, -2] > 2).mean()
        assert size.loc[K, "accuracy"] == (counts.argmax(axis=1) == labels).mean()
    steps = data[data["panel"] == "distance"]
    assert list(steps["distance"]) == [0, 2, 10]
    assert steps["qualified"].is_monotonic_decreasing
    assert set(data["release"]) == {NOT_FOR_RELEASE}
