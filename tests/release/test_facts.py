"""Facts of a release: stated, checked, and none is taken for granted where labels are released."""

import pytest

from private_ensembles.release.facts import Facts, stated


def test_shards_are_what_a_task_calls_a_privacy_model():
    assert Facts("disjoint").privacy_model == "disjoint_shards"
    assert Facts("shared").privacy_model == "shared_data"


def test_a_release_states_its_shards_and_a_rehearsal_may_leave_them_out():
    with pytest.raises(ValueError, match=r'^shards: must be stated, "disjoint" '):
        stated(None, "patient", 1, secure=True)
    assert stated(None, "patient", 2, secure=False) == Facts("disjoint", "patient", 2)
    assert stated("shared", "record", 1, secure=True) == Facts("shared")


def test_who_is_protected_is_said_in_words():
    assert Facts("disjoint", "patient").words == "one patient, whose data one teacher has"
    assert "2 shards" in Facts("disjoint", "patient", 2).words
    assert "any teacher" in Facts("shared").words


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        (("apart",), "shards = 'apart': must be one of"),
        (("disjoint", ""), "unit = '': must be what one record is"),
        (("disjoint", " "), "unit = ' '"),
        (("disjoint", "a\nb"), r"unit = 'a\\nb'"),
        (("disjoint", "x" * 101), "at most 100 printable"),
        (("disjoint", 3), "unit = 3"),
        (("disjoint", "patient", 0), "reach = 0: must be an integer >= 1"),
        (("disjoint", "patient", 1.5), "reach = 1.5"),
        (("shared", "patient", 2), "reach = 2: must be 1 for shards = shared"),
    ],
)
def test_what_is_out_of_range_is_named_in_one_line(facts, says):
    with pytest.raises(ValueError, match=says) as caught:
        Facts(*facts)
    assert "\n" not in str(caught.value)
