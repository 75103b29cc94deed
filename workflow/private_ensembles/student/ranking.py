"""How well scores rank test records: the areas under two curves, bit for bit scikit-learn's.

Its functions sort and check the same scores twice, and importing them takes a second.
"""

import numpy as np


def areas(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Areas under the ROC curve, and under precision against recall as a step function.

    labels: (N,), 0 or 1, at least one record. scores: float64 (N,), finite, higher for label 1.
    These are scikit-learn's `roc_auc_score` and `average_precision_score`. With one label only, the
    first is NaN and the second that label.

    Raises ValueError for arrays that are none of these.

    >>> areas(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    (0.75, 0.8333333333333333)
    """
    labels, scores = np.asarray(labels), np.asarray(scores, np.float64)
    if labels.ndim != 1 or not labels.size or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"labels of shape {labels.shape}: must be a list, each 0 or 1")
    if scores.shape != labels.shape or not np.isfinite(scores).all():
        raise ValueError(f"scores of shape {scores.shape}: must be {len(labels)} finite numbers")
    if labels.min() == labels.max():
        return np.nan, float(labels[0])
    order = np.argsort(scores)[::-1]
    # Records with the same score count at once.
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = labels[order].cumsum(dtype=np.float64)[last]
    misses = 1 + last - hits
    return _under_roc(hits, misses), _under_precision(hits, misses)


def _under_roc(hits, misses):
    # Points on a line with both neighbours are left out, as there: it decides about the last bit.
    corner = np.ones(len(hits), bool)
    corner[1:-1] = (np.diff(misses, 2) != 0) | (np.diff(hits, 2) != 0)
    x, y = (np.append(0.0, count[corner]) / count[-1] for count in (misses, hits))
    return float(np.trapezoid(y, x))


def _under_precision(hits, misses):
    precision = (hits / (hits + misses))[::-1]
    recall = np.append((hits / hits[-1])[::-1], 0.0)
    return float(max(0.0, -(np.diff(recall) * precision).sum()))
