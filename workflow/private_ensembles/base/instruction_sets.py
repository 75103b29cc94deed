"""Which instructions numerical libraries use: what was used, and how they are held at one set.

Libraries look at the processor when they are loaded and take the widest instructions that it has.
These add numbers in another order, so a last bit depends on the processor. With the variables of
`PORTABLE` in the environment, every x86-64 processor with AVX2 and FMA takes the same ones.

This module imports only the standard library, because every job pays for what is imported here.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

# What each library documents:
#   PyTorch   ATEN_CPU_CAPABILITY       its README, "Adjust Build Options": default, avx2 or avx512
#   oneDNN    ONEDNN_MAX_CPU_ISA        "CPU Dispatcher Control"
#   OpenBLAS  OPENBLAS_CORETYPE         "Runtime variables"; NumPy and SciPy have one each
#   NumPy     NPY_DISABLE_CPU_FEATURES  "CPU build options"; it passes over names that it does not
#             know: the first three are of 2.4, the others of releases before
#   MKL       MKL_CBWR                  "Specifying Code Branches": all but AUTO and COMPATIBLE are
#             for Intel's processors alone, and others silently take AUTO
PORTABLE = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": (
        "X86_V4 AVX512_ICL AVX512_SPR "
        "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL"
    ),
    "MKL_CBWR": "COMPATIBLE",
}
# The processor must have these for `PORTABLE`, by Linux's names.
NEEDED = ("avx2", "fma")


def _processor_facts() -> dict[str, str]:
    """Return what Linux says of the first processor; empty elsewhere."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            first = file.read().partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def describe_processor() -> str:
    """Return the processor's name, with maker, family and model where Linux tells them."""
    facts = _processor_facts()
    name = facts.get("model name") or platform.processor() or platform.machine()
    numbers = [facts.get(key) for key in ("vendor_id", "cpu family", "model")]
    return f"{name} ({' '.join(filter(None, numbers))})" if any(numbers) else name


def find_obstacle() -> str | None:
    """Return why libraries cannot be held at one set here, or None if they can."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"is {platform.machine()}"
    flags = _processor_facts().get("flags")
    if flags is None:  # nothing tells
        return None
    lacking = [name.upper() for name in NEEDED if name not in flags.split()]
    return f"has no {' and no '.join(lacking)}" if lacking else None


def list_missing(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of `PORTABLE` that an environment does not have, or has otherwise."""
    return {name: value for name, value in PORTABLE.items() if environment.get(name) != value}


def describe_loaded() -> dict[str, str]:
    """Return the widest instructions that each loaded library uses, by the library's name.

    oneDNN and MKL do not tell, so it is what the environment allows them. Libraries that are not
    loaded are left out.
    """
    used = {}
    if (numpy := _loaded("numpy")) is not None:
        extensions = numpy.show_config(mode="dicts").get("SIMD Extensions", {})
        names = [*extensions.get("baseline", ()), *extensions.get("found", ())]
        used["NumPy"] = names[-1] if names else "none"
        from threadpoolctl import threadpool_info  # late: not every job has numbers

        cores = {pool["architecture"] for pool in threadpool_info() if pool.get("architecture")}
        if cores:
            used["OpenBLAS"] = " ".join(sorted(cores))
    if (torch := _loaded("torch")) is not None:
        used["PyTorch"] = torch.backends.cpu.get_cpu_capability()
        if torch.backends.mkldnn.is_available():
            used["oneDNN"] = os.environ.get("ONEDNN_MAX_CPU_ISA", "all")
        if torch.backends.mkl.is_available():
            used["MKL"] = os.environ.get("MKL_CBWR", "not reproducible")
    return used


def _loaded(name: str) -> Any:
    """Return a module that this process has loaded to its end, or None."""
    module = sys.modules.get(name)
    return module if hasattr(module, "__version__") else None
