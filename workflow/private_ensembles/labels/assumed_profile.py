"""The profile that is assumed where nobody says how teachers agree, and what it is called."""

from collections.abc import Mapping

# 7 of 10 queries are easy; shares of right votes are Beta(20, 2) there, else Beta(2, 2); wrong
# votes are spread over the other classes by a Dirichlet of parameter 1 (`labels.profile`); all
# classes are equally common, and no ballot is absent.
ASSUMED_PROFILE = {
    "easy_share": 0.7,
    "easy": (20.0, 2.0),
    "hard": (2.0, 2.0),
    "confusion": 1.0,
    "commonest": None,
    "absent_share": 0.0,
}


def is_assumed(profile: Mapping) -> bool:
    """Return whether a profile says how teachers agree as nobody has stated it.

    >>> is_assumed(ASSUMED_PROFILE | {"commonest": 0.5}), is_assumed(ASSUMED_PROFILE | {"easy": (30.0, 2.0)})
    (True, False)
    """
    said, usual = (
        [one["easy_share"], *one["easy"], *one["hard"], one["confusion"]]
        for one in (profile, ASSUMED_PROFILE)
    )
    return said == usual


def name_profile(profile: Mapping) -> str:
    """Return what a profile is called wherever it speaks.

    >>> name_profile(ASSUMED_PROFILE)
    'an assumed profile, not yours'
    """
    return "an assumed profile, not yours" if is_assumed(profile) else "the stated profile"
