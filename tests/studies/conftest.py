"""Figures that studies would save, and the tables in docs/ that they are drawn from."""

from tests.figures.conftest import drawn, published  # noqa: F401
