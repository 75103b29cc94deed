"""Bagged votes drawn at random: a fixture shared with other rooms."""

from tests.bagged import bagged

__all__ = ["bagged"]
