"""The figure of the best label: its lines are the table's, and dots were told another accuracy."""

from studies.best_label.figure import DRAWN, draw_best_label


def test_best_labels_that_were_told_another_accuracy_are_dots(drawn, published):
    study = published("studies/best_label")
    draw_best_label(study)
    rows = study[study["mechanism"].isin(DRAWN) & (study["accuracy"] == study["accuracy"].iloc[0])]
    rows = rows[rows["labels"] == 1]
    told = rows["stated"].isna() | (rows["stated"] == rows["accuracy"])
    seen = {True: [], False: []}
    for line in drawn[0].axes[0].lines:
        seen[line.get_marker() != "."] += line.get_ydata().tolist()
    for kind in (True, False):
        assert sorted(seen[kind]) == sorted(rows.loc[told == kind, "right"])
