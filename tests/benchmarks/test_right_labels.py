"""The benchmark of right labels: the numbers in docs are those of the planner today."""

import pandas as pd
import pytest

from benchmarks import right_labels, run

PUBLISHED = pd.read_csv(run.DOCS / "right_labels.csv")


@pytest.mark.parametrize(("teachers", "labels", "epsilon"), [(25, 20, 4.0), (50, 20, 2.0)])
def test_what_docs_say_of_a_case_is_what_the_planner_finds(teachers, labels, epsilon):
    case = {"teachers": teachers, "labels": labels, "epsilon": epsilon}
    row = PUBLISHED[(PUBLISHED[list(case)] == pd.Series(case)).all(axis=1)].iloc[0]
    found = right_labels.measure_best_plan(**case)
    assert found["mechanism"] == row["mechanism"]
    assert found["right"] == pytest.approx(row["right"], rel=1e-6)


@pytest.mark.slow
def test_all_that_docs_say_is_what_the_planner_finds():
    columns = ["teachers", "labels", "epsilon", "mechanism", "right"]
    found = right_labels.measure()[columns]
    pd.testing.assert_frame_equal(found, PUBLISHED[columns], rtol=1e-6)


def test_one_teacher_is_right_as_often_as_the_profile_says():
    assert right_labels.teacher_accuracy() == pytest.approx(0.7 * 20 / 22 + 0.3 * 0.5)


def test_more_teachers_fewer_labels_and_a_larger_epsilon_have_a_larger_share_right():
    # The same queries at every epsilon; other ones for other numbers.
    for last, sign, slack in (("epsilon", 1, 1e-3), ("teachers", 1, 0.01), ("labels", -1, 0.01)):
        others = [name for name in ("teachers", "labels", "epsilon") if name != last]
        shares = PUBLISHED.set_index([*others, last])["share"].unstack()
        assert (sign * shares.diff(axis=1).iloc[:, 1:] >= -slack).all(axis=None), last


def test_cells_are_bold_where_one_teacher_alone_has_fewer_right():
    table = right_labels.format_shares(PUBLISHED)
    assert table.count("**") == 2 * (PUBLISHED["share"] > right_labels.teacher_accuracy()).sum()
    assert table in right_labels.section(PUBLISHED)
