"""The figure of many labels: the loosest and the tightest of many proofs, and PATE's votes."""

import pandas as pd

from studies.many_labels.figure import draw_many_labels


def test_votes_have_a_panel_of_their_own_beside_the_study_of_many_labels(drawn, published):
    study = published("studies/many_labels")
    draw_many_labels(study, None)
    draw_many_labels(study, published("studies/equal_budget"))
    panels = [[axis.get_visible() for axis in figure.axes] for figure in drawn]
    assert panels == [[True, True, False, True], [True] * 4]


def test_of_many_proofs_the_loosest_and_the_tightest_are_drawn_wherever_they_stand(drawn):
    """One that lies between both may come last in the table."""
    rights = {"gnmax": 0.6, "gnmax_exact": 0.9, "gnmax_analytic": 0.7}
    rows = [(name, labels, right) for labels in (10, 100) for name, right in rights.items()]
    study = pd.DataFrame(rows, columns=["mechanism", "labels", "right"])
    draw_many_labels(
        study.assign(lead=5, teachers=51, epsilon=1.0, delta=1e-5, limit=0.8, ratio=study["right"]),
        None,
    )
    first, second, *_ = drawn[0].axes
    assert [list(line.get_ydata()) for line in first.lines] == [[0.6] * 2, [0.9] * 2]
    # The noise is drawn by every account.
    assert {line.get_ydata()[0] for line in second.lines[:3]} == set(rights.values())
