"""A profile that nobody stated is called so, whatever else is known of the votes."""

import pytest

from private_ensembles.labels.assumed_profile import ASSUMED_PROFILE, is_assumed, name_profile


@pytest.mark.parametrize(
    "known", [{}, {"commonest": 0.6}, {"absent_share": 0.1}, {"easy": [20, 2], "hard": (2, 2)}]
)
def test_what_the_file_tells_makes_no_profile_a_stated_one(known):
    assert is_assumed(ASSUMED_PROFILE | known)
    assert name_profile(ASSUMED_PROFILE | known) == "an assumed profile, not yours"


@pytest.mark.parametrize(
    "stated", [{"easy_share": 0.6}, {"easy": (20, 3)}, {"hard": (2, 3)}, {"confusion": 2}]
)
def test_how_teachers_agree_makes_it_the_stated_one(stated):
    assert not is_assumed(ASSUMED_PROFILE | stated)
    assert name_profile(ASSUMED_PROFILE | stated) == "the stated profile"
