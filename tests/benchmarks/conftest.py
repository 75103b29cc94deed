"""Benchmarks at toy sizes, measured in the tests' own process: a fresh one costs seconds."""

from contextlib import contextmanager

import pytest


@pytest.fixture(scope="module")
def toy():
    """A context in which a benchmark's constants are these, and it measures in this process."""

    @contextmanager
    def changed(benchmark, **sizes):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in sizes.items():
                patch.setattr(benchmark, name, value)
            if hasattr(benchmark, "in_a_process"):
                patch.setattr(benchmark, "in_a_process", lambda call, **given: call(**given))
            yield benchmark

    return changed
