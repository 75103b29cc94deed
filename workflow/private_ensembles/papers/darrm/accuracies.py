"""The accuracy of DaRRM's released labels, from the rows of each release to its tables.

Averages only, so that no edit of a proof reruns them. Columns are only added, never renamed, as
tools read them; accuracies are fractions.
"""

import math
from collections.abc import Iterable

import pandas as pd

from private_ensembles.labels import registry
from private_ensembles.papers.common.standard_errors import VariancePart, standard_error

ACCURACY_KEY = [
    "dataset",
    "stand_in",
    "m",
    "queries",
    "mechanism",
    "privacy_model",
    "adjacency",
    "epsilon",
    "delta",
]
_TRAINING_KEY = ["dataset", "stand_in", "m", "mechanism", "training_seed"]


def label_accuracy(labels: pd.DataFrame) -> pd.DataFrame:
    """Summarise the accuracy of released labels: Tables 1, 6, 8 and 10 of DaRRM.

    Standard deviations have n - 1 in the denominator and are missing for n = 1.

    Args:
        labels: rows of ``results/darrm/labels/*.csv``, one per data set, mechanism, training seed,
            number of queries and draw.

    Returns:
        One row per ACCURACY_KEY with these columns::

            accuracy_mean, accuracy_sd  over all draws of all training seeds
            sd_queries                  over draws within a training seed (root mean square over
                                        seeds)
            sd_training                 of expected_accuracy over training seeds
            standard_error, freedom     of accuracy_mean less the mean of another training's draws,
                                        without those draws' own, and its degrees of freedom
                                        (`standard_errors`): missing for one training seed
            expected_accuracy           exact, over all test images; mean over training seeds
            draws, training_seeds       how many (draws: per seed)

    Raises:
        ValueError: columns or values are missing, accuracies are outside [0, 1], or numbers of
            draws are unequal.
    """
    _require(labels, [*ACCURACY_KEY, "training_seed", "draw", "accuracy", "expected_accuracy"])
    for column in ("accuracy", "expected_accuracy"):
        # This is written so that NaN is refused as well.
        if not labels[column].between(0, 1).all():
            raise ValueError(f"labels: {column} must be in [0, 1]")
    rows = []
    for key, group in labels.groupby(ACCURACY_KEY, sort=False, dropna=False):
        by_seed = group.groupby("training_seed")
        draws = by_seed["draw"].nunique()
        if draws.nunique() != 1 or draws.sum() != len(group):
            raise ValueError(f"labels: {key} has {dict(draws)} draws, must be equally many")
        expected = by_seed["expected_accuracy"].mean()
        row = dict(zip(ACCURACY_KEY, key, strict=True))
        row["accuracy_mean"] = group["accuracy"].mean()
        row["accuracy_sd"] = group["accuracy"].std()
        row["sd_queries"] = math.sqrt(by_seed["accuracy"].var().mean())
        row["sd_training"] = expected.std()
        row["standard_error"], row["freedom"] = standard_error(
            [
                VariancePart(row["sd_queries"] ** 2 / len(group), len(group) - len(draws)),
                VariancePart((1 + 1 / len(draws)) * row["sd_training"] ** 2, len(draws) - 1),
            ]
        )
        row["expected_accuracy"] = expected.mean()
        row["draws"] = int(draws.iloc[0])
        row["training_seeds"] = len(draws)
        rows.append(row)
    table = pd.DataFrame(rows)
    # Data sets stay in the order in which they come, mechanisms in the registry's.
    rank = {
        "dataset": list(table["dataset"].unique()),
        "mechanism": list(registry.entries()),
    }
    return table.sort_values(
        ["dataset", "queries", "mechanism"],
        key=lambda column: column.map(rank[column.name].index) if column.name in rank else column,
        kind="stable",
        ignore_index=True,
    )


def accuracy_by_training(labels: pd.DataFrame) -> pd.DataFrame:
    """Return what labels of each training are expected to achieve, over all test images.

    `relations` needs them for differences of mechanisms whose teachers are the same.

    Args:
        labels: as `label_accuracy` takes them; the number of queries and the draw do not matter.

    Returns:
        The columns _TRAINING_KEY and expected_accuracy.

    Raises:
        ValueError: columns are missing.
    """
    _require(labels, [*_TRAINING_KEY, "expected_accuracy"])
    rows = labels[[*_TRAINING_KEY, "expected_accuracy"]]
    return rows.drop_duplicates(_TRAINING_KEY, ignore_index=True)


def _require(labels: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise ValueError if labels lack one of the columns."""
    missing = [column for column in columns if column not in labels]
    if missing:
        raise ValueError(f"labels: lacks the columns {', '.join(missing)}")
