import numpy as np
import pytest

from private_ensembles.labels.array_votes import votes_from_arrays

COUNTS = np.array([[4, 1], [2, 3]])
WHOLE = {"n_teachers": 5, "absent": False}


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"counts": COUNTS}, WHOLE),
        (
            {"counts": COUNTS, "teachers": 6, "absent": True},
            WHOLE | {"n_teachers": 6, "absent": True},
        ),
        ({"counts": COUNTS, "most_ones": 2}, WHOLE | {"most_ones": 2}),
    ],
)
def test_what_a_ballot_is_follows_from_what_is_given(given, facts):
    votes = votes_from_arrays(**given)
    assert {name: getattr(votes, name) for name in facts} == facts


def test_votes_count_as_they_are_given():
    assert votes_from_arrays(COUNTS).histogram().tolist() == COUNTS.tolist()
    absent = votes_from_arrays(COUNTS, teachers=7, absent=True)
    assert absent.histogram().tolist() == [[5, 2], [3, 4]]  # the missing two are dealt out


@pytest.mark.parametrize("type_", [np.uint8, np.int8, np.uint16, np.int32, np.uint64])
def test_counts_of_small_types_do_not_overflow(type_):
    rows = np.array([[100, 90, 60], [0, 125, 125]]).astype(type_)
    found = votes_from_arrays(rows)
    assert (found.n_teachers, found.histogram().tolist()) == (250, [[100, 90, 60], [0, 125, 125]])
    assert votes_from_arrays(rows, teachers=300, absent=True).histogram().sum(axis=1).tolist() == [
        300,
        300,
    ]


@pytest.mark.parametrize(
    ("counts", "given", "says"),
    [
        (COUNTS, {"teachers": 1_000_001, "absent": True}, "teachers = 1000001: must be"),
        (
            COUNTS,
            {"teachers": 7, "absent": True, "most_ones": 2},
            "most_ones = 2: must be of two classes, without",
        ),
        (np.full((2, 2), 2**62), {}, "rows add up to 2000002 to 2000002"),
        (np.full((2, 2), 2**64 - 1, np.uint64), {}, "rows add up to 2000002 to 2000002"),
        (np.array([[0, 2, 1], [1, 1, 0]]), {}, "if these are votes, count them for each class"),
        ([[5]], {}, "two classes at least"),
        (COUNTS, {"teachers": 6}, "every row must add up to 6 teachers"),
    ],
)
def test_what_does_not_go_together_is_one_line(counts, given, says):
    with pytest.raises(ValueError, match=says) as caught:
        votes_from_arrays(counts, **given)
    assert "\n" not in str(caught.value)
