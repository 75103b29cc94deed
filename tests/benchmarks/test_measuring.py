"""What a benchmark says of a process's memory is that process's own."""

import resource
import sys

import numpy as np
import pytest

from benchmarks.measuring import peak_memory, run_in_process

LARGE = 400  # MiB, more than a process with pandas needs


def usage():
    """The peak memory of this process as the operating system's accounts have it, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so")
def test_the_memory_of_a_process_is_not_that_of_its_parent():
    held = np.ones(LARGE * 2**17)  # 8 bytes each
    assert peak_memory() > LARGE
    assert run_in_process(peak_memory) < LARGE
    assert run_in_process(usage) > LARGE  # the day that this fails, either will do
    assert held[-1] == 1
