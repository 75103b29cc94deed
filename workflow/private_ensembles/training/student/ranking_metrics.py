"""How well scores rank test records: the areas under two curves."""

import numpy as np


def roc_and_pr_auc(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Return the areas under the ROC curve and under the precision-recall curve, a step function.

    They are scikit-learn's `roc_auc_score` and `average_precision_score`, to the bit. Checks of
    their arguments would take longer than a small student's training, and importing scikit-learn
    longer than hundreds of them.

    Args:
        labels: (N,), 0 or 1, at least one record.
        scores: float64 (N,), finite, higher for label 1.

    Returns:
        Both areas. If all labels are the same, the first is NaN and the second that label.

    >>> roc_and_pr_auc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    (0.75, 0.8333333333333333)
    """
    if labels.min() == labels.max():
        return np.nan, float(labels[0])
    order = np.argsort(-scores)
    # Records of equal scores are told apart by no threshold.
    last_of_score = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    right = np.cumsum(labels[order], dtype=np.float64)[last_of_score]
    wrong = 1.0 + last_of_score - right
    precision, recall = right / (right + wrong), right / right[-1]
    gained = np.diff(recall, prepend=0.0)
    return _roc_auc(wrong, right), float(np.sum((gained * precision)[::-1]))


def _roc_auc(wrong: np.ndarray, right: np.ndarray) -> float:
    """Return the area under the ROC curve through these numbers of records, both rising."""
    if len(wrong) > 2:
        # Points on a straight line between their neighbours are left out, as scikit-learn does.
        is_corner = np.diff(wrong, 2).astype(bool) | np.diff(right, 2).astype(bool)
        kept = np.concatenate([[True], is_corner, [True]])
        wrong, right = wrong[kept], right[kept]
    share_wrong, share_right = np.append(0.0, wrong / wrong[-1]), np.append(0.0, right / right[-1])
    return float(np.trapezoid(share_right, share_wrong))
