"""The marks of release: different things are said by different words."""

from private_ensembles.labels import marks


def test_marks_differ_and_what_rests_on_votes_begins_with_not_for_release():
    shown = [marks.NOT_FOR_RELEASE, marks.FUNCTION_OF_VOTES, marks.FREE]
    assert len({*shown, marks.PUBLIC}) == 4
    assert marks.FUNCTION_OF_VOTES.startswith(marks.NOT_FOR_RELEASE)
    assert not any(mark.startswith(marks.NOT_FOR_RELEASE) for mark in shown[2:])
