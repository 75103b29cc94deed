"""The profile that is assumed where nobody says how teachers agree, and its name in messages."""

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
    """Return whether a profile has the numbers that are assumed where nobody states any.

    >>> is_assumed(ASSUMED_PROFILE | {"commonest": 0.5})
    True
    >>> is_assumed(ASSUMED_PROFILE | {"easy": (30.0, 2.0)})
    False
    """
    return _agreement(profile) == _agreement(ASSUMED_PROFILE)


def _agreement(profile: Mapping) -> list[float]:
    """Return the numbers of a profile that say how teachers agree."""
    return [profile["easy_share"], *profile["easy"], *profile["hard"], profile["confusion"]]


def name_profile(profile: Mapping) -> str:
    """Return how messages and tables name a profile.

    >>> name_profile(ASSUMED_PROFILE)
    'an assumed profile, not yours'
    """
    return "an assumed profile, not yours" if is_assumed(profile) else "the stated profile"
