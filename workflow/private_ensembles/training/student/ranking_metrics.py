"""How well scores rank test records: the areas under two curves."""

import numpy as np


def roc_and_pr_auc(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Return the areas under the ROC curve and under the precision-recall curve, a step function.

    Args:
        labels: (N,), 0 or 1, at least one record.
        scores: float64 (N,), finite, higher for label 1.

    Returns:
        Both areas. If all labels are the same, the first is NaN and the second that label.

    >>> roc_and_pr_auc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    (0.75, 0.8333333333333333)
    """
    from sklearn.metrics import average_precision_score, roc_auc_score  # late: a second of import

    if labels.min() == labels.max():
        return np.nan, float(labels[0])
    return float(roc_auc_score(labels, scores)), float(average_precision_score(labels, scores))
