"""memory: what was given back is not fetched from the system again."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import torch
from private_ensembles.jobs.memory import keep_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        [torch.zeros(1 << 19) for _ in range(8)]  # 16 MiB, or 4096 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults())
keep_memory()
faults()
print(faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_steps_use_the_memory_of_those_before(root):
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert 10 * after < before
