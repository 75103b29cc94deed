"""The accuracies in Figure 1, left, as the authors' script utility_queries_answered.py has them."""

import numpy as np

# Answers, and the student's accuracy in percent: the points that the figure shows, up to 6,000
# answers and from 65 % on, and LNMax's point before them.
LNMAX_STUDENTS = {
    1000: 59.8,
    1500: 66.7,
    2000: 68.8,
    2500: 70.5,
    3000: 71.6,
    3500: 72.3,
    4000: 72.6,
    4500: 72.9,
    5000: 73.4,
    5500: 73.4,
    6000: 73.7,
}
CONFIDENT_STUDENTS = {
    1353: 66.6,
    1818: 69.6,
    2260: 70.5,
    2702: 71.8,
    3153: 72.0,
    3602: 72.7,
    4055: 72.9,
    4511: 73.3,
    4964: 73.4,
    5422: 73.4,
    5875: 73.8,
}


def leads_in_figure_1() -> dict[int, float]:
    """Return by how many points Confident-GNMax's student is above LNMax's in Figure 1, left.

    By the answers of each of its points that the figure shows; LNMax's curve is drawn straight
    between its own points.
    """
    beside = np.interp(
        list(CONFIDENT_STUDENTS), list(LNMAX_STUDENTS), list(LNMAX_STUDENTS.values())
    )
    # The script has one digit after the point; a sum of floats has more.
    return {
        answers: round(accuracy - lnmax, 9)
        for (answers, accuracy), lnmax in zip(
            CONFIDENT_STUDENTS.items(), beside.tolist(), strict=True
        )
    }
