"""The small votes of DPBag's own tests."""

from tests.papers.dpbag.conftest import records, thirds  # noqa: F401
