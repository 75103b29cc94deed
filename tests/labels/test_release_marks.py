"""The marks of release: different things are said by different words."""

from private_ensembles.labels import release_marks


def test_marks_differ_and_what_rests_on_votes_begins_with_not_for_release():
    shown = [
        release_marks.NOT_FOR_RELEASE,
        release_marks.FUNCTION_OF_VOTES,
        release_marks.FREE_OF_VOTES,
    ]
    assert len({*shown, release_marks.PUBLIC}) == 4
    assert release_marks.FUNCTION_OF_VOTES.startswith(release_marks.NOT_FOR_RELEASE)
    assert not any(mark.startswith(release_marks.NOT_FOR_RELEASE) for mark in shown[2:])
