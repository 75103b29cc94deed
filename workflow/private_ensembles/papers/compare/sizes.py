"""The sizes of data sets, which papers print too, as tables like any other of ours."""

from collections.abc import Iterable

import pandas as pd

from private_ensembles.training.data.images import LabelledImages
from private_ensembles.training.data.tabular import LabelledRecords


def of_images(datasets: Iterable[LabelledImages]) -> pd.DataFrame:
    """Count the training and test images of each data set."""
    return pd.DataFrame(
        {
            "dataset": data.name,
            "stand_in": data.stand_in,
            "n_train": len(data.train_labels),
            "n_test": len(data.test_labels),
        }
        for data in datasets
    )


def of_records(datasets: Iterable[LabelledRecords]) -> pd.DataFrame:
    """Count features, records and records of class 1 of each data set, its two parts together.

    ones_share: of the records, those of class 1.
    """
    table = pd.DataFrame(
        {
            "dataset": data.name,
            "stand_in": data.stand_in,
            "features": len(data.feature_names),
            "samples": len(data.train_labels) + len(data.test_labels),
            "ones": int(data.train_labels.sum()) + int(data.test_labels.sum()),
        }
        for data in datasets
    )
    return table if table.empty else table.assign(ones_share=table["ones"] / table["samples"])
