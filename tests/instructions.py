"""Other instructions than this processor's widest, for tests of what must not depend on them."""

import os
import subprocess
import sys

import pytest

from private_ensembles.base import instruction_sets

needs_avx2 = pytest.mark.skipif(
    instruction_sets.find_obstacle() is not None, reason="needs x86-64 with AVX2 and FMA"
)
# What a processor of 2008 would take.
OLDEST = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 FMA3",
    "MKL_CBWR": "AUTO",
}


def print_twice(root, code) -> list[str]:
    """What code prints in a fresh process with this processor's instructions, and with OLDEST."""
    environment = os.environ | {"PYTHONPATH": str(root / "workflow")}
    return [
        subprocess.check_output(
            [sys.executable, "-c", code], env=environment | instructions, text=True
        )
        for instructions in ({}, OLDEST)
    ]
