"""How right labels are that somebody released, and the students that learnt from them."""

import numpy as np
import pandas as pd


def summarise_authors_labels(
    released: dict[str, tuple[np.ndarray, np.ndarray]],
    truth: dict[str, np.ndarray],
    trained: pd.DataFrame,
) -> pd.DataFrame:
    """Summarise students of published labels, one row per task.

    Args:
        released: labels of the whole pool, (pool,), and the student's queries, indices into the
            pool, (labels,), by task.
        truth: true labels of at least the pool, by task.
        trained: task, student_seed, labels, accuracy, correct, evaluated.

    Returns:
        A frame with task, aggregator (`lnmax-L`, as Table 1's row), labels, right, pool_labels,
        pool_right, and of the students student_accuracy, its sd over seeds, student_correct (mean),
        student_evaluated and student_seeds.
    """
    rows = []
    for task, (labels, queries) in released.items():
        students, is_right = trained[trained["task"] == task], labels == truth[task][: len(labels)]
        rows.append(
            {
                "task": task,
                "stand_in": False,
                "aggregator": f"lnmax-{len(queries)}",
                "labels": len(queries),
                "right": int(is_right[queries].sum()),
                "pool_labels": len(labels),
                "pool_right": int(is_right.sum()),
                "student_accuracy": students["accuracy"].mean(),
                "student_accuracy_sd": students["accuracy"].std(),
                "student_correct": students["correct"].mean(),
                "student_evaluated": students["evaluated"].iloc[0],
                "student_seeds": len(students),
            }
        )
    return pd.DataFrame(rows)
