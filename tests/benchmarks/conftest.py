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
            if hasattr(benchmark, "run_in_process"):
                patch.setattr(benchmark, "run_in_process", lambda call, **given: call(**given))
            yield benchmark

    return changed
