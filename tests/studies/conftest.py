"""Figures that studies would save, and the tables in docs/ that they are drawn from."""

from tests.papers.conftest import drawn, published  # noqa: F401
