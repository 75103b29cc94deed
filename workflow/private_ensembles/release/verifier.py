"""Loads the verifier of certificates, which checks each before it is handed over.

The verifier is one file in no package, which shares no code with this one; verify/verify.py in the
repository leads to it.
"""

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

VERIFIER = Path(__file__).resolve().parents[1] / "verify" / "verify.py"


@cache
def load() -> ModuleType:
    """Return the verifier as a module of its own.

    >>> load().MILLION
    1000000
    """
    spec = spec_from_file_location("verifier_of_certificates", VERIFIER)
    assert spec is not None  # a .py file has a spec with a loader
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
